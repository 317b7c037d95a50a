/** The form of the page, whose fields the browser checks: creates a plant, and keeps the commands equal to the form. */

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
const idField = find("id", HTMLInputElement);
/** @type {readonly HTMLInputElement[]} */
const members = Array.from(form.querySelectorAll("[data-json]"));
const outcome = find("outcome", HTMLElement);
const wholeNumber = /^-?\d+$/;
const timeoutSeconds = 30;

/**
 * Removes zeros before an integer, which JSON does not allow. Other text does not change.
 *
 * @param {string} text
 */
function toDigits(text) {
  return wholeNumber.test(text) ? String(BigInt(text)) : text;
}

/** Returns the id in the form. */
function readId() {
  return toDigits(idField.value.trim());
}

/** Returns the token in the form, which may be copied with the word before it. */
function readToken() {
  return token.value.trim().replace(/^Bearer\s+/i, "");
}

/** Returns the members of the plant in the form: names, texts, and whether each is an integer, which has no spaces. */
function readPlant() {
  return members.flatMap(({ id, value, dataset }) => {
    const isInteger = dataset["json"] === "integer";
    const text = isInteger ? toDigits(value.trim()) : value;
    const box = document.getElementById(`has-${id}`);
    const isLeftOut = box instanceof HTMLInputElement && !box.checked;
    return isLeftOut || (isInteger && text === "") ? [] : [{ name: id, text, isInteger }];
  });
}

/** Writes the plant as text, so that numbers keep every digit. The server validates it. */
function toBody() {
  const pairs = readPlant().map(
    ({ name, text, isInteger }) => `"${name}":${isInteger ? text : JSON.stringify(text)}`,
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
  const isValid = members.every(({ validity }) => validity.valid);
  find("commands", HTMLElement).hidden = !isValid;
  find("no-commands", HTMLElement).hidden = isValid;
  const flags = readPlant().flatMap(({ name, text }) => [`--${name}`, text]);
  find("flags", HTMLElement).textContent = flags.map(toShellWord).join(" ");
  // Always in quotes, as a body begins with a brace.
  find("data", HTMLElement).textContent = toShellWord(toBody());
}

/**
 * @param {HTMLElement} element that is a status
 * @param {"" | "done" | "failed"} className
 * @param {(string | Node)[]} content
 */
function show(element, className, ...content) {
  element.replaceChildren(...content);
  element.className = className;
  element.scrollIntoView({ block: "nearest" });
}

/** Removes the outcome, and the mark of a rejected token. */
function clearOutcome() {
  outcome.replaceChildren();
  form.querySelector("[aria-invalid]")?.removeAttribute("aria-invalid");
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

/** @type {Readonly<Record<string, (id: string) => string>>} */
const results = {
  created: (id) => `Created plant ${id}.`,
  unchanged: (id) => `Unchanged: plant ${id} is already stored.`,
  replaced: (id) => `Replaced plant ${id}.`,
};

/**
 * Describes an Error body, with a link to its number in the list.
 *
 * @param {string} body
 * @returns {(string | Node)[] | undefined} undefined for another body, which comes from a proxy
 */
function describeError(body) {
  try {
    const { error, message } = /** @type {Record<string, unknown>} */ (JSON.parse(body));
    if (!Number.isInteger(error) || typeof message !== "string") return undefined;
    const link = document.createElement("a");
    link.href = `#error-${String(error)}`;
    link.textContent = `error ${String(error)}`;
    return [`${message} (`, link, ")"];
  } catch {
    return undefined;
  }
}

/**
 * Shows the next id, unless the form has another one by now.
 *
 * @param {string} id
 */
function countUp(id) {
  const next = BigInt(id) + 1n;
  if (readId() !== id || BigInt.asIntN(64, next) !== next) return;
  idField.value = String(next);
  updateCommands();
}

/**
 * Shows an outcome after which the plant is stored or not.
 *
 * @param {string} id
 * @param {string} reason
 */
function showUnknown(id, reason) {
  show(outcome, "failed", `${reason} Plant ${id} may or may not be stored. Send it again.`);
}

/**
 * Sends the plant of the form, which can change meanwhile, and shows the outcome.
 *
 * @param {string} id
 */
async function create(id) {
  const url = new URL(form.dataset["target"] ?? "", location.href);
  const body = toBody();
  const request = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    "Authorization: Bearer $PLANTSTORE_TOKEN",
    "Content-Type: application/json",
    "",
    body,
  ].join("\n");
  show(outcome, "", `Sending plant ${id}…`);
  showExchange(request, "…");
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${readToken()}`,
        "Content-Type": "application/json",
      },
      body,
      cache: "no-store",
      credentials: "omit",
      redirect: "manual",
      referrerPolicy: "no-referrer",
      signal,
    });
    const text = await response.text();
    const { ok, status, statusText } = response;
    const fields = Array.from(response.headers, ([field, value]) => `${field}: ${value}`);
    const isUsual = (/** @type {string} */ field) =>
      !/^(?:x-plantstore|x-request|retry)/.test(field);
    fields.sort((a, b) => Number(isUsual(a)) - Number(isUsual(b)));
    showExchange(request, [`${status} ${statusText}`, ...fields, "", text].join("\n"));
    const result = response.headers.get("x-plantstore-result") ?? "";
    const error = ok ? undefined : describeError(text);
    if (ok && Object.hasOwn(results, result)) {
      if (result === "created") countUp(id);
      show(outcome, "done", results[result]?.(id) ?? result);
    } else if (error !== undefined) {
      if (response.headers.has("www-authenticate")) token.setAttribute("aria-invalid", "true");
      show(outcome, "failed", `Did not create plant ${id}: `, ...error);
    } else {
      const what = response.type === "opaqueredirect" ? "a redirect" : `of status ${status}`;
      showUnknown(id, `The response (${what}) is not from plantstore, perhaps from a proxy.`);
    }
  } catch {
    const reason = signal.aborted
      ? `No response within ${timeoutSeconds} s.`
      : `No response: nothing listens at ${url.origin}, or the connection broke.`;
    showExchange(request, reason);
    showUnknown(id, reason);
  }
}

/**
 * Id of the plant that is being sent.
 *
 * @type {string | undefined}
 */
let sending;

async function submit() {
  // The button stays enabled, because a disabled button loses the focus.
  if (sending !== undefined) {
    show(outcome, "", `Still sending plant ${sending}.`);
    return;
  }
  clearOutcome();
  sending = readId();
  await create(sending);
  sending = undefined;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void submit();
});

form.addEventListener("input", () => {
  if (sending === undefined) clearOutcome();
  updateCommands();
});
updateCommands();

/**
 * Moves the token of a link (a b64token of RFC 6750) from the address bar to the form. Browsers send no fragment to a server.
 * The name of a place on the page is no token.
 */
function takeToken() {
  const [, linked] = /^#(?:token=)?([\w.~+/-]+=*)$/.exec(location.hash) ?? [];
  if (linked === undefined || document.getElementById(linked) !== null) return;
  token.value = linked;
  history.replaceState(null, "", location.pathname + location.search);
}

addEventListener("hashchange", takeToken);
takeToken();

/** Opens the fold around the target of a link: not every browser does. */
function openFold() {
  const target = document.getElementById(location.hash.slice(1));
  const fold = target?.closest("details");
  if (!fold || fold.open) return;
  fold.open = true;
  target?.scrollIntoView();
}

addEventListener("hashchange", openFold);
openFold();

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
