import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { environmentOf } from "./litestream";

/** Time that a child gets to end by itself, in ms. */
const CHILD_STOP_MS = 2_000;
/** Longest line of a child's output that is read. */
const LINE_MAX = 2_000;

/** A running program that this process supervises. */
export interface ChildProcess {
  readonly pid: number;
  /** Resolves to a description of the end, such as "exit code 1". */
  readonly ended: Promise<string>;
  /** Asks the child to end, and kills it after two seconds or at once. Resolves when it has ended. */
  stop(how?: "gently" | "at once"): Promise<void>;
}

interface ChildOptions {
  /** File with the number of the process, by which `endLeftover` finds it after a crash. */
  pidFile?: string;
  /** Called with each line of both outputs. */
  onLine(line: string): void;
}

/** Starts a program with no input and the environment of Litestream without credentials. Throws if it cannot be started. */
export function startChild(command: readonly string[], options: ChildOptions): ChildProcess {
  const env = environmentOf();
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe", env });
  if (options.pidFile !== undefined) writeFileSync(options.pidFile, `${child.pid}\n`);
  const outputs = [child.stdout, child.stderr].map((output) => readLines(output, options.onLine));
  const ended = (async () => {
    await child.exited;
    await Promise.all(outputs);
    if (options.pidFile !== undefined) rmSync(options.pidFile, { force: true });
    return child.signalCode === null ? `exit code ${child.exitCode}` : String(child.signalCode);
  })();
  return {
    pid: child.pid,
    ended,
    async stop(how = "gently") {
      child.kill(how === "gently" ? "SIGTERM" : "SIGKILL");
      const timer = setTimeout(() => child.kill("SIGKILL"), CHILD_STOP_MS);
      await child.exited;
      clearTimeout(timer);
      await ended;
    },
  };
}

/** Reads the lines of an output until it ends. Errors end it too. */
async function readLines(
  output: ReadableStream<Uint8Array>,
  onLine: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const piece of output) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = (lines.pop() ?? "").slice(0, LINE_MAX);
      for (const line of lines) if (line !== "") onLine(line.slice(0, LINE_MAX));
    }
  } catch {
    // The process has ended.
  }
  if (rest !== "") onLine(rest);
}

/**
 * Kills a child of an earlier run, which outlives a crash of the server, if the process of the file still runs a
 * program with this argument.
 */
export async function endLeftover(pidFile: string, argument: string): Promise<void> {
  const pid = Number(readText(pidFile));
  if (Number.isInteger(pid) && pid > 1) {
    while (commandOf(pid).includes(argument)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        break;
      }
      await Bun.sleep(10);
    }
  }
  rmSync(pidFile, { force: true });
}

/** Returns the command line of a process; empty if there is none. */
export function commandOf(pid: number): string {
  if (process.platform === "linux") return readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
  const { stdout } = Bun.spawnSync(["ps", "-o", "args=", "-p", String(pid)]);
  return stdout.toString();
}

function readText(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
