/** The commands for who uses a plant store: login, logout and status. Each action loads its command when it is called. */
import type { Command } from "commander";
import * as help from "./help.ts";
import type { Invocation } from "./invocation.ts";
import type { Io } from "./io.ts";
import { refuseTokenOption, toOption } from "./options.ts";
import { clientSettings, type LoginFlags, type StatusFlags } from "./settings/client-settings.ts";

/** Adds `login`, `logout` and `status`. */
export function addLoginCommands(program: Command, io: Io, invocation: Invocation): void {
  const login = program
    .command("login")
    .summary(help.login.summary)
    .description(help.login.description)
    .addHelpText("after", help.login.after)
    .action(async (flags: LoginFlags) => {
      const module = await import("./commands/login.ts");
      invocation.exitCode = await module.login(flags, io, invocation.color);
    });

  const logout = program
    .command("logout")
    .summary(help.logout.summary)
    .description(help.logout.description)
    .addHelpText("after", help.logout.after)
    .action(async (flags: LoginFlags) => {
      const module = await import("./commands/logout.ts");
      invocation.exitCode = await module.logout(flags, io);
    });

  const status = program
    .command("status")
    .summary(help.status.summary)
    .description(help.status.description)
    .addHelpText("after", help.status.after)
    .option("--json", "JSON, also on a terminal")
    .action(async (flags: StatusFlags) => {
      const module = await import("./commands/status.ts");
      invocation.exitCode = await module.status(flags, io, invocation.color);
    });

  for (const command of [login, logout, status]) {
    command.addOption(toOption(clientSettings.url));
    refuseTokenOption(command, 'run "plantstore login", which asks for it');
  }
  for (const command of [login, status]) command.addOption(toOption(clientSettings.timeout));
}
