import { readFileSync } from "node:fs";

/**
 * Milliseconds that a process's main thread has been on a processor (Linux's schedstat), which what
 * else runs on the machine does not add to. Exact where the thread sleeps.
 */
export function mainThreadMs(pid: number): number {
  const nanoseconds = Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ", 1)[0]);
  if (!(nanoseconds > 0)) throw new Error(`process ${pid} tells nothing of its processor time`);
  return nanoseconds / 1e6;
}
