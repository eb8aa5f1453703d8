import { dirname } from "node:path";
import { COPY_COMMAND, environmentWithoutSettings, ownProgram } from "../../base/own-program";

/** Maximum number of characters of an error. */
const ERROR_MAX = 2_000;

/** Copies a database into a new file until the signal aborts. Resolves to the error, if there is one. */
export type CopyDatabase = (
  database: string,
  file: string,
  signal: AbortSignal,
) => Promise<string | undefined>;

/**
 * Copies a database in another process, which the signal kills. In this process, copying a large database
 * would delay all requests and could not be stopped.
 */
export const copyInProcess: CopyDatabase = async (database, file, signal) => {
  if (signal.aborted) return "aborted";
  const child = Bun.spawn([...ownProgram(), COPY_COMMAND, database, file], {
    // The child neither needs nor validates the settings.
    env: environmentWithoutSettings(),
    // Not the working directory of the server, which could contain settings for the runtime.
    cwd: dirname(file),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  try {
    const errors = await new Response(child.stderr).text();
    const exitCode = await child.exited;
    return exitCode === 0 ? undefined : errors.slice(0, ERROR_MAX) || `exit code ${exitCode}`;
  } finally {
    signal.removeEventListener("abort", kill);
  }
};
