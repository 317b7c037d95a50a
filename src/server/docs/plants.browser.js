/** The table of plants, on the page of a server that lists them: a part of the script of page.browser.js, whose functions it calls. */

const table = find("list", HTMLTableElement);
const firstButton = find("first-page", HTMLButtonElement);
const nextButton = find("next-page", HTMLButtonElement);
const listOutcome = find("list-outcome", HTMLElement);

/** The members of a plant, which the columns name. */
const columns = Array.from(table.tHead?.rows[0]?.cells ?? [], (cell) => cell.textContent);

/**
 * A plant of a page: its members, with the digits of its id.
 *
 * @typedef {Readonly<Record<string, string>>} ListedPlant
 */

/**
 * Reads the plants of a page. JavaScript numbers would lose digits of an id; a string cannot contain this text.
 *
 * @param {string} body
 * @returns {readonly ListedPlant[]}
 */
function readPage(body) {
  /** @type {unknown} */
  const plants = JSON.parse(body.replaceAll(/\{"id":(-?\d+)/g, '{"id":"$1"'));
  return /** @type {readonly ListedPlant[]} */ (plants);
}

/** @param {readonly ListedPlant[]} plants */
function showPlants(plants) {
  const rows = plants.map((plant) => {
    const row = document.createElement("tr");
    for (const member of columns) row.insertCell().textContent = plant[member] ?? "";
    return row;
  });
  table.tBodies[0]?.replaceChildren(...rows);
  table.hidden = rows.length === 0;
}

/** The query of the next page. */
let nextQuery = "";
/** True while a page is read. */
let isReading = false;

/** @param {string} query */
async function readPlants(query) {
  if (isReading || !token.reportValidity()) return;
  isReading = true;
  show(listOutcome, "", "Reading plants…");
  try {
    const url = new URL((table.dataset["target"] ?? "") + query, location.href);
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${readToken()}` },
      cache: "no-store",
      credentials: "omit",
      redirect: "manual",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(30_000),
    });
    const body = await response.text();
    if (response.ok) {
      const plants = readPage(body);
      showPlants(plants);
      const [, next] = /^<(\?[^>]*)>; rel="next"$/.exec(response.headers.get("link") ?? "") ?? [];
      nextQuery = next ?? "";
      nextButton.hidden = next === undefined;
      const [first, last] = [plants[0], plants.at(-1)];
      const ids = first && last ? `, with ids from ${first["id"]} to ${last["id"]}` : "";
      const more = next === undefined ? "" : "; more follow";
      show(
        listOutcome,
        "done",
        `${plants.length} ${plants.length === 1 ? "plant" : "plants"}${ids}${more}.`,
      );
    } else {
      const words = describeError(body) ?? [
        `the response (status ${response.status}) is not from plantstore, perhaps from a proxy`,
      ];
      show(listOutcome, "failed", "Did not list plants: ", ...words, ".");
    }
  } catch {
    show(listOutcome, "failed", "No response. Try again.");
  }
  isReading = false;
}

firstButton.addEventListener("click", () => void readPlants(""));
nextButton.addEventListener("click", () => void readPlants(nextQuery));
