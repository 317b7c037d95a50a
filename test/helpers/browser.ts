/** Finds the Chromium that is installed on this machine. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const places = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** Returns the path of a Chromium: CHROME_PATH, or a usual path. Undefined if none is installed. */
export function findBrowser(): string | undefined {
  const named = process.env["CHROME_PATH"];
  if (named) return named;
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  const found = directories.flatMap((directory) => names.map((name) => join(directory, name)));
  return [...found, ...places].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
