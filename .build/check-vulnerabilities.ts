/**
 * Reports known vulnerabilities of the packages in the SBOM, which the database https://osv.dev has. The environment variable
 * `OSV_URL` names another server with the same API.
 */
import { readFileSync } from "node:fs";

interface Component {
  readonly purl: string;
}

/** The part of a response of OSV that is read: one result for each query, in the same order. */
interface Batch {
  readonly results: readonly { readonly vulns?: readonly { readonly id: string }[] }[];
}

const url = process.env["OSV_URL"] ?? "https://api.osv.dev";
const sbom = JSON.parse(readFileSync("dist/sbom.cdx.json", "utf8")) as { components: Component[] };
const purls = sbom.components.map(({ purl }) => purl);
const response = await fetch(new URL("v1/querybatch", url), {
  method: "POST",
  body: JSON.stringify({ queries: purls.map((purl) => ({ package: { purl } })) }),
});
if (!response.ok) throw new Error(`${url} responded ${response.status}: ${await response.text()}`);
const { results } = (await response.json()) as Batch;
if (results.length !== purls.length) throw new Error(`${url} responded with too few results`);
const found = results.flatMap(({ vulns = [] }, index) =>
  vulns.map(({ id }) => `${purls[index]}: https://osv.dev/${id}\n`),
);
process.stdout.write(found.join(""));
process.stderr.write(`${found.length} known vulnerabilities in ${purls.length} packages\n`);
process.exitCode = found.length === 0 ? 0 : 1;
