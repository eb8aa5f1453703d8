import { dirname, join } from "node:path";
import { IS_COMPILED } from "../../version";

/** Name of the internal command that copies a database: `copy-database DATABASE FILE`. */
export const COPY_COMMAND = "copy-database";

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
  const child = Bun.spawn([...program(), COPY_COMMAND, database, file], {
    env: environment(),
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

/** Returns the words that start this program: the executable, or the runtime with the sources. */
function program(): string[] {
  const sources = join(import.meta.dir, "..", "..", "main.ts");
  return IS_COMPILED ? [process.execPath] : [process.execPath, sources];
}

/** Returns the environment without the server's settings, which the child neither needs nor validates. */
function environment(): Record<string, string | undefined> {
  const isOfServer = (name: string) => name.startsWith("ALLCLEAR_");
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfServer(name)));
}
