/** The page for people: what the service is, and a form that tries it. It is one answer, and asks for nothing elsewhere. */
import { createHash } from "node:crypto";
import { errorAdvice } from "../../core/error-advice.ts";
import { type ErrorKind, errorTable } from "../../core/errors.ts";
import { int64Max, int64Min } from "../../core/int64.ts";
import { createOpenApiDocument, type DescribedServer } from "../../core/openapi.ts";
import { toShellWord } from "../../core/shell-word.ts";
import type { Answer } from "../exchange/reply.ts";
import { toHtml, toMembersTable } from "./html.ts";
import { script } from "./script.ts";
import { style } from "./style.ts";

/** What the page tells of a server. */
export interface PageServer extends DescribedServer {
  /** In front of `/plants`, as the server itself has it. */
  readonly basePath: string;
}

/** The answer with the page. */
export function toPageAnswer(server: PageServer): Answer {
  return {
    status: 200,
    body: toPage(server),
    contentType: "text/html; charset=utf-8",
    headers: {
      "Content-Security-Policy": contentSecurityPolicy,
      "Cross-Origin-Resource-Policy": "same-origin",
      "Referrer-Policy": "no-referrer",
      "X-Frame-Options": "DENY",
    },
  };
}

/** Nothing but the page's own style and script, and requests to this server. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src '${toSource(script)}'`,
  `style-src '${toSource(style)}'`,
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

function toSource(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function toPage(server: PageServer): string {
  const { url, maxBodyBytes, onConflict, basePath } = server;
  const description = createOpenApiDocument(server);
  const conflict =
    onConflict === "reject"
      ? `With another name or tag it is refused with ${errorTable.idTaken.error}, and the stored plant stays as it is.`
      : "With another name or tag it replaces the stored plant.";
  const curl = `curl ${toShellWord(`${url}/plants`)} \\
  -H "Authorization: Bearer $PLANTSTORE_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"id":1,"name":"fern"}'`;
  const plantstore = `plantstore create --url ${toShellWord(url)} --id 1 --name fern`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>plant store</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header>
<h1>plant store</h1>
<p>This is a store of plants. It has one operation, <code>POST ${toHtml(url)}/plants</code>, which stores a plant
durably. Every request needs a bearer token, which whoever runs the service gives out. The machine-readable
description is <a href="openapi.json">openapi.json</a>.</p>
</header>
<main>

<section aria-labelledby="try">
<h2 id="try">Create a plant</h2>
<noscript><p class="bad">The form needs JavaScript; the commands below do not.</p></noscript>
<form id="create" method="post" autocomplete="off" data-target="${toHtml(`${basePath}/plants`.slice(1))}">
<div><label for="token">Token</label>
<input id="token" type="password" autocomplete="off" spellcheck="false" aria-describedby="token-hint">
<small id="token-hint">Stays in this page, and is forgotten with it.</small></div>
<div><label for="id">id</label>
<input id="id" autocomplete="off" spellcheck="false" aria-describedby="id-hint">
<small id="id-hint">An integer from ${int64Min} to ${int64Max}.</small></div>
<div><label for="name">name</label>
<input id="name" autocomplete="off" spellcheck="false"></div>
<div><label class="check"><input id="has-tag" type="checkbox"> with a tag</label>
<label for="tag">tag</label>
<input id="tag" autocomplete="off" spellcheck="false"></div>
<button>Create</button>
</form>
<p id="outcome" role="status"></p>
<div id="exchange" hidden>
<h3>Request</h3><pre id="request" tabindex="0" aria-label="Request"></pre>
<h3>Answer</h3><pre id="answer" tabindex="0" aria-label="Answer"></pre>
</div>
</section>

<section aria-labelledby="commands">
<h2 id="commands">From a terminal</h2>
<p>With the token in <code>PLANTSTORE_TOKEN</code>:</p>
<pre id="curl" tabindex="0" aria-label="curl">${toHtml(curl)}</pre>
<button type="button" data-copy="curl" hidden>Copy</button>
<pre id="plantstore" tabindex="0" aria-label="plantstore">${toHtml(plantstore)}</pre>
<button type="button" data-copy="plantstore" hidden>Copy</button>
</section>

<section aria-labelledby="operation">
<h2 id="operation">POST /plants</h2>
<h3>Request: NewPlant</h3>
<p>JSON in UTF-8, with <code>Content-Type: application/json</code> and at most ${maxBodyBytes} bytes. Other members are accepted
and forgotten.</p>
${toMembersTable("NewPlant", description)}
<h3>200: Plant</h3>
<p>The plant is on the disk. The header <code>X-Plantstore-Result</code> says whether it was <code>created</code>,
<code>unchanged</code> or <code>replaced</code>.</p>
${toMembersTable("Plant", description)}
<p>The same plant again is 200 once more, so a create whose answer was lost can be repeated. ${conflict}</p>
<h3>400: Error</h3>
${toMembersTable("Error", description)}
</section>

<section aria-labelledby="errors">
<h2 id="errors">Errors</h2>
<p>The number is the HTTP status that the failure would have elsewhere, × 100, plus a detail.</p>
<div class="scroll" role="region" aria-labelledby="errors" tabindex="0">
<table>
<thead><tr><th scope="col">error</th><th scope="col">when</th><th scope="col">what to do</th></tr></thead>
<tbody>
${(Object.keys(errorTable) as ErrorKind[]).map(toErrorRow).join("\n")}
</tbody>
</table>
</div>
</section>
</main>
<script>${script}</script>
</body>
</html>
`;
}

function toErrorRow(kind: ErrorKind): string {
  const { error, when } = errorTable[kind];
  const cells = [when, errorAdvice[kind].remedy].map((text) => `<td>${toHtml(text)}</td>`);
  return `<tr><th scope="row">${error}</th>${cells.join("")}</tr>`;
}
