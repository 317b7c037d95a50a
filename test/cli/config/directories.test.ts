import { runCli } from "../../helpers/run-cli.ts";
import { describe, expect, it } from "vitest";
import { findConfigDirectory, findDataDirectory } from "../../../src/cli/config/saved-settings.ts";

type DirectoryIo = Parameters<typeof findConfigDirectory>[0];
type System = Omit<DirectoryIo, "env">;

const linux = { platform: "linux", homeDirectory: "/home/fern" } as const;
const macos = { platform: "darwin", homeDirectory: "/Users/fern" } as const;
const windows = { platform: "win32", homeDirectory: "C:\\Users\\fern" } as const;

const inHome = "/home/fern/.config/plantstore";
const inProfile = "C:\\Users\\fern\\AppData\\Roaming\\plantstore\\Config";

it.each<[rule: string, System, env: DirectoryIo["env"], directory: string]>([
  ["on Linux", linux, {}, inHome],
  ["on macOS", macos, {}, "/Users/fern/Library/Preferences/plantstore"],
  ["on Windows", windows, { APPDATA: "D:\\Roaming" }, "D:\\Roaming\\plantstore\\Config"],
  ["on Windows without APPDATA", windows, {}, inProfile],
  ["of XDG", linux, { XDG_CONFIG_HOME: "/xdg" }, "/xdg/plantstore"],
  ["of XDG also on macOS", macos, { XDG_CONFIG_HOME: "/xdg" }, "/xdg/plantstore"],
  ["is not that of XDG when it is relative", linux, { XDG_CONFIG_HOME: "xdg" }, inHome],
  ["is not that of XDG when it is empty", linux, { XDG_CONFIG_HOME: "" }, inHome],
  [
    "is PLANTSTORE_CONFIG_DIR rather than that of XDG",
    linux,
    { PLANTSTORE_CONFIG_DIR: "/own", XDG_CONFIG_HOME: "/xdg" },
    "/own",
  ],
  [
    "is not PLANTSTORE_CONFIG_DIR when that is empty",
    linux,
    { PLANTSTORE_CONFIG_DIR: "", XDG_CONFIG_HOME: "/xdg" },
    "/xdg/plantstore",
  ],
])("the configuration directory %s", (_rule, system, env, directory) => {
  expect(findConfigDirectory({ ...system, env })).toBe(directory);
});

it.each<[rule: string, System, env: DirectoryIo["env"], directory: string]>([
  ["on Linux", linux, {}, "/home/fern/.local/share/plantstore"],
  ["on macOS", macos, {}, "/Users/fern/Library/Application Support/plantstore"],
  ["on Windows", windows, { LOCALAPPDATA: "D:\\Local" }, "D:\\Local\\plantstore\\Data"],
  [
    "on Windows without LOCALAPPDATA",
    windows,
    {},
    "C:\\Users\\fern\\AppData\\Local\\plantstore\\Data",
  ],
  ["of XDG", linux, { XDG_DATA_HOME: "/xdg" }, "/xdg/plantstore"],
  [
    "is PLANTSTORE_DATA_DIR rather than that of XDG",
    linux,
    { PLANTSTORE_DATA_DIR: "/own", XDG_DATA_HOME: "/xdg" },
    "/own",
  ],
])("the data directory %s", (_rule, system, env, directory) => {
  expect(findDataDirectory({ ...system, env })).toBe(directory);
});

describe("without a home directory", () => {
  const io: DirectoryIo = { platform: "linux", homeDirectory: undefined, env: {} };

  it("the variable that names one is asked for", () => {
    expect(() => findConfigDirectory(io)).toThrow(
      "no home directory: set PLANTSTORE_CONFIG_DIR to a directory",
    );
    expect(() => findDataDirectory(io)).toThrow(
      "no home directory: set PLANTSTORE_DATA_DIR to a directory",
    );
  });

  it("a named one is enough", () => {
    const env = { PLANTSTORE_CONFIG_DIR: "/own" };
    expect(findConfigDirectory({ ...io, env })).toBe("/own");
  });
});

describe("a path in an environment variable", () => {
  it.each([
    "data",
    "./data",
    "C:\\data",
    '"/srv/data"',
    "'/srv/data'",
    "~/data",
    "~",
    "/srv/data\r",
    "/srv/data ",
    " /srv/data",
  ])("that is %j is refused with the name of the variable", (value) => {
    const find = () => findDataDirectory({ ...linux, env: { PLANTSTORE_DATA_DIR: value } });
    const message = expect.stringContaining(
      "PLANTSTORE_DATA_DIR must be an absolute path, without",
    );
    expect(find).toThrow(expect.objectContaining({ message, exitCode: 2 }));
  });

  it.each([
    ["PLANTSTORE_STORE", "plants.db"],
    ["PLANTSTORE_STORE", "sqlite:plants.db"],
    ["PLANTSTORE_STORE", '"sqlite:/srv/plants.db"'],
    ["PLANTSTORE_TLS_CERT", "cert.pem"],
    ["PLANTSTORE_TLS_KEY", "~/key.pem"],
    ["PLANTSTORE_SOCKET", "plants.sock"],
    ["PLANTSTORE_SEED", "plants.ndjson"],
  ])("%s=%s stops serve", async (variable, value) => {
    const result = await runCli(["serve"], { env: { [variable]: value } });
    expect(result).toExit(2, new RegExp(`^error: ${variable} `));
  });

  it.each([
    ["PLANTSTORE_CACERT", "ca.pem"],
    ["PLANTSTORE_TOKEN_FILE", "token"],
    ["PLANTSTORE_CONFIG_DIR", "config"],
  ])("%s=%s stops create", async (variable, value) => {
    const argv = ["create", "--id", "1", "--name", "fern"];
    const result = await runCli(argv, { env: { [variable]: value } });
    expect(result).toExit(2, new RegExp(`^error: ${variable} must be an absolute path`));
  });

  it("may be relative as a flag", async () => {
    const result = await runCli(["list", "--store", "sqlite:nonexistent/plants.db"]);
    expect(result.stderr).not.toContain("absolute");
  });
});
