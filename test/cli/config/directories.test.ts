import { describe, expect, it } from "vitest";
import { findConfigDirectory, findDataDirectory } from "../../../src/cli/config/directories.ts";

type Place = Parameters<typeof findConfigDirectory>[0];

const linux = { platform: "linux", homeDirectory: "/home/fern" } as const;
const macos = { platform: "darwin", homeDirectory: "/Users/fern" } as const;
const windows = { platform: "win32", homeDirectory: "C:\\Users\\fern" } as const;

describe("the configuration directory", () => {
  it.each<[rule: string, Place, directory: string]>([
    ["on Linux", { ...linux, env: {} }, "/home/fern/.config/plantstore"],
    ["on macOS", { ...macos, env: {} }, "/Users/fern/Library/Preferences/plantstore"],
    [
      "on Windows",
      { ...windows, env: { APPDATA: "D:\\Roaming" } },
      "D:\\Roaming\\plantstore\\Config",
    ],
    [
      "on Windows without APPDATA",
      { ...windows, env: {} },
      "C:\\Users\\fern\\AppData\\Roaming\\plantstore\\Config",
    ],
    ["of XDG", { ...linux, env: { XDG_CONFIG_HOME: "/xdg" } }, "/xdg/plantstore"],
    ["of XDG also on macOS", { ...macos, env: { XDG_CONFIG_HOME: "/xdg" } }, "/xdg/plantstore"],
    [
      "is not that of XDG when it is relative",
      { ...linux, env: { XDG_CONFIG_HOME: "xdg" } },
      "/home/fern/.config/plantstore",
    ],
    [
      "is not that of XDG when it is empty",
      { ...linux, env: { XDG_CONFIG_HOME: "" } },
      "/home/fern/.config/plantstore",
    ],
    [
      "is PLANTSTORE_CONFIG_DIR rather than that of XDG",
      { ...linux, env: { PLANTSTORE_CONFIG_DIR: "/own", XDG_CONFIG_HOME: "/xdg" } },
      "/own",
    ],
    [
      "is not PLANTSTORE_CONFIG_DIR when that is empty",
      { ...linux, env: { PLANTSTORE_CONFIG_DIR: "", XDG_CONFIG_HOME: "/xdg" } },
      "/xdg/plantstore",
    ],
  ])("%s", (_rule, place, directory) => {
    expect(findConfigDirectory(place)).toBe(directory);
  });
});

describe("the data directory", () => {
  it.each<[rule: string, Place, directory: string]>([
    ["on Linux", { ...linux, env: {} }, "/home/fern/.local/share/plantstore"],
    ["on macOS", { ...macos, env: {} }, "/Users/fern/Library/Application Support/plantstore"],
    [
      "on Windows",
      { ...windows, env: { LOCALAPPDATA: "D:\\Local" } },
      "D:\\Local\\plantstore\\Data",
    ],
    [
      "on Windows without LOCALAPPDATA",
      { ...windows, env: {} },
      "C:\\Users\\fern\\AppData\\Local\\plantstore\\Data",
    ],
    ["of XDG", { ...linux, env: { XDG_DATA_HOME: "/xdg" } }, "/xdg/plantstore"],
    [
      "is PLANTSTORE_DATA_DIR rather than that of XDG",
      { ...linux, env: { PLANTSTORE_DATA_DIR: "/own", XDG_DATA_HOME: "/xdg" } },
      "/own",
    ],
  ])("%s", (_rule, place, directory) => {
    expect(findDataDirectory(place)).toBe(directory);
  });
});

describe("without a home directory", () => {
  const place: Place = { platform: "linux", homeDirectory: undefined, env: {} };

  it("the variable that names one is asked for", () => {
    expect(() => findConfigDirectory(place)).toThrow(
      "no home directory: set PLANTSTORE_CONFIG_DIR to a directory",
    );
    expect(() => findDataDirectory(place)).toThrow(
      "no home directory: set PLANTSTORE_DATA_DIR to a directory",
    );
  });

  it("a named one is enough", () => {
    const env = { PLANTSTORE_CONFIG_DIR: "/own" };
    expect(findConfigDirectory({ ...place, env })).toBe("/own");
  });
});
