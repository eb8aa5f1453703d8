/** The command line, from arguments to an exit code. */
import { applyCommand } from "./cli/apply";
import { backupCommand, restoreCommand } from "./cli/backup";
import type { Command } from "./cli/command";
import { healthcheckCommand } from "./cli/healthcheck";
import { keyCommands } from "./cli/key";
import { openapiCommand } from "./cli/openapi";
import { runCommandLine } from "./cli/run";
import { serveCommand } from "./cli/serve";

const COMMANDS: readonly Command[] = [
  serveCommand,
  ...keyCommands,
  applyCommand,
  backupCommand,
  restoreCommand,
  healthcheckCommand,
  openapiCommand,
];

const exitCode = await runCommandLine(COMMANDS, process.argv.slice(2), process.env, {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
});
// A pipe takes a long answer piece by piece; an exit before the last one would cut it off.
await Promise.all([process.stdout, process.stderr].map(finished));
process.exit(exitCode);

/** Resolves once all that was written is out, or its reader has gone away. */
function finished(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.end(() => resolve()));
}
