import { loadConfig } from "../../src/base/config/load";
import { type Installation, openForCommand } from "../../src/installation";

/**
 * Opens a data directory as a command does. Throws for one that is not there, unless it may be made.
 * Whoever sends requests within the process may send a million a minute.
 */
export function openData(
  dataDir: string,
  {
    canCreate = false,
    settings = {},
  }: { canCreate?: boolean; settings?: Readonly<Record<string, string>> } = {},
): Installation {
  const flags = { dataDir, logLevel: "warn", publicRateLimit: "1000000", ...settings };
  const loaded = loadConfig(flags, {});
  if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
  return openForCommand(loaded.config, "bench", { canCreate });
}
