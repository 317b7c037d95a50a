/** The Chromium that is installed on this machine, driven without a window. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const places = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** The path of a Chromium: CHROME_PATH, or where it usually is. */
function findBrowser(): string | undefined {
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  const found = directories.flatMap((directory) => names.map((name) => join(directory, name)));
  const named = process.env["CHROME_PATH"];
  return (named ? [named] : [...found, ...places]).find(isExecutable);
}

/** Starts it; whoever asked closes it. Where there is none its error says what to install. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) {
    throw new Error(
      "the page can't be tested, because there is no Chromium: install it (on Debian: apt-get install chromium), or name one in CHROME_PATH",
    );
  }
  // Chromium has no sandbox for root, which containers often are.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
