import { type Config, OPTIONS, type OptionName } from "./options";

/** Flags as given on the command line, by option. */
export type GivenFlags = Partial<Record<OptionName, string>>;

export type LoadedConfig = { config: Config } | { problems: string[] };

/**
 * Reads every option: the flag, else the environment variable, else the default. A wrong value never
 * stops at itself: all problems come back together, each a sentence that names where it came from.
 */
export function loadConfig(
  flags: GivenFlags,
  env: Record<string, string | undefined>,
): LoadedConfig {
  const problems: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(OPTIONS)) {
    const flag = flags[name as OptionName];
    const given = flag ?? env[option.env] ?? option.default;
    if (given === undefined) continue;
    try {
      config[name] = option.parse(given);
    } catch (error) {
      const where = flag === undefined ? option.env : `--${option.flag}`;
      problems.push(`${where} ${(error as Error).message}; it is "${given}".`);
    }
  }
  return problems.length > 0 ? { problems } : { config: config as unknown as Config };
}
