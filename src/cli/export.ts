import { optionNames } from "../config";
import type { Command } from "./command";

export const exportCommand: Command = {
  name: "export",
  summary: "Print pages, components, monitors, webhooks and templates as a file for apply.",
  flags: [{ name: "page", placeholder: "SLUG", help: "Export this page only." }],
  options: optionNames("export"),
  // Loaded on demand, so that a server does not need memory for the YAML library.
  run: async (invocation) => (await import("./export-run")).runExport(invocation),
};
