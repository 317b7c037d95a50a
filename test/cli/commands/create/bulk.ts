/** What the tests of `create` with many plants share: a server, files, and the summary of a run. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach } from "vitest";
import { startServer, type TestServer } from "../../../helpers/plant-server.ts";
import { type CliOptions, runCli, startCli } from "../../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

let server: TestServer;
let directory: string;

/** Gives each test of a file a server and a directory of its own. */
export function useServer(): void {
  beforeEach(async () => {
    server = await startServer();
    directory = await createTemporaryDirectory();
  });
  afterEach(() => server.close());
}

/** The server of the test. */
export const currentServer = (): TestServer => server;

/** Returns the path of a file in the directory of the test. */
export const toPath = (name: string): string => join(directory, name);

/** A file for rejected records. */
export const rejectsPath = (): string => toPath("rejects");

export const readRejects = (): Promise<string> => readFile(rejectsPath(), "utf8");

/** Writes a file. @returns its path */
export async function writeInput(name: string, text: string): Promise<string> {
  await writeFile(toPath(name), text);
  return toPath(name);
}

/** Runs a create at the server of the test. */
export function create(args: readonly string[], options: CliOptions = {}) {
  return runCli(["create", ...args], { server, ...options });
}

/** Creates what is on standard input. */
export function createInput(stdin: string | Uint8Array, ...args: readonly string[]) {
  return create(["-", ...args], { stdin });
}

/** Starts a create whose input stays open after the text. */
export function startTyping(text: string, args: readonly string[] = [], options: CliOptions = {}) {
  const stdin = new PassThrough();
  const run = startCli(["create", ...args], { server, stdin, ...options });
  stdin.write(text);
  return { ...run, stdin };
}

/** Returns the first stored plants. */
export const listStored = () => server.store.list({ limit: 10 });

export const a = '{"id":1,"name":"a"}';
export const b = '{"id":2,"name":"b","tag":"pot"}';

/** The result of {@link a}. */
export const createdA = { record: 1, line: 1, id: 1, status: "created", plant: { name: "a" } };
export const lineOfA = `${JSON.stringify(createdA)}\n`;

/** Matches exactly one summary line. */
export function summary(...counts: readonly number[]): RegExp {
  const words = ["created", "unchanged", "replaced", "rejected", "failed", "unfinished"];
  const text = counts.map((count, index) => `${words[index]} ${count}`).join(", ");
  return new RegExp(`^${text} in [\\d.]+ s(?: \\([\\d,]+/s\\))?\\n`);
}
