/** Reports the contents of an executable by their origin. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { BUNDLE } from "./bundle";

/** Smallest origin with a line of its own. */
const LISTED_BYTES = 20_000;

/** Returns a Markdown table of what the executable contains, in kB. */
export async function contentsTable(outfile: string): Promise<string> {
  // Only a build without an executable lists the linked files.
  const { metafile, outputs } = await Bun.build({ ...BUNDLE, metafile: true });
  const assets = outputs.filter(({ kind }) => kind === "asset");
  const assetNames = new Set(assets.map(({ path }) => basename(path)));
  const code = new Map<string, number>();
  for (const [path, { inputs }] of Object.entries(metafile?.outputs ?? {})) {
    if (assetNames.has(basename(path))) continue;
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
      const origin = originOf(input);
      code.set(origin, (code.get(origin) ?? 0) + bytesInOutput);
    }
  }
  const files = assets.reduce((total, { size }) => total + size, 0);
  const listed = [...code].filter(([, bytes]) => bytes >= LISTED_BYTES);
  const rest = [...code].filter(([, bytes]) => bytes < LISTED_BYTES);
  const runtime = await runtimeBytes();
  const bytecode = statSync(outfile).size - runtime - files - sum([...code]);
  return [
    "| content | kB |",
    "|---|---|",
    line("Bun, with its padding", runtime),
    line("Bytecode of all code below", bytecode),
    line("Linked files: API reference, styles, scripts, font", files),
    ...listed.sort(([, a], [, b]) => b - a).map(([origin, bytes]) => line(origin, bytes)),
    line(`${rest.length} smaller parts`, sum(rest)),
  ].join("\n");
}

function sum(parts: [string, number][]): number {
  return parts.reduce((total, [, bytes]) => total + bytes, 0);
}

function line(content: string, bytes: number): string {
  return `| ${content} | ${Math.round(bytes / 1_000).toLocaleString("en-US")} |`;
}

/** Returns the library of a bundled file, or its folder in `src`. */
function originOf(path: string): string {
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1];
  const [, folder] = /(?:^|\/)src\/([^/]+)\//.exec(path) ?? [];
  if (library !== undefined) return `\`${library}\``;
  return folder === undefined ? "`src/*.ts`, migrations" : `\`src/${folder}/\``;
}

/** Returns the size of an executable without any code. */
async function runtimeBytes(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "empty-"));
  try {
    const entry = join(folder, "empty.ts");
    const outfile = join(folder, "empty");
    await Bun.write(entry, "export {};\n");
    await Bun.build({ entrypoints: [entry], format: "esm", compile: { outfile } });
    return statSync(outfile).size;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
