/** A rule of the contract: what is sent, and what must be received. */
import { type RequestTemplate, create, type HeaderChanges } from "./request-template.ts";
import type { OperationSet } from "../../src/core/contract.ts";
import type { ErrorKind } from "../../src/core/errors.ts";

/** Source of a rule: `given` by the interface description, or `decided` by plantstore where that is silent. */
export type RuleGroup = "given" | "decided";

/** A rule. */
export interface Rule {
  /** A sentence. */
  readonly name: string;
  readonly group: RuleGroup;
  /** Heading in the topic `contract` of the manual. */
  readonly heading: string;
  /** One after the other, each on its own connection. */
  readonly exchanges: readonly Exchange[];
  /** True if all exchanges start at the same time, and exactly one of them gets 200. */
  readonly isRace?: true;
  /** The only set of operations for which it holds. */
  readonly set?: OperationSet;
}

/** Requests and responses on one connection. */
export interface Exchange {
  readonly send: Step | readonly Step[];
  readonly receive: ExpectedResponse | readonly ExpectedResponse[];
  /** True if the server must end the connection after the responses. */
  readonly thenEnds?: true;
}

/**
 * - a text or a request is sent; adjacent ones are sent together
 * - `{ request, toToken }` sends a request with another token, made from the valid one
 * - `pause` waits for a moment, so that the bytes before and after it arrive separately
 * - `halfClose` ends the client's side of the connection
 * - `{ responses }` waits for that number of responses, 100 Continue included
 */
export type Step =
  | string
  | RequestTemplate
  | { readonly request: RequestTemplate; readonly toToken: (token: string) => string }
  | typeof pause
  | typeof halfClose
  | { readonly responses: number };

export const pause = { step: "pause" } as const;
export const halfClose = { step: "halfClose" } as const;

/** A response that is expected. Absent members are not checked. */
export interface ExpectedResponse {
  /** `failure` is 400; with the status mode http, the status that the error number begins with. */
  readonly status: 100 | 200 | 204 | 404 | 405 | "failure";
  /** JSON of the Plant. */
  readonly plant?: string;
  /** JSON of the page of plants. */
  readonly page?: string;
  /** Error number; without it, any Error that the interface description allows. */
  readonly error?: ErrorKind;
  /** Header values; undefined for a header that must be absent. */
  readonly headers?: Readonly<Record<string, RegExp | undefined>>;
  /** Text that the body contains, or must not contain. */
  readonly contains?: RegExp;
  readonly containsNot?: RegExp;
  /** True for the response to HEAD. */
  readonly isBodiless?: true;
  /** Another response that is correct too. */
  readonly or?: ExpectedResponse;
}

type Checks = Omit<ExpectedResponse, "status" | "plant" | "page" | "error">;

/** 200 with a Plant. */
export function plant(json: string, checks: Checks = {}): ExpectedResponse {
  return { status: 200, plant: json, ...checks };
}

/** 200 with a page of plants. */
export function page(json: string, checks: Checks = {}): ExpectedResponse {
  return { status: 200, page: json, ...checks };
}

/** 204, the response to a delete. */
export function deleted({ headers, ...checks }: Checks = {}): ExpectedResponse {
  const absent = { "Content-Type": undefined, "Content-Length": undefined };
  return { status: 204, headers: { ...headers, ...absent }, ...checks };
}

/** A failure with any error number. */
export function failure(checks: Checks = {}): ExpectedResponse {
  return { status: "failure", ...checks };
}

/** A failure with one error number. Other paths and methods have their own status. */
export function error(kind: ErrorKind, checks: Checks = {}): ExpectedResponse {
  const status = kind === "noSuchPath" ? 404 : kind === "noSuchMethod" ? 405 : "failure";
  return { status, error: kind, ...checks };
}

/** 100 Continue. */
export const proceed: ExpectedResponse = { status: 100 };

/** A create of a plant with the name `fern`, with other headers. */
export function createFern(changes: HeaderChanges = {}): RequestTemplate {
  return create(fernBody, changes);
}

/** A GET of a path, without a credential. */
export function get(target: string, method = "GET"): RequestTemplate {
  return { method, target, headers: [["Host", "$HOST"]], body: "" };
}

/** Plant with the rule's first id. */
export const fernBody = '{"id":$ID,"name":"fern"}';
/** The response to {@link fernBody}. */
export const fern: ExpectedResponse = plant('{"name":"fern"}');

/** Head of a create as text, for rules about its exact bytes. It needs the headers about the body and an empty line. */
export const createHead =
  "POST $BASE/plants HTTP/1.1\r\nHost: $HOST\r\nAuthorization: Bearer $TOKEN\r\nContent-Type: application/json\r\n";

/** Creates the constructor of the rules under one heading. */
export function rulesUnder(heading: string) {
  return (name: string, ...exchanges: readonly Exchange[]): Rule => ({
    name,
    group: heading === "Given" ? "given" : "decided",
    heading,
    exchanges,
  });
}
