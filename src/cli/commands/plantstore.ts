/** Declares `plantstore`, with a row for each of its commands. */
import { commonExitCodes } from "../command-error.ts";
import { type Command, type CommandRow, commandGroups, tokenAdvice } from "../command.ts";

/** `help`, of `plantstore` and of its groups. */
export const helpRow: CommandRow = {
  name: "help",
  group: commandGroups.other,
  summary: "Show help for a command or a topic",
  arguments: [{ name: "[word...]", help: "Command or topic" }],
  load: async () => (await import("./help.ts")).helpCommand,
};

export const plantstoreCommand: Command = {
  name: "plantstore",
  summary: "Durable store of plants",
  description: "Stores plants durably behind an HTTP service, and sends plants to it.",
  examples: [
    "plantstore serve                      start a plant store",
    "plantstore create --id 1 --name fern  create a plant in it",
    "plantstore list                       show the plants in it",
    "plantstore create --help              explain a command",
  ],
  environment: [["NO_COLOR, FORCE_COLOR", "Disable colour, or use it everywhere"]],
  environmentNote:
    'Options also have variables, such as PLANTSTORE_URL for --url: see "plantstore help configuration".',
  exitCodes: commonExitCodes,
  exitCodesNote: 'See "plantstore COMMAND --help" for those of a command.',
  tokenAdvice,
  commands: [
    {
      name: "serve",
      group: commandGroups.server,
      summary: "Start a plant store",
      load: async () => (await import("./serve/command.ts")).serveCommand,
    },
    {
      name: "create",
      group: commandGroups.remote,
      summary: "Create plants",
      arguments: [
        { name: "[file...]", help: "Files with plants; - is standard input", isFile: true },
      ],
      load: async () => (await import("./create/command.ts")).createCommand,
    },
    {
      name: "login",
      group: commandGroups.remote,
      summary: "Save a token for a plant store",
      load: async () => (await import("./login.ts")).loginCommand,
    },
    {
      name: "logout",
      group: commandGroups.remote,
      summary: "Remove the saved token for a plant store",
      load: async () => (await import("./login.ts")).logoutCommand,
    },
    {
      name: "status",
      group: commandGroups.remote,
      summary: "Show server, token, store and settings, and their problems",
      load: async () => (await import("./status.ts")).statusCommand,
    },
    {
      name: "ping",
      group: commandGroups.remote,
      summary: "Check whether a plant store is ready",
      load: async () => (await import("./ping.ts")).pingCommand,
    },
    {
      name: "list",
      group: commandGroups.plants,
      summary: "List plants",
      load: async () => (await import("./read.ts")).listCommand,
    },
    {
      name: "get",
      group: commandGroups.plants,
      summary: "Print plants by their ids",
      arguments: [{ name: "<id...>", help: "Ids of the plants; - reads them from standard input" }],
      load: async () => (await import("./read.ts")).getCommand,
    },
    {
      name: "export",
      group: commandGroups.plants,
      summary: "Print all plants",
      load: async () => (await import("./read.ts")).exportCommand,
    },
    {
      name: "delete",
      group: commandGroups.plants,
      summary: "Delete plants by their ids",
      arguments: [{ name: "<id...>", help: "Ids of the plants; - reads them from standard input" }],
      load: async () => (await import("./delete.ts")).deleteCommand,
    },
    {
      name: "token",
      group: commandGroups.local,
      summary: "Issue, list and revoke tokens in a store",
      load: async () => (await import("./token.ts")).tokenCommand,
    },
    {
      name: "backup",
      group: commandGroups.local,
      summary: "Copy a store to a file",
      arguments: [{ name: "<file>", help: "File to write", isFile: true }],
      load: async () => (await import("./backup.ts")).backupCommand,
    },
    {
      name: "verify",
      group: commandGroups.local,
      summary: "Check a backup or a store for damage",
      arguments: [{ name: "<file>", help: "Backup or store to check", isFile: true }],
      load: async () => (await import("./backup.ts")).verifyCommand,
    },
    {
      name: "restore",
      group: commandGroups.local,
      summary: "Replace a store with a backup",
      arguments: [{ name: "<file>", help: "Backup to restore", isFile: true }],
      load: async () => (await import("./backup.ts")).restoreCommand,
    },
    {
      name: "explain",
      group: commandGroups.other,
      summary: "Explain an error number",
      arguments: [{ name: "[error...]", help: "Error numbers or names; without them, lists all" }],
      load: async () => (await import("./reference.ts")).explainCommand,
    },
    {
      name: "openapi",
      group: commandGroups.other,
      summary: "Print the interface description (OpenAPI)",
      load: async () => (await import("./reference.ts")).openApiCommand,
    },
    {
      name: "completion",
      group: commandGroups.other,
      summary: "Print the completion script for a shell",
      arguments: [{ name: "[shell]", help: "bash, zsh or fish" }],
      load: async () => (await import("./completion.ts")).completionCommand,
    },
    helpRow,
    {
      name: "__complete",
      isHidden: true,
      summary: "Print candidates for completion",
      arguments: [{ name: "[words...]", help: "The words of a command line after plantstore" }],
      load: async () => (await import("./completion.ts")).candidatesCommand,
    },
  ],
  otherNames: {
    start: "serve",
    config: "status",
    doctor: "status",
    import: "create",
    add: "create",
    put: "create",
    update: "create",
    rm: "delete",
    remove: "delete",
    show: "get",
    ls: "list",
    count: "list --count",
    version: "--version",
  },
};
