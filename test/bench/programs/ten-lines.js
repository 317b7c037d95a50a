/** Sends a plant with node:http, as a user would write it: the yardstick for `plantstore create`. */
import { request } from "node:http";

const { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: token } = process.env;
const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
const sent = request(`${url}/plants`, { method: "POST", headers }, (response) => {
  process.exitCode = response.statusCode === 200 ? 0 : 1;
  response.pipe(process.stdout);
});
sent.end(JSON.stringify({ id: Number(process.argv[2]), name: "fern" }));
