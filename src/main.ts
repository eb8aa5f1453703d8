/** The command line, from arguments to an exit code. */
import { applyCommand } from "./cli/apply";
import { backupCommand, restoreCommand } from "./cli/backup";
import type { Command } from "./cli/command";
import { healthcheckCommand } from "./cli/healthcheck";
import { keyCommands } from "./cli/key";
import { openapiCommand } from "./cli/openapi";
import { processOutput } from "./cli/output";
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

process.exit(
  await runCommandLine(COMMANDS, process.argv.slice(2), process.env, processOutput()),
);
