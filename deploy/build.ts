/**
 * Compiles the executable: `bun deploy/build.ts` for this machine into dist/allclear, with `--all`
 * for every platform into dist/allclear-<platform>. `--outfile FILE` names another place. `--report` prints
 * a table of what this machine's executable contains.
 */
import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { BUNDLE } from "./bundle";
import { contentsTable } from "./contents";

/** Platforms with the runtime of each. Those for x64 also run on processors without AVX2, which many virtual machines hide. */
export const TARGETS = {
  "linux-x64": "bun-linux-x64-baseline",
  "linux-arm64": "bun-linux-arm64",
  "linux-x64-musl": "bun-linux-x64-baseline-musl",
  "linux-arm64-musl": "bun-linux-arm64-musl",
  "darwin-x64": "bun-darwin-x64-baseline",
  "darwin-arm64": "bun-darwin-arm64",
  "windows-x64": "bun-windows-x64-baseline",
} as const satisfies Record<string, Bun.Build.CompileTarget>;

export type Target = keyof typeof TARGETS;

/** Writes the executable for a platform; for this machine if none is named. */
export async function build(outfile: string, target?: Target): Promise<void> {
  await Bun.build({
    ...BUNDLE,
    // Parsed ahead of time: a start takes a third of the time. Top-level await needs the esm format.
    bytecode: true,
    compile: {
      outfile,
      ...(target === undefined ? {} : { target: TARGETS[target] }),
      // A bunfig.toml or an .env in the working directory is none of the executable's business.
      autoloadBunfig: false,
      autoloadDotenv: false,
    },
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      all: { type: "boolean", default: false },
      outfile: { type: "string" },
      report: { type: "boolean", default: false },
    },
  });
  mkdirSync("dist", { recursive: true });
  if (values.all) {
    for (const target of Object.keys(TARGETS) as Target[]) {
      await build(`dist/allclear-${target}`, target);
      console.log(`dist/allclear-${target}`);
    }
  } else {
    const outfile = values.outfile ?? "dist/allclear";
    await build(outfile);
    console.log(outfile);
    if (values.report) console.log(await contentsTable(outfile));
  }
}
