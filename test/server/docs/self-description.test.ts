/** The interface description of a running server, and requests that are generated from it. */
import fc from "fast-check";
import { parse, stringify } from "lossless-json";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { int64Max, int64Min } from "../../../src/core/plant.ts";
import { createSelfDescription, findPublicUrl } from "../../../src/server/docs/self-description.ts";
import { getText } from "../../helpers/get-text.ts";
import {
  compileSchema,
  createResponseCheck,
  type Description,
  type Schema,
} from "../../helpers/interface-description.ts";
import { startServer, type TestServer, testToken } from "../../helpers/plant-server.ts";

type Server = Parameters<typeof findPublicUrl>[1];
const findUrl = (host: string | undefined, server: Server): string | undefined =>
  findPublicUrl({ headers: { host } }, server);

let server: TestServer;
let description: Description;
beforeAll(async () => {
  server = await startServer({ onConflict: "replace" });
  description = (await (await fetch(`${server.url}/openapi.json`)).json()) as Description;
});
afterAll(() => server.close());

async function send(body: string, url = server.url) {
  const response = await fetch(`${url}/plants`, {
    method: "POST",
    headers: { authorization: `Bearer ${testToken}`, "content-type": "application/json" },
    body,
  });
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
}

/** Returns the URL in the description for a Host header. */
async function readUrl(port: number, host: string): Promise<string | undefined> {
  const { text } = await getText(port, "/openapi.json", { host });
  return (JSON.parse(text) as Description).servers[0]?.url;
}

