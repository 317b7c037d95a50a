/** What the page does in a browser: sends the form as a create, and copies commands. It writes text only, never HTML. */

/** JavaScript. */
export const script = String.raw`
"use strict";
const find = (id) => document.getElementById(id);
const form = find("create");
const outcome = find("outcome");

/** The body as text, so that the id keeps every digit that was typed; without a word of judgement: that is the server's. */
function toBody() {
  const id = find("id").value.trim();
  const members = [
    ...(id === "" ? [] : ['"id":' + id]),
    '"name":' + JSON.stringify(find("name").value),
    ...(find("has-tag").checked ? ['"tag":' + JSON.stringify(find("tag").value)] : []),
  ];
  return "{" + members.join(",") + "}";
}

function show(words, isGood, request, answer) {
  outcome.textContent = words;
  outcome.className = isGood ? "good" : "bad";
  find("request").textContent = request;
  find("answer").textContent = answer;
  find("exchange").hidden = false;
}

async function create() {
  const url = new URL(form.dataset.target, location.href);
  const body = toBody();
  const token = find("token").value;
  const head = [
    "POST " + url.pathname + " HTTP/1.1",
    "Host: " + url.host,
    ...(token === "" ? [] : ["Authorization: Bearer (the token)"]),
    "Content-Type: application/json",
  ];
  const request = [...head, "", body].join("\n");
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(token === "" ? {} : { Authorization: "Bearer " + token }),
      },
      body,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    const headers = Array.from(answer.headers, ([name, value]) => name + ": " + value);
    const text = await answer.text();
    const result = answer.headers.get("x-plantstore-result");
    show(
      answer.ok ? "The plant is stored: " + (result ?? "done") + "." : "The plant was refused.",
      answer.ok,
      request,
      [answer.status + " " + answer.statusText, ...headers, "", text].join("\n"),
    );
  } catch (error) {
    show("No answer came. The plant may or may not be stored; it can be sent again.", false, request, String(error));
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  outcome.textContent = "Sending…";
  outcome.className = "";
  button.disabled = true;
  await create();
  button.disabled = false;
  button.focus();
});

const tag = find("tag");
const hasTag = find("has-tag");
hasTag.addEventListener("change", () => { tag.disabled = !hasTag.checked; });
tag.disabled = !hasTag.checked;

for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = find(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    const words = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      // Browsers give the clipboard only to pages over https or from this machine.
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = words; }, 2000);
  });
}
`;
