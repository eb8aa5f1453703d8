/**
 * Compiles the executable: `bun deploy/build.ts` for this machine into dist/allclear, with `--all`
 * for every platform into dist/allclear-<platform>. `--outfile FILE` names another place. `--report` prints
 * a table of what this machine's executable contains.
 */
import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { BUNDLE } from "./bundle";
import { contentsTable } from "./contents";

const TARGETS = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;

const { values } = parseArgs({
  options: {
    all: { type: "boolean", default: false },
    outfile: { type: "string" },
    report: { type: "boolean", default: false },
  },
});

mkdirSync("dist", { recursive: true });
if (values.all) {
  for (const target of TARGETS) await build(`dist/allclear-${target}`, `bun-${target}`);
} else {
  await build(values.outfile ?? "dist/allclear");
}

async function build(outfile: string, target?: Bun.Build.CompileTarget): Promise<void> {
  await Bun.build({
    ...BUNDLE,
    // Parsed ahead of time: a start takes a third of the time. Top-level await needs the esm format.
    bytecode: true,
    compile: {
      outfile,
      ...(target === undefined ? {} : { target }),
      // A bunfig.toml or an .env in the working directory is none of the executable's business.
      autoloadBunfig: false,
      autoloadDotenv: false,
    },
  });
  console.log(outfile);
  if (values.report && target === undefined) console.log(await contentsTable(outfile));
}
