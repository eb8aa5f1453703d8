import { readFileSync } from "node:fs";

/** Linux's `USER_HZ`, in which `stat` counts. */
const TICK_MS = 10;

/**
 * Milliseconds that a process's main thread has been on a processor (Linux's schedstat), which what
 * else runs on the machine does not add to. Exact where the thread sleeps.
 */
export function mainThreadMs(pid: number): number {
  const nanoseconds = Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ", 1)[0]);
  if (!(nanoseconds > 0)) throw new Error(`process ${pid} tells nothing of its processor time`);
  return nanoseconds / 1e6;
}

/** The same of all its threads, those that have ended too, to a hundredth of a second. */
export function processMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  if (!(ticks >= 0)) throw new Error(`process ${pid} tells nothing of its processor time`);
  return ticks * TICK_MS;
}
