import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { post } from "../../../src/client/http/post.ts";
import { type Answer, json, openScriptedServer } from "../scripted-server.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

it.each<[end: string, answer: Answer]>([
  ["is answered", json(200, '{"name":"fern"}')],
  ["gets no answer", (response) => void response.destroy()],
])("a request that %s is forgotten, however long its signal lives", async (_end, answer) => {
  const { url } = await openScriptedServer(answer);
  const { signal } = new AbortController();
  const request = { url, headers: {}, body: "{}", timeoutMs: 3_600_000, signal };

  async function sendMany(): Promise<WeakRef<object>[]> {
    const outcomes: WeakRef<object>[] = [];
    for (let count = 0; count < 20; count++) {
      const outcome = await post(request).catch((error: unknown) => error as Error);
      outcomes.push(new WeakRef(outcome));
    }
    return outcomes;
  }

  const outcomes = await sendMany();
  expect(getEventListeners(signal, "abort")).toEqual([]);
  // What was last may still lie on a stack.
  await expect
    .poll(() => {
      collectGarbage();
      return outcomes.filter((outcome) => outcome.deref() !== undefined).length;
    })
    .toBeLessThanOrEqual(2);
});
