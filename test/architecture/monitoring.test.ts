/** The alert rules and the dashboard use only metrics and labels that a running server has. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runCli, startServe } from "../helpers/run-cli.ts";
import { writeCertificate } from "../helpers/certificate.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";
import { testToken } from "../helpers/plant-server.ts";

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../src/manual/${name}`, import.meta.url)), "utf8");

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly for?: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly description: string };
    }[];
  }[];
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const rules = (parse(read("alerts.yaml")) as Alerts).groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read("dashboard.json")) as Dashboard;

/** Labels that Prometheus adds to every metric of a server. */
const addedLabels = ["instance", "job"];
/** Words of PromQL that are neither metrics nor labels. */
const words = new Set("absent and by histogram_quantile increase max on rate sum time".split(" "));

/** The label names of each metric, as a running server with TLS reports them after a create and a rejected one. */
async function readMetrics(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const directory = await createTemporaryDirectory();
  const { certFile, flags } = await writeCertificate(directory);
  const env = { PLANTSTORE_TOKEN: testToken };
  const tls = ["--host", "localhost", ...flags];
  const run = await startServe(["--ephemeral", ...tls, "--metrics", "127.0.0.1:0"], { env });
  await run.saw("/metrics");
  const { url } = run;
  for (const name of ["fern", "moss"]) {
    await runCli(["create", "--url", url, "--cacert", certFile, "--id", "1", "--name", name], {
      env,
    });
  }
  const [metricsUrl = ""] = /http:[^"\s]*\/metrics/.exec(run.stderr()) ?? [];
  const text = await (await fetch(metricsUrl)).text();
  // Prometheus adds it.
  const metrics = new Map([["up", new Set(addedLabels)]]);
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = metrics.get(name) ?? new Set(addedLabels);
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    metrics.set(name, known);
  }
  return metrics;
}

/** Finds names in a query that are neither words of PromQL nor metrics, and labels that its metrics do not have. */
function findUnknown(
  query: string,
  metrics: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  const bare = query.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]/g, "");
  const unknown: string[] = [];
  const labelsOfQuery = new Set<string>();
  const withoutSelectors = bare.replaceAll(
    /(\w+)\{([^}]*)\}/g,
    (_, name: string, selectors: string) => {
      for (const [, label = ""] of selectors.matchAll(/(\w+)\s*[=!]/g)) {
        if (metrics.get(name)?.has(label) !== true) unknown.push(`${name}{${label}}`);
      }
      return name;
    },
  );
  const withoutGroups = withoutSelectors.replaceAll(
    /\b(?:by|on) \(([^)]*)\)/g,
    (_, list: string) => {
      for (const label of list.split(/\s*,\s*/)) labelsOfQuery.add(label);
      return "";
    },
  );
  const names = withoutGroups.match(/[A-Za-z_]\w*/g) ?? [];
  const used = names.filter((name) => metrics.has(name));
  unknown.push(...names.filter((name) => !metrics.has(name) && !words.has(name)));
  if (used.length === 0) unknown.push(`no metric in ${query}`);
  for (const label of labelsOfQuery) {
    if (!used.every((name) => metrics.get(name)?.has(label))) unknown.push(`by ${label}`);
  }
  return unknown;
}

// The open files of a process are known only there.
describe.skipIf(process.platform !== "linux")("every query", () => {
  it("names only metrics and labels that a running server has", async () => {
    const metrics = await readMetrics();
    const queries = [
      ...rules.map(({ alert, expr }) => ({ title: alert, expr, legend: "" })),
      ...panels.flatMap(({ title, targets }) =>
        targets.map(({ expr, legendFormat }) => ({ title, expr, legend: legendFormat })),
      ),
    ];
    expect(queries.length).toBeGreaterThan(25);
    const unknown = queries.flatMap(({ title, expr, legend }) => {
      const inLegend = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
      const isKept = (label: string): boolean => !/\bby \(/.test(expr) || expr.includes(label);
      return [...findUnknown(expr, metrics), ...inLegend.filter((label) => !isKept(label))].map(
        (name) => `${title}: ${name}`,
      );
    });
    expect(unknown).toEqual([]);
  });

  it.each([
    ["rate(plantstore_nothing_total[5m])", ["plantstore_nothing_total", "no metric in"]],
    ['plantstore_ready{error="1"}', ["plantstore_ready{error}"]],
    ["sum by (error) (plantstore_ready)", ["by error"]],
    ["average(plantstore_ready)", ["average"]],
  ])("would be found to be wrong: %s", (query, problems) => {
    const unknown = findUnknown(query, new Map([["plantstore_ready", new Set(addedLabels)]]));
    expect(unknown).toHaveLength(problems.length);
    for (const [index, problem] of problems.entries()) expect(unknown[index]).toContain(problem);
  });
});

it("every alert has a severity, the name of its server, and instructions", () => {
  for (const { labels, annotations } of rules) {
    expect(["critical", "warning"]).toContain(labels.severity);
    expect(annotations.summary).not.toBe("");
    expect(annotations.description).toMatch(/\.$/);
  }
});

it("the manual lists every metric of plantstore", async () => {
  const families = new Set(
    [...(await readMetrics()).keys()]
      .filter((name) => name.startsWith("plantstore_"))
      .map((name) => name.replace(/_(?:bucket|sum|count)$/, "")),
  );
  const section = read("monitoring.md").split("## Metrics")[1]?.split("\n## ")[0] ?? "";
  const listed = [...section.matchAll(/^- `(plantstore_\w+)`/gm)].map(([, name]) => name);
  // A counter with labels has no sample before its first event.
  expect(new Set(listed)).toEqual(families.add("plantstore_faults_total"));
});

it("every panel has its own id and place", () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});
