/** Loads node:http. Node 22 and later: an import of it would load fetch, HTTP/2 and web streams, which takes 20 ms. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");
