import { writeSync } from "node:fs";
import type { Output } from "./command";

/**
 * The process's own standard output and error. A line is out, whole, when the call returns, so that
 * an exit right after it cuts nothing off, however slowly a pipe takes it. Throws where data cannot
 * be written (a full disk), since a key that nobody saw must not count as handed over; a reader that
 * has gone away, such as `head`, is no failure.
 */
export function processOutput(): Output {
  return {
    out: (line) => writeLine(1, line),
    err(line) {
      try {
        writeLine(2, line);
      } catch {
        // There is no place left to say it.
      }
    },
  };
}

function writeLine(descriptor: number, line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.byteLength > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
      // A pipe that another process has made non-blocking is full for now.
      Bun.sleepSync(1);
    }
  }
}
