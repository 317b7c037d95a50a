/** Starts the Chromium that is installed on this machine, without a window. */
import { type Browser, chromium } from "playwright-core";
import { findBrowser } from "../helpers/installed-programs.ts";

/** Starts the browser. The caller closes it. */
export function openBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error("no Chromium is installed");
  // Chromium has no sandbox for root, which containers often are.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}
