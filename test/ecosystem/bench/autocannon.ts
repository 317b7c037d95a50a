/** Sends the load that the argument describes, and prints the responses to it. */
import autocannon from "autocannon";
import type { Load, LoadResult } from "../../bench/load.ts";
import { toAddress, toBody } from "../../bench/requests.ts";

const load = JSON.parse(process.argv[2] ?? "") as Load;
const headers = { authorization: `Bearer ${load.token}`, "content-type": "application/json" };
let sent = 0;
const result = await autocannon({
  url: `${load.url}/plants`,
  method: "POST",
  headers,
  connections: load.connections,
  duration: load.seconds,
  timeout: 30,
  requests: [
    {
      setupRequest(request) {
        sent += 1;
        const n = load.sentBefore + sent;
        const body = toBody(n, load.ids);
        return {
          ...request,
          body: load.kind === "create" ? body : body.slice(0, -1),
          ...(load.heads === "different" && {
            headers: { ...headers, "x-forwarded-for": toAddress(n) },
          }),
        };
      },
    },
  ],
});
const responses: LoadResult = {
  sent,
  responses: result["2xx"] + result.non2xx,
  rejected: result.non2xx,
  failed: result.errors,
  seconds: result.duration,
  p50Ms: result.latency.p50,
  p99Ms: result.latency.p99,
};
process.stdout.write(`${JSON.stringify(responses)}\n`);
