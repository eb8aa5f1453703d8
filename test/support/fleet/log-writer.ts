import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { litestreamPath } from "./litestream";

/** A primary's database with a process that writes to it, and Litestream that uploads its log. */
export interface LogWriter extends AsyncDisposable {
  database: string;
  /** Commit times of the numbers, in unix ms. */
  commits: Map<number, number>;
  /** Returns the last number that was uploaded, with all before it, at a time in unix ms. */
  uploadedAt(time: number): number;
  /** Last committed number. */
  newest(): number;
  /** Ends the writes. */
  stopWriting(): Promise<void>;
}

interface LogWriterOptions {
  folder: string;
  kind: "updates" | "growing" | "large";
  perSecond: number;
  /** Litestream's settings of the replica. */
  replica: Record<string, unknown>;
  env?: Record<string, string>;
  /** Further settings of Litestream. */
  settings?: Record<string, unknown>;
}

export async function startLogWriter(options: LogWriterOptions): Promise<LogWriter> {
  const { folder, kind, perSecond, replica, env = {}, settings = {} } = options;
  mkdirSync(folder, { recursive: true });
  const database = join(folder, "primary.db");
  const config = join(folder, "litestream.yml");
  const dbs = [
    {
      path: database,
      "monitor-interval": "100ms",
      replica: { ...replica, "sync-interval": "100ms" },
    },
  ];
  const socket = join(folder, "socket");
  const fixed = { logging: { level: "warn" }, socket: { enabled: true, path: socket } };
  writeFileSync(config, JSON.stringify({ ...fixed, ...settings, dbs }));
  const commits = new Map<number, number>();
  const program = join(import.meta.dir, "..", "processes", "write-numbers.ts");
  const writer = Bun.spawn([process.execPath, program, database, kind, String(perSecond)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const reading = (async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const piece of writer.stdout) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [n, at] = line.split(" ").map(Number);
        if (n !== undefined && at !== undefined) commits.set(n, at);
      }
    }
  })();
  while (commits.size === 0) await Bun.sleep(5);
  const litestream = Bun.spawn([await litestreamPath(), "replicate", "-config", config], {
    // With AWS_CA_BUNDLE it does not start.
    env: { ...process.env, AWS_CA_BUNDLE: undefined, ...env },
    stdout: "inherit",
    stderr: "inherit",
  });
  const uploads: { n: number; at: number }[] = [];
  let isEnded = false;
  const uploading = (async () => {
    while (!isEnded) {
      const n = Math.max(0, ...commits.keys());
      const body = JSON.stringify({ path: database, wait: true, timeout: 10 });
      try {
        const url = "http://litestream/sync";
        const { ok } = await fetch(url, { unix: socket, method: "POST", body });
        if (ok) uploads.push({ n, at: Date.now() });
      } catch {
        // Litestream starts or ends.
      }
      await Bun.sleep(50);
    }
  })();
  async function stopWriting(): Promise<void> {
    writer.kill("SIGKILL");
    await writer.exited;
    await reading;
  }
  return {
    database,
    commits,
    uploadedAt: (time) => uploads.findLast(({ at }) => at < time)?.n ?? 0,
    newest: () => Math.max(0, ...commits.keys()),
    stopWriting,
    async [Symbol.asyncDispose]() {
      await stopWriting();
      isEnded = true;
      litestream.kill("SIGKILL");
      await uploading;
      await litestream.exited;
    },
  };
}
