/** The form of the page: creates a plant, and keeps the commands equal to the form. */

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

const form = find("create", HTMLFormElement);
const token = find("token", HTMLInputElement);
/** @type {readonly HTMLInputElement[]} */
const members = Array.from(form.querySelectorAll("[data-json]"));
const outcome = find("outcome", HTMLElement);
const wholeNumber = /^-?\d+$/;

/**
 * Removes zeros before an integer, which JSON does not allow. Other text does not change.
 *
 * @param {string} text
 */
function toDigits(text) {
  return wholeNumber.test(text) ? String(BigInt(text)) : text;
}

/** Returns the first problem of the fields; undefined for a plant that the server accepts. */
function findProblem() {
  for (const { id, value, dataset } of members) {
    const text = value.trim();
    if (dataset["json"] !== "number") continue;
    if (text === "") return `${id} is missing: enter a whole number`;
    if (!wholeNumber.test(text)) return `${id} must be a whole number`;
    if (BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) return `${id} is too large or too small`;
  }
  return undefined;
}

/** Returns the members of the plant in the form: names, texts, and whether each is a number. A number has no spaces. */
function readPlant() {
  return members.flatMap(({ id, value, dataset }) => {
    const isNumber = dataset["json"] === "number";
    const text = isNumber ? toDigits(value.trim()) : value;
    const box = document.getElementById(`has-${id}`);
    const isAbsent = box instanceof HTMLInputElement ? !box.checked : isNumber && text === "";
    return isAbsent ? [] : [{ name: id, text, isNumber }];
  });
}

/** Writes the plant as text, so that numbers keep every digit. The server validates it. */
function toBody() {
  const pairs = readPlant().map(
    ({ name, text, isNumber }) => `"${name}":${isNumber ? text : JSON.stringify(text)}`,
  );
  return `{${pairs.join(",")}}`;
}

/**
 * Quotes one word of a command for a POSIX shell.
 *
 * @param {string} text
 */
function toShellWord(text) {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function updateCommands() {
  const problem = findProblem();
  find("commands", HTMLElement).hidden = problem !== undefined;
  find("no-commands", HTMLElement).hidden = problem === undefined;
  const flags = readPlant().flatMap(({ name, text }) => [`--${name}`, text]);
  find("flags", HTMLElement).textContent = flags.map(toShellWord).join(" ");
  // Always in quotes, as a body begins with a brace.
  find("data", HTMLElement).textContent = toShellWord(toBody());
}

/**
 * @param {string} text
 * @param {"" | "done" | "failed"} className
 */
function showOutcome(text, className) {
  outcome.textContent = text;
  outcome.className = className;
  outcome.scrollIntoView({ block: "nearest" });
}

/**
 * @param {string} request
 * @param {string} response
 */
function showExchange(request, response) {
  find("request", HTMLElement).textContent = request;
  find("response", HTMLElement).textContent = response;
  find("exchange", HTMLElement).hidden = false;
}

/** @type {Readonly<Record<string, string>>} */
const results = {
  created: "Created.",
  unchanged: "Unchanged: this plant is already stored.",
  replaced: "Replaced the stored plant with this id.",
};

/**
 * Describes an Error body; another body comes from a proxy.
 *
 * @param {number} status
 * @param {string} body
 */
function describeFailure(status, body) {
  try {
    const { error, message } = /** @type {{ error: number, message: string }} */ (JSON.parse(body));
    return `Not created: ${message} (error ${error})`;
  } catch {
    return `Not created: the response has the status ${status} and no Error.`;
  }
}

async function create() {
  const problem = findProblem();
  if (problem !== undefined) {
    showOutcome(`Not sent: ${problem}.`, "failed");
    return;
  }
  if (token.value.trim() === "") {
    const advice =
      '"plantstore serve" prints one at its first start, "plantstore token issue" further ones';
    showOutcome(`Not sent: the token is missing: ${advice}.`, "failed");
    token.focus();
    return;
  }
  const url = new URL(form.dataset["target"] ?? "", location.href);
  const body = toBody();
  const headers = new Headers({ "Content-Type": "application/json" });
  try {
    headers.set("Authorization", `Bearer ${token.value}`);
  } catch {
    showOutcome("The token contains a character that no header can have. Copy it again.", "failed");
    return;
  }
  const request = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    "Authorization: Bearer $PLANTSTORE_TOKEN",
    "Content-Type: application/json",
    "",
    body,
  ].join("\n");
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    const text = await response.text();
    const { ok, status, statusText } = response;
    const fields = Array.from(response.headers, ([field, value]) => `${field}: ${value}`);
    showExchange(request, [`${status} ${statusText}`, ...fields, "", text].join("\n"));
    const result = response.headers.get("x-plantstore-result") ?? "created";
    if (ok) showOutcome(results[result] ?? "Created.", "done");
    else showOutcome(describeFailure(status, text), "failed");
  } catch (error) {
    showExchange(request, String(error));
    showOutcome(
      "No response. The plant may or may not be stored. You can send it again.",
      "failed",
    );
  }
}

let isSending = false;

async function submit() {
  // The button stays enabled, because a disabled button loses the focus.
  if (isSending) return;
  isSending = true;
  showOutcome("Sending…", "");
  await create();
  isSending = false;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void submit();
});

form.addEventListener("input", updateCommands);
updateCommands();

/** Moves the token of a link from the address bar to the form. Browsers send no fragment to a server. */
function takeToken() {
  const [, linked] = /^#(?:token=)?(pst_\w+)$/.exec(location.hash) ?? [];
  if (linked === undefined) return;
  token.value = linked;
  history.replaceState(null, "", location.pathname + location.search);
}

addEventListener("hashchange", takeToken);
takeToken();

/**
 * @param {HTMLElement} command
 * @param {HTMLElement} button
 * @param {string} label text of the button
 */
async function copy(command, button, label) {
  try {
    await navigator.clipboard.writeText(command.textContent);
    button.textContent = "Copied";
  } catch {
    // Browsers allow access to the clipboard only for https and localhost.
    getSelection()?.selectAllChildren(command);
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 2000);
}

for (const command of ["plantstore", "curl"]) {
  const button = find(`copy-${command}`, HTMLButtonElement);
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", () => void copy(find(command, HTMLElement), button, label));
}
