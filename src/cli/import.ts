import { PROXY_OPTION_NAMES } from "../base/config/network";
import { optionNames } from "../base/config/options";
import { flagOf, IMPORT_SOURCES, type ImportSource, type SourceOption } from "../imports/sources";
import { type Command, type Flag, type Invocation, JSON_FLAG } from "./command";

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
    name: "history-days",
    placeholder: "N",
    help: "Days of history to import, all, or none; default: all.",
  },
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

function declareFlag(option: SourceOption): Flag {
  const { type, placeholder, help } = option;
  return {
    name: flagOf(option),
    ...(type === "switch" || placeholder === undefined ? {} : { placeholder }),
    help,
  };
}

/** Placeholder of the source in the help. */
function placeholderOf({ takes }: ImportSource): string {
  return takes.includes("url") ? "URL|PATH" : "PATH";
}

// The code is loaded on demand, since other commands do not need it.
export const importCommands: readonly Command[] = [
  ...IMPORT_SOURCES.map((source) => ({
    name: `import ${source.kind}`,
    summary: `Import from ${source.product}. ${placeholderOf(source)} is ${source.content}.`,
    positionals: [placeholderOf(source)],
    flags: [...source.options.map(declareFlag), ...IMPORT_FLAGS],
    options: source.takes.includes("url")
      ? [...optionNames("import"), "outboundAllow" as const, ...PROXY_OPTION_NAMES]
      : optionNames("import"),
    run: async (invocation: Invocation) =>
      (await import("./import-run")).runImport(source, invocation),
  })),
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
