/** The commands that tell about plantstore itself. Each action loads its command when it is called. */
import type { Command } from "commander";
import * as help from "./help.ts";
import type { Invocation } from "./invocation.ts";
import type { Io } from "./io.ts";
import { toOption } from "./options.ts";
import { clientSettings, type DoctorFlags, type OpenApiFlags } from "./settings/client-settings.ts";
import { readerSettings } from "./settings/reader-settings.ts";

/** Adds `openapi`, `explain`, `doctor` and `completion`. */
export function addAboutCommands(program: Command, io: Io, invocation: Invocation): void {
  program
    .command("openapi")
    .summary(help.openapi.summary)
    .description(help.openapi.description)
    .addHelpText("after", help.openapi.after)
    .option("--yaml", "YAML instead of JSON")
    .addOption(toOption(clientSettings.url))
    .action(async (flags: OpenApiFlags) => {
      const module = await import("./commands/openapi.ts");
      invocation.exitCode = await module.printOpenApi(module.toOpenApiOptions(flags, io), io);
    });

  program
    .command("explain")
    .summary(help.explain.summary)
    .description(help.explain.description)
    .addHelpText("after", help.explain.after)
    .argument("[error]", "its number or its name; all of them are listed without")
    .action(async (error: string | undefined) => {
      const module = await import("./commands/explain.ts");
      invocation.exitCode = await module.explain(error, io);
    });

  program
    .command("doctor")
    .summary(help.doctor.summary)
    .description(help.doctor.description)
    .addHelpText("after", help.doctor.after)
    .option("--json", "JSON, also on a terminal")
    .addOption(toOption(readerSettings.store))
    .addOption(toOption(clientSettings.url))
    .addOption(toOption(clientSettings.timeout))
    .action(async (flags: DoctorFlags) => {
      const module = await import("./commands/doctor.ts");
      invocation.exitCode = await module.doctor(flags, io, invocation.color);
    });

  program
    .command("completion")
    .summary(help.completion.summary)
    .description(help.completion.description)
    .addHelpText("after", help.completion.after)
    .argument("<shell>", "bash, zsh or fish")
    .action(async (shell: string) => {
      const module = await import("./commands/completion.ts");
      invocation.exitCode = await module.completion(shell, io);
    });
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      const module = await import("./commands/completion.ts");
      invocation.exitCode = await module.complete(program, words, io);
    });
}
