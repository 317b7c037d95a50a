/** Says at the end of a run what this machine could not test. */
import { findBrowser } from "./browser.ts";
import { findRoffCheckers } from "./roff-checkers.ts";

/** The tests have ended. */
export function teardown(): void {
  if (findBrowser() === undefined) {
    process.stderr.write(
      "\nNOT TESTED: the page, and pages of other origins, in a browser, because there is no Chromium.\n" +
        "Install it (on Debian: apt-get install chromium), or name one in CHROME_PATH.\n\n",
    );
  }
  if (findRoffCheckers().length === 0) {
    process.stderr.write(
      "\nNOT TESTED: the roff of the manual page, because there is neither groff nor mandoc.\n" +
        "Install one of them (on Debian: apt-get install groff).\n\n",
    );
  }
}
