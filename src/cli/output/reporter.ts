/** Says things to the person, on stderr: one line each, safe on a terminal, and without tokens, whatever it quotes. */
import { escapeUnprintable, redactTokens } from "../../core/quote.ts";
import { isColored, loadPalette } from "./color.ts";
import { type Io, writeText } from "../io.ts";

/** The voice of a command. */
export interface Reporter {
  /** What went wrong; `number` is that of an Error body. */
  error(message: string, number?: number): Promise<void>;
  /** What may be wrong. */
  warning(message: string): Promise<void>;
  /** What is going on. */
  note(message: string): Promise<void>;
  /** What is going on, with a token that the person is to see. */
  reveal(message: string): Promise<void>;
  /** A stack, line by line. */
  stack(text: string): Promise<void>;
}

/**
 * A reporter that writes to stderr.
 *
 * @param colorChoice `--color` or `--no-color`, when one was given
 */
export function createReporter({ stderr, env }: Io, colorChoice: boolean | undefined): Reporter {
  const loadColors = () => loadPalette(isColored(stderr, colorChoice, env));

  const say = (label: string, message: string): Promise<void> =>
    write(label, redactTokens(message));

  async function write(label: string, message: string): Promise<void> {
    await writeText(stderr, `${label}${escapeUnprintable(message)}\n`).catch(() => {
      // Nobody listens, and there is no other place to say so.
    });
  }

  return {
    async error(message, number) {
      const { error } = await loadColors();
      await say(`${error(number === undefined ? "error" : `error ${number}`)}: `, message);
    },
    async warning(message) {
      const { warning } = await loadColors();
      await say(`${warning("warning")}: `, message);
    },
    note: (message) => say("", message),
    reveal: (message) => write("", message),
    async stack(text) {
      for (const line of text.split("\n")) await say("", line);
    },
  };
}
