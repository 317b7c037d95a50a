/** Runs the rules against a server. */
import { toEndpoint } from "../../src/core/base-url.ts";
import { setMaxListeners } from "node:events";
import type { StatusMode } from "../../src/core/errors.ts";
import type { Placeholders } from "./request-template.ts";
import { checkConversation } from "./check.ts";
import {
  type Conversation,
  converse as converseOnConnection,
  type Target,
} from "./conversation.ts";
import type { Exchange, Rule } from "./rule.ts";

/** Number of ids that a rule may use. */
export const idsPerRule = 50;
/** Rules that run at a time. */
const maxConcurrency = 16;

/** Options of a run. */
export interface RunOptions extends Target {
  readonly statusMode: StatusMode;
  /** The first id that may be used: 15 digits. */
  readonly firstId: bigint;
  /** Carries out an exchange. Default: on a connection. */
  readonly converse?: (exchange: Exchange, values: Placeholders) => Promise<Conversation>;
}

/** The result of a rule. */
export interface RuleResult {
  readonly rule: Rule;
  /** Describes how the server breaks the rule; undefined if it keeps it. */
  readonly problem: string | undefined;
  readonly conversations: readonly Conversation[];
}

/**
 * Runs rules, several at a time.
 *
 * @param onResult receives each result as soon as it is known
 * @returns the results, in the order of the rules
 * @throws the signal's reason, once it is aborted
 */
export async function runRules(
  rules: readonly Rule[],
  options: RunOptions,
  onResult: (result: RuleResult) => void = () => {},
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = [];
  // Each connection listens once.
  setMaxListeners(0, options.signal);
  let next = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < rules.length; index = next++) {
      const rule = rules[index] as Rule;
      const result = await runRule(rule, toPlaceholders(options, index), options);
      results[index] = result;
      onResult(result);
    }
  }
  await Promise.all(Array.from({ length: maxConcurrency }, work));
  return results;
}

/** Values for the rule at an index. */
export function toPlaceholders(
  { url, token, firstId }: Pick<RunOptions, "url" | "token" | "firstId">,
  index: number,
): Placeholders {
  const { host, pathname } = new URL(toEndpoint(url).httpUrl);
  const basePath = pathname.replace(/\/$/, "");
  return { host, basePath, token, id: firstId + BigInt(index * idsPerRule) };
}

async function runRule(rule: Rule, values: Placeholders, options: RunOptions): Promise<RuleResult> {
  const { exchanges, isRace = false } = rule;
  const { converse = (exchange, sent) => converseOnConnection(options, exchange, sent) } = options;
  const conversations: Conversation[] = [];
  if (isRace) {
    const racing = exchanges.map((exchange) => converse(exchange, values));
    conversations.push(...(await Promise.all(racing)));
  }
  for (const [index, exchange] of exchanges.entries()) {
    const conversation = conversations[index] ?? (await converse(exchange, values));
    conversations[index] = conversation;
    const problem = checkConversation(conversation, exchange, values, options.statusMode);
    if (problem === undefined) continue;
    const place = exchanges.length > 1 ? `connection ${index + 1}: ` : "";
    return { rule, conversations, problem: place + problem };
  }
  const count = conversations.filter(({ responses }) => responses[0]?.status === 200).length;
  const problem =
    isRace && count !== 1 ? `expected status 200 on one connection, but on ${count}` : undefined;
  return { rule, conversations, problem };
}
