/** Control of a running Litestream. */
export interface LitestreamSocket {
  readonly path: string;
  /** Uploads all that is committed. Resolves to the number of the last transaction. Rejects after `limitMs`. */
  sync(limitMs: number): Promise<number>;
  /** Ends a Litestream that outlived the process which started it. */
  endOther(): Promise<void>;
}

/** Time in ms for an answer that needs no upload. */
const ANSWER_MS = 2_000;
/** Time in ms that a process may take to end before it is killed, and after which it is not waited for. */
const END_MS = 5_000;
const GIVE_UP_MS = 7_000;
const LOOK_MS = 50;

/** Creates the client of the socket at a path, which need not exist yet. */
export function createSocket(path: string, database: string): LitestreamSocket {
  async function call(method: string, route: string, limitMs: number, body?: object) {
    const response = await fetch(`http://litestream${route}`, {
      unix: path,
      method,
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(limitMs),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`Litestream answered ${response.status}: ${answer["error"]}`);
    return answer;
  }

  return {
    path,
    async sync(limitMs) {
      const timeout = Math.ceil(limitMs / 1_000);
      const { txid, replicated_txid: replicated } = await call("POST", "/sync", limitMs, {
        path: database,
        wait: true,
        timeout,
      });
      if (typeof txid !== "number" || typeof replicated !== "number" || replicated < txid) {
        throw new Error("Litestream has not uploaded all transactions");
      }
      return txid;
    },
    async endOther() {
      const pid = await call("GET", "/info", ANSWER_MS).then(
        ({ pid: answered }) => answered,
        () => undefined,
      );
      if (typeof pid !== "number" || pid <= 1) return;
      // A second SIGTERM would interrupt the upload of the rest.
      kill(pid, "SIGTERM");
      // A process that has ended seems alive for as long as its parent, which can be any, does not ask for its exit code.
      for (let waitedMs = 0; isAlive(pid) && waitedMs < GIVE_UP_MS; waitedMs += LOOK_MS) {
        if (waitedMs === END_MS) kill(pid, "SIGKILL");
        await Bun.sleep(LOOK_MS);
      }
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
