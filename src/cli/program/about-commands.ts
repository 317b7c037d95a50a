/** The commands that tell about plantstore itself. Each action loads its command when it is called. */
import type { Command } from "commander";
import { setHelp } from "./help/command-help.ts";
import * as help from "./help/about.ts";
import type { Invocation } from "../invocation.ts";
import type { Io } from "../io.ts";
import { toOption } from "./options.ts";
import {
  clientSettings,
  type DoctorFlags,
  type OpenApiFlags,
} from "../settings/client-settings.ts";
import { readerSettings } from "../settings/reader-settings.ts";

/** Adds `doctor`, `explain`, `openapi` and `completion`. */
export function addAboutCommands(program: Command, io: Io, invocation: Invocation): void {
  setHelp(program.command("doctor"), help.doctor)
    .option("--json", "JSON, also on a terminal")
    .addOption(toOption(readerSettings.store))
    .addOption(toOption(clientSettings.url))
    .addOption(toOption(clientSettings.timeout))
    .action(async (flags: DoctorFlags) => {
      const module = await import("../commands/doctor.ts");
      invocation.exitCode = await module.doctor(flags, io, invocation.color);
    });

  setHelp(program.command("explain"), help.explain)
    .argument("[error]", "its number or its name; without it all are listed")
    .action(async (error: string | undefined) => {
      const module = await import("../commands/explain.ts");
      invocation.exitCode = await module.explain(error, io);
    });

  setHelp(program.command("openapi"), help.openapi)
    .option("--yaml", "YAML instead of JSON")
    .addOption(toOption(clientSettings.url))
    .action(async (flags: OpenApiFlags) => {
      const module = await import("../commands/openapi.ts");
      invocation.exitCode = await module.printOpenApi(module.toOpenApiOptions(flags, io), io);
    });

  setHelp(program.command("completion"), help.completion)
    .argument("<shell>", "bash, zsh or fish")
    .action(async (shell: string) => {
      const module = await import("../commands/completion.ts");
      invocation.exitCode = await module.completion(shell, io);
    });
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      const module = await import("../commands/completion.ts");
      invocation.exitCode = await module.complete(program, words, io);
    });
}
