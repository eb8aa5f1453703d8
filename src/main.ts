/** The command line, from arguments to an exit code. */
import { COMMANDS } from "./cli/commands";
import { processInput } from "./cli/input";
import { processOutput } from "./cli/output";
import { runCommandLine } from "./cli/run";

process.exit(
  await runCommandLine(
    COMMANDS,
    process.argv.slice(2),
    process.env,
    processOutput(),
    processInput(),
  ),
);
