/** Shows a person who waits that something is going on: on a terminal, and only once it takes a while. */
import { escapeUnprintable, redactTokens } from "../../core/quote.ts";
import { isColored } from "./color.ts";
import type { Io } from "../io.ts";

/** Shorter waits are over before one has read what it is about. */
const patienceMs = 300;
/** A text that changes can be read when it changes no faster. */
const refreshMs = 200;

/**
 * Does work, and shows what is being waited for until it is done. No trace of it stays.
 *
 * @param toText says it, each time anew
 * @param colorChoice `--color` or `--no-color`, when one was given
 */
export async function showWhile<T>(
  toText: () => string,
  work: () => Promise<T>,
  io: Io,
  colorChoice: boolean | undefined,
): Promise<T> {
  const toSafeText = (): string => escapeUnprintable(redactTokens(toText()));
  const stop = startSpinner(toSafeText, io, colorChoice);
  try {
    return await work();
  } finally {
    stop();
  }
}

/** @returns a function that ends it */
function startSpinner(
  toText: () => string,
  { stderr, env }: Io,
  colorChoice: boolean | undefined,
): () => void {
  // A terminal without columns, as some programs make them, has no lines to count: ora would count for ever.
  if (env["CI"] || !stderr.isTTY || !stderr.columns || env["TERM"] === "dumb") return () => {};
  let isOver = false;
  let stopSpinner = (): void => {};
  const timer = setTimeout(() => void show(), patienceMs);

  async function show(): Promise<void> {
    const { default: ora } = await import("ora");
    if (isOver) return;
    const spinner = ora({
      text: toText(),
      stream: stderr,
      isEnabled: true,
      color: isColored(stderr, colorChoice, env) ? "cyan" : false,
      // Either one would take the handling of Ctrl-C over.
      discardStdin: false,
      hideCursor: false,
    }).start();
    const refresh = setInterval(() => {
      spinner.text = toText();
    }, refreshMs);
    stopSpinner = () => {
      clearInterval(refresh);
      spinner.stop();
    };
  }

  return () => {
    isOver = true;
    clearTimeout(timer);
    stopSpinner();
  };
}
