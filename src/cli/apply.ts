import { optionNames } from "../base/config/options";
import { type Command, JSON_FLAG } from "./command";
import { printJson } from "./process";

export const applyCommand: Command = {
  name: "apply",
  summary:
    "Create and change pages, components, monitors, webhooks, templates and schedules as FILE declares. - reads standard input.",
  positionals: ["FILE"],
  flags: [
    { name: "dry-run", help: "Print the changes without making them." },
    { name: "prune", help: "Remove objects of an earlier apply that FILE no longer contains." },
    JSON_FLAG,
  ],
  // Needed to check the URLs of webhooks.
  options: [...optionNames("apply"), "outboundAllow"],
  // Loaded on demand, so that a server does not need memory for the YAML library.
  run: async (invocation) => (await import("./apply-run")).runApply(invocation),
};

export const exportCommand: Command = {
  name: "export",
  summary:
    "Print pages, components, monitors, webhooks, templates and schedules as a file for apply.",
  flags: [
    {
      name: "page",
      placeholder: "SLUG",
      help: "Export this page only, without references to objects outside it.",
    },
  ],
  options: optionNames("export"),
  // Loaded on demand, so that a server does not need memory for the YAML library.
  run: async (invocation) => (await import("./apply-run")).runExport(invocation),
};

export const schemaCommand: Command = {
  name: "schema",
  summary: "Print the JSON Schema of the file for apply, as served at /schema/config.json.",
  options: optionNames("schema"),
  async run({ output }) {
    const { configFileSchema } = await import("../features/apply/schema");
    printJson(output, configFileSchema());
    return 0;
  },
};
