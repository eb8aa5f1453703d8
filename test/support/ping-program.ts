import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder";

/** A program `ping` of the test's own, in the place of the machine's until it is disposed of. */
export interface PingProgram extends Disposable {
  /** Returns the arguments of each call. */
  calls(): string[];
}

/** `script` is what it does, for a shell: `$LAST` is the address. Undefined: no `ping` is there at all. */
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
