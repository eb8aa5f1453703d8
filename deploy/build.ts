/**
 * Compiles the executable: `bun deploy/build.ts` for this machine into dist/allclear, with `--all`
 * for every platform into dist/allclear-<platform>. `--outfile FILE` names another place.
 */
import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";

const TARGETS = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;

const FLAGS = [
  "--compile",
  // Parsed ahead of time: a start takes a third of the time. Top-level await needs the esm format.
  "--bytecode",
  "--format=esm",
  // In parts, so that what a start does not need is read when something does.
  "--splitting",
  // Modules of threads lie in the executable's root, beside the part that starts them.
  "--entry-naming=[name].[ext]",
  // A bunfig.toml or an .env in the working directory is none of the executable's business.
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-dotenv",
  // Never --minify: routes break under Elysia's ahead-of-time compilation, and it saves nothing.
];

/** Modules that run in threads of their own. */
const THREADS = ["src/features/monitors/assertions/assertion-thread.ts"];

const { values } = parseArgs({
  options: { all: { type: "boolean", default: false }, outfile: { type: "string" } },
});

mkdirSync("dist", { recursive: true });
if (values.all) {
  for (const target of TARGETS) build(`dist/allclear-${target}`, [`--target=bun-${target}`]);
} else {
  build(values.outfile ?? "dist/allclear", []);
}

function build(outfile: string, extra: readonly string[]): void {
  const command = [
    process.execPath,
    "build",
    ...FLAGS,
    ...extra,
    "--outfile",
    outfile,
    "src/main.ts",
    ...THREADS,
  ];
  const { exitCode } = Bun.spawnSync(command, { stdout: "ignore", stderr: "inherit" });
  if (exitCode !== 0) process.exit(exitCode);
  console.log(outfile);
}
