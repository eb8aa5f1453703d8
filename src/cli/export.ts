import { optionNames } from "../config";
import type { Command } from "./command";

export const exportCommand: Command = {
  name: "export",
  summary: "Print pages, components, monitors and webhooks as a file for apply.",
  flags: [{ name: "page", placeholder: "SLUG", help: "This page alone." }],
  options: optionNames("export"),
  // Loaded when it is called: a server need not hold a YAML writer in memory.
  run: async (invocation) => (await import("./export-run")).runExport(invocation),
};
