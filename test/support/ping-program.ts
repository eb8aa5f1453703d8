import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder";

/** Replaces the machine's `ping` until it is disposed of. */
interface PingProgram extends Disposable {
  /** Returns the arguments of each call. */
  calls(): string[];
}

/** Installs a shell script as `ping`, with the address in `$LAST`; undefined removes `ping`. */
export function usePingProgram(script: string | undefined): PingProgram {
  const folder = temporaryFolder();
  const before = process.env["PATH"];
  const log = join(folder.path, "calls");
  writeFileSync(log, "");
  if (script !== undefined) {
    const program = join(folder.path, "ping");
    const note = `#!/bin/sh\nprintf '%s\\n' "$*" >> '${log}'\nfor LAST; do :; done\n`;
    writeFileSync(program, `${note}${script}\n`);
    chmodSync(program, 0o755);
  }
  process.env["PATH"] = script === undefined ? folder.path : `${folder.path}:${before}`;
  return {
    calls: () => readFileSync(log, "utf8").split("\n").slice(0, -1),
    [Symbol.dispose]() {
      process.env["PATH"] = before;
      folder[Symbol.dispose]();
    },
  };
}
