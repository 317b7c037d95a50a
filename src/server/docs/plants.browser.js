/** The table of plants, on the page of a server that lists them. */

/**
 * Finds an element of the page.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function find(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new TypeError(`no ${type.name} #${id}`);
  return element;
}

const table = find("list", HTMLTableElement);
const tokenField = find("token", HTMLInputElement);
const firstButton = find("first-page", HTMLButtonElement);
const nextButton = find("next-page", HTMLButtonElement);
const listOutcome = find("list-outcome", HTMLElement);

/**
 * A plant of a page, with the digits of its id.
 *
 * @typedef {{ readonly id: string, readonly name: string, readonly tag?: string }} ListedPlant
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
  const rows = plants.map(({ id, name, tag = "" }) => {
    const row = document.createElement("tr");
    for (const text of [id, name, tag]) row.insertCell().textContent = text;
    return row;
  });
  table.tBodies[0]?.replaceChildren(...rows);
  table.hidden = rows.length === 0;
}

/**
 * @param {"" | "done" | "failed"} className
 * @param {string} text
 */
function say(className, text) {
  listOutcome.textContent = text;
  listOutcome.className = className;
}

/**
 * Returns the message of an Error body, or words about another response.
 *
 * @param {string} body
 * @param {number} status
 */
function describeFailure(body, status) {
  try {
    const { error, message } = /** @type {Record<string, unknown>} */ (JSON.parse(body));
    const isError = Number.isInteger(error) && typeof message === "string";
    if (isError) return `${message} (error ${String(error)})`;
  } catch {
    // Another program responded.
  }
  return `the response (status ${status}) is not from plantstore, perhaps from a proxy`;
}

/** The query of the next page. */
let nextQuery = "";
/** True while a page is read. */
let isReading = false;

/** @param {string} query */
async function readPlants(query) {
  const token = tokenField.value.trim().replace(/^Bearer\s+/i, "");
  if (token === "") {
    tokenField.focus();
    say("failed", "Not sent: the token is missing. Enter it in the form.");
    return;
  }
  if (isReading) return;
  isReading = true;
  say("", "Reading plants…");
  try {
    const url = new URL((table.dataset["target"] ?? "") + query, location.href);
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${token}` },
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
      const ids = first && last ? `, with ids from ${first.id} to ${last.id}` : "";
      const more = next === undefined ? "" : "; more follow";
      say("done", `${plants.length} ${plants.length === 1 ? "plant" : "plants"}${ids}${more}.`);
    } else say("failed", `Did not list plants: ${describeFailure(body, response.status)}.`);
  } catch {
    say("failed", "No response. Try again.");
  }
  isReading = false;
}

firstButton.addEventListener("click", () => void readPlants(""));
nextButton.addEventListener("click", () => void readPlants(nextQuery));
