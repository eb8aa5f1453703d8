import { readFileSync, writeFileSync } from "node:fs";

/** The bytes of a process that are in memory now (Linux's VmRSS, its shared pages included). */
export function residentBytes(pid: number): number {
  return readStatus(pid, "VmRSS");
}

/** The most of them that there were at any moment since `forgetPeak`, else since the start. */
export function peakResidentBytes(pid: number): number {
  return readStatus(pid, "VmHWM");
}

/** The bytes in memory that are no pages of files. The system cannot drop them and read them again. */
export function privateBytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Anonymous: +(\d+) kB$/m.exec(rollup)?.[1]) * 1_024;
}

/** Lets the peak of a process begin anew. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function readStatus(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status);
  if (!line) throw new Error(`process ${pid} tells nothing of its memory`);
  return Number(line[1]) * 1_024;
}
