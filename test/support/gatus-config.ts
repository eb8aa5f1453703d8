import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Found } from "../../src/imports/found";
import { readGatus } from "../../src/imports/gatus/read";
import { temporaryFolder } from "./temporary-folder";

type GatusOptions = Parameters<typeof readGatus>[1];

const OPTIONS: GatusOptions = {
  history: undefined,
  envFile: undefined,
  environment: {},
  allowsUnset: false,
  readsNamedFiles: true,
};

/** Reads a configuration of Gatus from a text, beside files that it names. */
export async function readGatusText(
  text: string,
  files: Readonly<Record<string, string>> = {},
  options: Partial<GatusOptions> = {},
): Promise<Found> {
  using folder = temporaryFolder();
  for (const [name, content] of Object.entries({ ...files, "config.yaml": text })) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true });
    writeFileSync(join(folder.path, name), content);
  }
  return await readGatus(join(folder.path, "config.yaml"), { ...OPTIONS, ...options });
}

/** Reads one endpoint of these lines, beside other parts of the configuration. */
export async function readGatusEndpoint(
  lines: string,
  others = "",
  files: Readonly<Record<string, string>> = {},
) {
  const indented = lines.trim().replace(/\n/g, "\n    ");
  const found = await readGatusText(`endpoints:\n  - ${indented}\n${others}`, files);
  const [monitor, ...more] = found.monitors;
  return { found, monitor: monitor!, more };
}
