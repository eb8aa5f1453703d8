import { optionNames } from "../config";
import { type Command, type Flag, JSON_FLAG } from "./command";

/** Flags of every import. */
const IMPORT_FLAGS: readonly Flag[] = [
  { name: "dry-run", help: "Print the plan without changing anything." },
  {
    name: "source",
    placeholder: "NAME",
    help: "Name of the source, to tell several of a kind apart; default: default.",
  },
  { name: "paused", help: "Create monitors paused and webhooks disabled, until `import start`." },
  { name: "only", placeholder: "KIND", help: "Only pages, monitors, webhooks or history." },
  {
    name: "internal-page",
    placeholder: "SLUG",
    help: "Private page for monitors that are on no page, or none; default: internal.",
  },
  {
    name: "take-domains",
    help: "Give pages their custom domains; without it they are only listed.",
  },
  { name: "yes", help: "Import without asking." },
  { ...JSON_FLAG, help: "Print the report as JSON." },
  { name: "report", placeholder: "FILE", help: "Also write the report to FILE, as JSON." },
];

// The code is loaded on demand, since other commands do not need it.
export const importCommands: readonly Command[] = [
  {
    name: "import healthchecks",
    summary: "Import checks from PATH, an answer of Healthchecks to GET /api/v3/checks/.",
    positionals: ["PATH"],
    flags: [
      {
        name: "ping-key",
        placeholder: "KEY",
        help: "Take over addresses with this ping key and slugs.",
      },
      ...IMPORT_FLAGS,
    ],
    options: optionNames("import"),
    run: async (invocation) => (await import("./import-run")).runHealthchecks(invocation),
  },
  {
    name: "import list",
    summary: "List imports, newest first.",
    flags: [JSON_FLAG],
    options: optionNames("import"),
    run: async (invocation) => (await import("./import-run")).runList(invocation),
  },
  {
    name: "import show",
    summary: "Print the report of an import.",
    positionals: ["ID"],
    flags: [JSON_FLAG],
    options: optionNames("import"),
    run: async (invocation) => (await import("./import-run")).runShow(invocation),
  },
  {
    name: "import start",
    summary: "Start the monitors and webhooks that an import with --paused created.",
    positionals: ["ID"],
    flags: [JSON_FLAG],
    options: optionNames("import"),
    run: async (invocation) => (await import("./import-run")).runStart(invocation),
  },
];
