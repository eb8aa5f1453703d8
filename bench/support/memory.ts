import { readFileSync } from "node:fs";

/** The bytes of a process that are in memory now (Linux's VmRSS, its shared pages included). */
export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (!line) throw new Error(`process ${pid} tells nothing of its memory`);
  return Number(line[1]) * 1_024;
}
