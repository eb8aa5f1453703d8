/** The command line, from arguments to an exit code. */
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
  backupCommand,
  restoreCommand,
  healthcheckCommand,
  openapiCommand,
];

process.exit(
  await runCommandLine(COMMANDS, process.argv.slice(2), process.env, {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
  }),
);
