import { readFileSync } from "node:fs";

const NANOSECONDS_PER_MS = 1e6;
const MICROSECONDS_PER_MS = 1e3;

/**
 * For how many ms, since any moment, this thread has had something to do: on a processor or, where Linux
 * tells that too, waiting for one that others have. On a machine whose processors are taken, or in a
 * container with a part of one, only both together say that it is busy.
 */
export function threadBusyMs(): number {
  return linuxBusyMs() ?? processorMs();
}

function linuxBusyMs(): number | undefined {
  try {
    // Of the process's first thread, which is the one that serves.
    const [running, waiting] = readFileSync("/proc/self/schedstat", "latin1")
      .split(" ")
      .map(Number);
    const sum = (running ?? 0) + (waiting ?? 0);
    return sum > 0 ? sum / NANOSECONDS_PER_MS : undefined;
  } catch {
    return undefined;
  }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / MICROSECONDS_PER_MS;
}
