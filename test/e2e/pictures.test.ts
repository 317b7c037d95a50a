/** The picture in the README matches what it shows. `npm run draw` draws it again. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { drawSession, pictureColumns } from "../../.build/pictures.ts";
import { findFreePort } from "../helpers/postgres-server.ts";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { root } from "../helpers/run.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const pictures = join(root, ".github/pictures");
const commands = [
  "plantstore create --id 1 --name fern",
  "plantstore create --id 1 --name moss",
  "plantstore list",
  "zcat plants.ndjson.gz | plantstore create",
];
const plantCount = 5000;
/** Height at which a page shows the text below the picture too, in pixels. */
const maxPictureHeight = 400;
/** Median of seven runs on two cores, Node 20. */
const shownRate = "in 1.2 s (4,295/s)";
/** Lines that are erased: progress, and a notice while a response is slow. */
const erased = /records, |waiting for /;

/** Replaces what differs from run to run. */
function toFixed(screen: string, home: string, url: string): string {
  return (
    screen
      .replaceAll("\r", "")
      .replaceAll(home, "/home/ada")
      // Not printed for the default port.
      .replaceAll(` --url ${url}`, "")
      .replaceAll(url, "http://127.0.0.1:7526")
      .replaceAll(/pst_\w+/g, `pst_Kd81${"x".repeat(45)}`)
      .replaceAll(/request [0-9a-f]+-\d+/g, "request 9f1c2ab03d4e-3")
      .replaceAll(/in [\d.]+ s \([\d,.]+\/s\)/g, shownRate)
  );
}

/** Returns the lines of a screen without cursor movements, and without lines that were erased. */
function toLines(screen: string): string {
  return screen
    .replaceAll(/\p{Cc}\[\?\d+[hl]/gu, "")
    .replaceAll(/\p{Cc}\[\d*[A-K]/gu, "\n")
    .split("\n")
    .filter((line) => line !== "" && !erased.test(line))
    .join("\n");
}

it("the picture in the README shows what the commands print", async () => {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, "bin"));
  await symlink(join(root, "bin/plantstore.js"), join(home, "bin/plantstore"));
  const ids = Array.from({ length: plantCount }, (_, index) => index + 2);
  const records = ids.map((id) => (id === 4 ? '{"id":4}' : `{"id":${id},"name":"moss ${id}"}`));
  await writeFile(join(home, "plants.ndjson.gz"), gzipSync(`${records.join("\n")}\n`));
  const paths = [join(home, "bin"), dirname(process.execPath), process.env["PATH"]];
  const env = {
    PATH: paths.join(delimiter),
    NO_COLOR: "",
    PLANTSTORE_PORT: String(await findFreePort()),
  };
  const size = `stty cols ${pictureColumns} -echo`;

  const server = startSession(`${size}; exec plantstore serve`, home, env);
  await server.saw("http://127.0.0.1");
  await expect.poll(() => server.screen()).toMatch(/URL.*http:\/\/\S+\r?\n/);
  const [, url = ""] = /URL\S* +(http:\S+)/.exec(server.screen()) ?? [];

  const steps = commands.map((command) => `echo '$ ${command}'\n${command}\n`).join("");
  const client = startSession(`${size}\n${steps}`, home, env);

  const shown = toLines(toFixed(await client.finished, home, url));
  const picture = drawSession("A session with plantstore", shown);
  expect(Number(/height="(\d+)"/.exec(picture)?.[1])).toBeLessThanOrEqual(maxPictureHeight);
  await expect(picture).toMatchFileSnapshot(join(pictures, "session.svg"));
});
