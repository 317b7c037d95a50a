/** Prints to stdout and stderr: messages for the user, JSON for programs, and progress. */
import { escapeUnprintable, redactTokens } from "../../core/messages.ts";
import { type Io, type OutputStream, writeText } from "../io.ts";

export interface Palette {
  readonly success: (text: string) => string;
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

export const uncolored: Palette = {
  success: String,
  error: String,
  warning: String,
  bold: String,
  dim: String,
};

/** Time after which progress is shown: shorter work ends before the user could read what it is. */
const progressAfterMs = 300;
/** A text that changes can be read if it changes no faster. */
const refreshMs = 200;

/** The terminal of a command, or the files and pipes that its streams are. */
export class Terminal {
  /** `--color` is true, `--no-color` is false. */
  colorChoice: boolean | undefined;
  readonly #io: Io;
  /** Removes the spinner until it is drawn again. */
  #clearSpinner = (): void => {};

  constructor(io: Io) {
    this.#io = io;
  }

  /** True if progress can be shown. ora would count the lines of a terminal that reports no columns for ever. */
  get showsProgress(): boolean {
    const { stderr, env } = this.#io;
    return !env["CI"] && stderr.isTTY === true && !!stderr.columns && env["TERM"] !== "dumb";
  }

  async error(message: string, number?: number): Promise<void> {
    const { error } = await this.loadPalette(this.#io.stderr);
    await this.#print(`${error(number === undefined ? "error" : `error ${number}`)}: `, message);
  }

  async warning(message: string, ...hints: readonly string[]): Promise<void> {
    const { warning } = await this.loadPalette(this.#io.stderr);
    await this.#print(`${warning("warning")}: `, message);
    await this.note(...hints);
  }

  /** Says on stderr that the command has done its work. */
  async success(message: string): Promise<void> {
    const { success } = await this.loadPalette(this.#io.stderr);
    await this.#print(`${success("✓")} `, message);
  }

  /** Prints lines on stderr that are no problem: a place, progress, a next step. Tokens in them are removed. */
  async note(...lines: readonly string[]): Promise<void> {
    for (const line of lines) await this.#print("", line);
  }

  /** Names the place of a command on stderr, if that is a terminal. */
  async namePlace(kind: "Server" | "Store", url: string): Promise<void> {
    if (this.#io.stderr.isTTY) await this.note(`${kind}: ${url}`);
  }

  /** Prints lines on stdout. A terminal gets characters that it would obey as escapes of JSON. @throws OutputError */
  async printLines(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const { stdout } = this.#io;
    if (stdout.isTTY) this.#clearSpinner();
    const shown = lines.map((line) => `${stdout.isTTY ? escapeUnprintable(line) : line}\n`);
    await writeText(stdout, shown.join(""));
  }

  /** Decides for one stream: `--color`, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal. */
  isColored(stream: OutputStream): boolean {
    const { env } = this.#io;
    if (this.colorChoice !== undefined) return this.colorChoice;
    if (env["NO_COLOR"]) return false; // https://no-color.org
    const force = env["FORCE_COLOR"]; // https://force-color.org
    if (force) return force !== "0" && force !== "false";
    return stream.isTTY === true && env["TERM"] !== "dumb";
  }

  /** Loads the colours for a stream; without colour, text does not change. */
  async loadPalette(stream: OutputStream): Promise<Palette> {
    if (!this.isColored(stream)) return uncolored;
    const { Chalk } = await import("chalk");
    const chalk = new Chalk({ level: 1 });
    const { bold, dim, green: success } = chalk;
    return { success, error: bold.red, warning: bold.yellow, bold, dim };
  }

  /** Shows a spinner during work that takes long, if stderr is a terminal. `toText` is called for each refresh. */
  async showWhile<T>(toText: () => string, work: () => Promise<T>): Promise<T> {
    if (!this.showsProgress) return work();
    const { stderr } = this.#io;
    let isOver = false;
    let stop = (): void => {};

    const show = async (): Promise<void> => {
      const { default: ora } = await import("ora");
      if (isOver) return;
      const color = this.isColored(stderr) ? "cyan" : false;
      const toShownLine = (): string => escapeUnprintable(redactTokens(toText()));
      // With discardStdin or hideCursor, ora would handle Ctrl-C itself.
      const options = { isEnabled: true, color, discardStdin: false, hideCursor: false } as const;
      const spinner = ora({ ...options, text: toShownLine(), stream: stderr }).start();
      const refresh = setInterval(() => {
        spinner.text = toShownLine();
      }, refreshMs);
      this.#clearSpinner = () => void spinner.clear();
      stop = () => {
        clearInterval(refresh);
        spinner.stop();
        this.#clearSpinner = () => {};
      };
    };

    const timer = setTimeout(() => void show(), progressAfterMs);
    try {
      return await work();
    } finally {
      isOver = true;
      clearTimeout(timer);
      stop();
    }
  }

  async #print(label: string, message: string): Promise<void> {
    await this.#write(label + escapeUnprintable(redactTokens(message)));
  }

  async #write(line: string): Promise<void> {
    this.#clearSpinner();
    await writeText(this.#io.stderr, `${line}\n`).catch(() => {
      // Nothing is left to report a closed stderr to.
    });
  }
}
