import { join } from "node:path";
import type { Workspace } from "./workspace";

/** As deploy/build.ts compiles Allclear, so that programs are compared and not their packaging. */
const FLAGS = [
  "--compile",
  "--bytecode",
  "--format=esm",
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-dotenv",
];

/** Compiles one of the bench's own programs and answers the executable's path. */
export function compileProgram(workspace: Workspace, name: string): string {
  const outfile = workspace.path(name);
  const source = join(import.meta.dir, "../programs", `${name}.ts`);
  const { exitCode, stderr } = Bun.spawnSync(
    [process.execPath, "build", ...FLAGS, "--outfile", outfile, source],
    { stdout: "ignore", stderr: "pipe" },
  );
  if (exitCode !== 0) throw new Error(`${name} does not compile:\n${stderr.toString()}`);
  return outfile;
}
