import { residentBytes } from "./memory";
import { mainThreadMs } from "./processor-time";
import { isAnswered, untilAnswered } from "./ready";
import type { Workspace } from "./workspace";

/** Times and memory of one start. */
export interface Start {
  /** Milliseconds from exec until the path is answered. */
  ms: number;
  /** Processor time of the main thread until then, in milliseconds. */
  workMs: number;
  /** Resident memory right after that. */
  readyBytes: number;
  /** Milliseconds of the dashboard's first request after that. */
  dashboardMs: number;
}

export interface StartOptions {
  dataDir: string;
  port: number;
  /** Path whose first answer of 200 ends the start. */
  path: string;
  env?: Record<string, string>;
}

/**
 * Starts the server and stops it again. The clock starts right before the process is made, and a client connects
 * again as soon as it was refused.
 */
export async function startOnce(
  { allclear }: Workspace,
  { dataDir, port, path, env = {} }: StartOptions,
): Promise<Start> {
  const since = performance.now();
  const child = Bun.spawn(
    [allclear, "serve", "--data-dir", dataDir, "--listen", `127.0.0.1:${port}`],
    { env, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );
  try {
    await untilAnswered(child, port, path);
    const ms = performance.now() - since;
    const workMs = mainThreadMs(child.pid);
    const readyBytes = residentBytes(child.pid);
    const asked = performance.now();
    if (!(await isAnswered(port, "/admin/sign-in"))) throw new Error("the dashboard failed");
    return { ms, workMs, readyBytes, dashboardMs: performance.now() - asked };
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}
