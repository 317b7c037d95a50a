/** The commands for who uses a plant store: login, status and logout. Each action loads its command when it is called. */
import type { Command } from "commander";
import { setHelp } from "./help/command-help.ts";
import * as help from "./help/tokens.ts";
import type { Invocation } from "../invocation.ts";
import type { Io } from "../io.ts";
import { refuseTokenOption, toOption } from "./options.ts";
import { clientSettings, type LoginFlags, type StatusFlags } from "../settings/client-settings.ts";

/** Adds `login`, `status` and `logout`. */
export function addLoginCommands(program: Command, io: Io, invocation: Invocation): void {
  const login = setHelp(program.command("login"), help.login).action(async (flags: LoginFlags) => {
    const module = await import("../commands/login.ts");
    invocation.exitCode = await module.login(flags, io, invocation.color);
  });

  const status = setHelp(program.command("status"), help.status)
    .option("--json", "JSON, also on a terminal")
    .action(async (flags: StatusFlags) => {
      const module = await import("../commands/status.ts");
      invocation.exitCode = await module.status(flags, io, invocation.color);
    });

  const logout = setHelp(program.command("logout"), help.logout).action(
    async (flags: Pick<LoginFlags, "url">) => {
      const module = await import("../commands/logout.ts");
      invocation.exitCode = await module.logout(flags, io);
    },
  );

  for (const command of [login, status, logout]) {
    command.addOption(toOption(clientSettings.url));
    refuseTokenOption(command, 'run "plantstore login", which asks for it');
  }
  for (const command of [login, status]) command.addOption(toOption(clientSettings.timeout));
}
