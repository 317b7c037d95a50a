/** Says at the end of a run what this machine could not test. */
import { findBrowser } from "./browser.ts";

/** The tests have ended. */
export function teardown(): void {
  if (findBrowser() !== undefined) return;
  process.stderr.write(
    "\nNOT TESTED: the page, and pages of other origins, in a browser, because there is no Chromium.\n" +
      "Install it (on Debian: apt-get install chromium), or name one in CHROME_PATH.\n\n",
  );
}
