/** Options of a plant store, and the types of its URL: apart from the other options, because clients do without stores. */
import { InvalidValue } from "../core/messages.ts";
import { existsSync } from "node:fs";
import { attempt } from "../core/attempt.ts";
import { operationSets, type OperationSet } from "../core/contract.ts";
import { type StatusMode, statusModes } from "../core/errors.ts";
import { conflictPolicies, type ConflictPolicy, StoreError } from "../core/store.ts";
import {
  basePath,
  bytes,
  bytesPerUnit,
  choice,
  host,
  integer,
  optionalHttpUrl,
  origins,
  port,
  string,
  type OptionType,
} from "./option-types.ts";
import { parseStoreUrl, toFileUrl, describeStoreUrl } from "../store/store-url.ts";
import type { Specs } from "./client-options.ts";

/** The URL of a store. */
const storeUrl = string((text) => {
  try {
    parseStoreUrl(text);
    return text;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new InvalidValue(`is invalid: ${error.message}`, { cause: error });
  }
}, describeStoreUrl);

/** As {@link storeUrl}; a text is also the path of a file, if it has a slash or the file exists. */
export const storeUrlOrPath: OptionType<string> = {
  ...storeUrl,
  parse: (text) => storeUrl.parse(isPath(text) ? toFileUrl(text) : text),
};

/** Returns the path of the file that a text of {@link storeUrlOrPath} names; undefined for any other text. */
export function findStorePath(text: string): string | undefined {
  return attempt(() => parseStoreUrl(isPath(text) ? toFileUrl(text) : text).path);
}

/** A single letter before a colon is a drive of Windows. A mistyped URL of a database, which may contain a password, is no path. */
function isPath(text: string): boolean {
  if (/^[a-z][a-z\d+.-]+:/i.test(text) || text.includes("://")) return false;
  return /[\\/]/.test(text) || existsSync(text);
}

const mebibyte = bytesPerUnit.MiB;

/** Range of the maximum size of a request body: no server accepts a larger plant. */
export const maxBodyRange = { min: 1, max: 64 * mebibyte };

/** Options of a plant store. */
export const storeOptions = {
  /** Where plants are stored: `memory:` (the default), `sqlite:PATH` or `postgres://…`. */
  store: { type: storeUrl, default: "memory:" },
  /** The only host name or IP address to listen on; by default 127.0.0.1. */
  host: { type: host, default: "127.0.0.1" },
  /** Port to listen on: 0 … 65535; 0, the default, selects a free port. */
  port: { type: port, default: 0 },
  /** Prefix of `/plants`, such as `/v1`: letters, digits and `- . _ ~`; by default empty. */
  basePath: { type: basePath, default: "" },
  /** URL that clients use, with the base path, if a proxy is in front: the description and the page name it; by default that of the store. */
  publicUrl: { type: optionalHttpUrl, default: undefined },
  /** Origins whose pages may use the store, such as `["https://app.example.org"]`, or `["*"]`; by default none. */
  corsOrigins: { type: origins, default: [] },
  /** Maximum size of a request body, in bytes: 1 … 67108864 (64 MiB); by default 1 MiB. */
  maxBodyBytes: { type: bytes(maxBodyRange), default: mebibyte },
  /** Maximum number of creates that wait for the store: 1 … 1000000; by default 4096. */
  maxInflight: { type: integer({ min: 1, max: 1_000_000 }), default: 4096 },
  /** Operations: `create` (the default), or `all`, which lists and deletes plants too. */
  operations: { type: choice<OperationSet>(operationSets), default: "create" },
  /** Policy for a create whose id belongs to a different plant: `reject` (the default) or `replace`. */
  onConflict: { type: choice<ConflictPolicy>(conflictPolicies), default: "reject" },
  /** Status of a failed create: `contract` (the default) is always 400; `http` is the status that the error number begins with. */
  statusMode: { type: choice<StatusMode>(statusModes), default: "contract" },
} as const satisfies Specs;
