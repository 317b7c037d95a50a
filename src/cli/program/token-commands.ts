/** The commands below `plantstore token`. Each action loads its command when it is called. */
import type { Command } from "commander";
import type { IssueFlags } from "../commands/token-issue.ts";
import type { TokenListFlags } from "../commands/token-list.ts";
import { setHelp } from "./help/command-help.ts";
import * as help from "./help/tokens.ts";
import type { Invocation } from "../invocation.ts";
import type { Io } from "../io.ts";
import { createOption, toOption } from "./options.ts";
import { type ReaderFlags, readerSettings } from "../settings/reader-settings.ts";

/** Adds `token issue`, `token list` and `token revoke`. */
export function addTokenCommands(program: Command, io: Io, invocation: Invocation): void {
  const token = setHelp(program.command("token"), help.token)
    .enablePositionalOptions()
    .hook("preSubcommand", (_, command) => {
      invocation.command = `token ${command.name()}`;
    });

  setHelp(token.command("issue"), help.tokenIssue)
    .addOption(createOption("--name <text>", "what it is for, such as ci"))
    .addOption(
      createOption("--expires <time>", "how long it is good: 90m, 12h, 30d\n(default: for ever)"),
    )
    .action(async (flags: IssueFlags) => {
      const module = await import("../commands/token-issue.ts");
      invocation.exitCode = await module.issueToken(module.toIssueOptions(flags, io), io);
    });

  setHelp(token.command("list"), help.tokenList)
    .option("--json", "JSON, also on a terminal")
    .action(async (flags: TokenListFlags) => {
      const module = await import("../commands/token-list.ts");
      invocation.exitCode = await module.listTokens(flags, io);
    });

  setHelp(token.command("revoke"), help.tokenRevoke)
    .argument("<token>", "its name or its prefix")
    .action(async (wanted: string, flags: ReaderFlags) => {
      const module = await import("../commands/token-revoke.ts");
      invocation.exitCode = await module.revokeToken(flags, wanted, io);
    });

  for (const command of token.commands) command.addOption(toOption(readerSettings.store));
}
