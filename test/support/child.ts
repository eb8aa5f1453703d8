import { join } from "node:path";

/** A process that a test controls line by line. Disposing it ends the process. */
export interface Child extends AsyncDisposable {
  pid: number;
  /** Returns the next printed line. Throws if the process ends. */
  line(): Promise<string>;
  /** Sends a line to the process. */
  send(text: string): void;
  /** Sends SIGKILL and waits until the process has ended. */
  kill(): Promise<void>;
}

/** Runs a script of `test/support/processes/`. */
export function startChild(script: string, ...args: string[]): Child {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "processes", script), ...args], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = linesOf(child.stdout);
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return {
    pid: child.pid,
    async line() {
      const next = await lines.next();
      if (next.done) throw new Error(`${script} ended, with code ${await child.exited}`);
      return next.value;
    },
    send(text) {
      child.stdin.write(`${text}\n`);
      void child.stdin.flush();
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
