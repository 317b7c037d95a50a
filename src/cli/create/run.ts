/** What the steps of one `plantstore create` share. */
import type { Io } from "../io.ts";
import type { PlantSource } from "./plant-source.ts";
import type { RecordInput } from "./record-input.ts";
import type { Reporter } from "../output/reporter.ts";
import type { ClientOptions } from "../settings/client-settings.ts";
import type { ManyOptions } from "../settings/create-settings.ts";

/** What `create` is to do. */
export interface CreateOptions extends ClientOptions {
  readonly source: PlantSource;
  /** `-` is the standard input. */
  readonly tokenFile?: string | undefined;
  readonly many: ManyOptions;
}

/** One run of it. */
export interface CreateRun {
  readonly options: CreateOptions;
  readonly io: Io;
  readonly colorChoice: boolean | undefined;
  readonly reporter: Reporter;
  /** Cuts everything off, with its reason. */
  readonly cutOff: AbortController;
}

/** One run of it with plants from files and from the standard input. */
export interface InputRun extends CreateRun {
  /** At least one; `-` is the standard input. */
  readonly paths: readonly string[];
  readonly input: RecordInput;
  /** Lets what is under way end, and nothing be begun. */
  readonly lastCall: AbortSignal;
}