describe("GET /openapi.json", () => {
  it("needs no token, and returns JSON that caches do not store", async () => {
    const response = await fetch(`${server.url}/openapi.json`);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  });

  it("responds to other methods with 405", async () => {
    const posted = await fetch(`${server.url}/openapi.json`, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("describes the options of the server", async () => {
    await using started = await startServer({ basePath: "/v1", maxBodyBytes: 4096 });
    const origin = new URL(started.url).origin;
    const response = (await (await fetch(`${origin}/openapi.json`)).json()) as Description;
    expect(response.servers).toEqual([{ url: started.url }]);
    expect(response.paths["/plants"].post.requestBody.description).toContain("at most 4096 bytes");
  });

  const local = { url: "http://127.0.0.1:7526/v1", host: "127.0.0.1" };
  const publicUrl = "https://plants.example.org";

  it.each([
    ["127.0.0.1:8080", "http://127.0.0.1:8080/v1"],
    ["127.0.0.1", "http://127.0.0.1/v1"],
    ["[::1]:80", "http://[::1]/v1"],
    ["localhost:7526", "http://localhost:7526/v1"],
    ["LOCALHOST:7526", "http://localhost:7526/v1"],
    ["localhost.:7526", "http://localhost.:7526/v1"],
    ["plants.localhost", "http://plants.localhost/v1"],
    ["10.0.0.7:7526", "http://10.0.0.7:7526/v1"],
  ])("has the URL that the client used, or the public one: %s", (host, url) => {
    expect(findUrl(host, local)).toBe(url);
    expect(findUrl(host, { ...local, publicUrl })).toBe(publicUrl);
  });

  it.each(["plants.example.org", "plants.example.org.", "PLANTS.example.org:443"])(
    "has the public URL under its name: %s",
    (host) => {
      expect(findUrl(host, { ...local, publicUrl })).toBe(publicUrl);
      expect(findUrl(host, local)).toBeUndefined();
    },
  );

  it.each([
    "rebound.example",
    "localhost.evil.example:7526",
    "127.0.0.1.evil.example",
    "a.plants.example.org",
    "';id;'.localhost",
    "$(id).localhost",
    "%6cocalhost",
    "localhost..",
    "localhost:65536",
  ])("is not available under a name that is not the server's: %j", (host) => {
    expect(findUrl(host, { ...local, publicUrl })).toBeUndefined();
  });

  it("recognizes the names of --host and --public-url in any case, and with a dot at the end", () => {
    const listening = { url: "http://plants.internal:1", host: "Plants.Internal" };
    for (const name of ["plants.internal", "PLANTS.internal", "plants.internal."]) {
      expect(findUrl(name, listening)).toBe(`http://${name.toLowerCase()}`);
    }
    const dotted = `${publicUrl}.`;
    expect(findUrl("Plants.Example.org", { ...listening, publicUrl: dotted })).toBe(dotted);
  });

  it("has the public URL if one is configured, and is under no other name", async () => {
    await using started = await startServer({ publicUrl });
    for (const host of ["127.0.0.1", "plants.example.org"]) {
      expect(await readUrl(started.port, host)).toBe(publicUrl);
    }
    const asked = await getText(started.port, "/openapi.json", { host: "rebound.example" });
    expect(asked.status).toBe(404);
  });

  it.each(["describe", "show"] as const)(
    "is created once for a URL, and cached for a few URLs: %s",
    async (method) => {
      let created = 0;
      const described = createSelfDescription({
        url: "http://127.0.0.1:7526",
        host: "127.0.0.1",
        // Read once for each response that is created.
        get basePath() {
          created++;
          return "";
        },
        maxBodyBytes: 4096,
        onConflict: "reject",
      });
      const ask = (host: string) => described[method]({ headers: { host } });
      const first = await ask("localhost");
      for (let time = 0; time < 100; time++) {
        expect(await ask("LOCALHOST")).toBe(first);
      }
      expect(created).toBe(1);
      for (let port = 1; port <= 100; port++) await ask(`localhost:${port}`);
      expect(await ask("localhost")).not.toBe(first);
      expect(await ask("localhost")).toEqual(first);
    },
  );

  it("has the URL under any name that a program has chosen", async () => {
    const request = { headers: { host: "plants.test" }, isOfProgram: true } as const;
    expect(findPublicUrl(request, local)).toBe("http://plants.test/v1");
    expect(findPublicUrl(request, { ...local, publicUrl })).toBe(publicUrl);
  });

  it("has a URL for an HTTP/1.0 client without a Host header", () => {
    const listening = { url: "http://[::1]:7526/v1", host: "::1" };
    expect(findUrl(undefined, listening)).toBe(listening.url);
    expect(findUrl(undefined, { ...listening, publicUrl })).toBe(publicUrl);
  });
});

describe("the server responds as in the examples", () => {
  it("of valid requests", async () => {
    const { requestBody, responses } = description.paths["/plants"].post;
    const created = Object.values(responses[200]?.content["application/json"]?.examples ?? {});
    const examples = Object.entries(requestBody.content["application/json"]?.examples ?? {});
    expect(examples).toHaveLength(2);
    for (const [, { value }] of examples) {
      expect((await send(JSON.stringify({ ...(value as object), id: 1 }))).status).toBe(200);
    }
    const { id: _, ...first } = examples[0]![1].value as { id: number };
    expect(created.map(({ value }) => value)).toContainEqual(first);
  });

  it("of rejected requests", async () => {
    await using rejecting = await startServer();
    const { responses } = (
      (await (await fetch(`${rejecting.url}/openapi.json`)).json()) as Description
    ).paths["/plants"].post;
    await send('{"id":1,"name":"fern"}', rejecting.url);
    const examples = Object.values(responses[400]?.content["application/json"]?.examples ?? {});
    const withBody = examples.filter((each) => each.description?.includes("`"));
    expect(withBody.length).toBe(examples.length - 1);
    for (const { description: words = "", value } of withBody) {
      const { body } = await send(/`(.*)`/.exec(words)?.[1] ?? "", rejecting.url);
      expect(JSON.parse(body)).toEqual(value);
    }
    const bare = await fetch(`${rejecting.url}/plants`, { method: "POST" });
    const noCredential = examples.find((each) => !withBody.includes(each));
    expect(await bare.json()).toEqual(noCredential?.value);
  });
});

describe("a request that is generated from the schemas", () => {
  it("gets 200 and the Plant if it is valid", async () => {
    const check = createResponseCheck(description);
    const plants = valuesOf({ $ref: "#/components/schemas/NewPlant" }, description);
    await fc.assert(
      fc.asyncProperty(plants, async (plant) => {
        const response = await send(stringify(plant) ?? "");
        expect(response.status, response.body).toBe(200);
        check(response);
        const { id: _, ...rest } = plant as { id: bigint };
        expect(parse(response.body)).toEqual(rest);
      }),
      { numRuns: 300 },
    );
  });

  it("gets 400 and an Error if it breaks one rule", async () => {
    const check = createResponseCheck(description);
    const newPlant = { $ref: "#/components/schemas/NewPlant" };
    const isNewPlant = compileSchema(description, newPlant);
    const { properties, required } = flatten(newPlant, description);
    const broken = fc
      .tuple(
        valuesOf(newPlant, description),
        fc.constantFrom(...Object.keys(properties)),
        fc.jsonValue(),
      )
      .map(([plant, member, other]) => {
        // An id that the validator's numbers hold.
        const rest = { ...(plant as object), id: 1n, [member]: undefined };
        if (required.includes(member) && other === null) return rest;
        return { ...rest, [member]: other };
      })
      .filter((body) => !isNewPlant(JSON.parse(stringify(body) ?? "")));
    const outside = fc
      .oneof(
        fc.bigInt({ min: int64Max + 1n, max: 2n ** 80n }),
        fc.bigInt({ min: -(2n ** 80n), max: int64Min - 1n }),
      )
      .map((id) => ({ id, name: "fern" }));
    const noObject = fc.jsonValue().filter((value) => !isNewPlant(value));
    await fc.assert(
      fc.asyncProperty(fc.oneof(broken, outside, noObject), async (body) => {
        const response = await send(stringify(body) ?? "");
        expect(response.status, stringify(body)).toBe(400);
        check(response);
      }),
      { numRuns: 300 },
    );
  });
});

/** Returns the members of an object's schema, including those of its parts. */
function flatten(
  schema: Schema,
  document: Description,
): { properties: Record<string, Schema>; required: string[] } {
  const name = schema.$ref?.replace("#/components/schemas/", "") ?? "";
  const referenced = document.components.schemas[name];
  const parts = [...(schema.allOf ?? []), ...(referenced === undefined ? [] : [referenced])];
  const flat = parts.map((part) => flatten(part, document));
  return {
    properties: Object.assign(
      {},
      schema.properties,
      ...flat.map((part) => part.properties),
    ) as Record<string, Schema>,
    required: [...(schema.required ?? []), ...flat.flatMap((part) => part.required)],
  };
}

/** Returns values that satisfy a schema; integers are bigints. */
function valuesOf(schema: Schema, document: Description): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case "string":
      return fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
    case "integer": {
      const bits = BigInt(/^int(\d+)$/.exec(schema.format ?? "")?.[1] ?? 0);
      return fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n });
    }
    default: {
      const { properties, required } = flatten(schema, document);
      const members = Object.entries(properties).map(
        ([name, member]) => [name, valuesOf(member, document)] as const,
      );
      return fc.record(Object.fromEntries(members), { requiredKeys: required });
    }
  }
}
