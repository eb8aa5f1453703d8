import { connect } from "node:net";
import { type Figure, median } from "../support/figure";
import { mainThreadMs } from "../support/processor-time";
import { startAllclear } from "../support/server";
import { seed } from "../support/seed";
import type { Workspace } from "../support/workspace";

const RUNS = 20;
const REACH_MS = 50;
const TIMEOUT_MS = 5_000;
const REQUEST = "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";

/**
 * From exec to the first `/readyz` that answers 200, with a migrated database: the clock starts right
 * before the process is made, and a client connects again as soon as it was refused.
 */
export async function measureStartUp(workspace: Workspace): Promise<Figure[]> {
  const { dataDir } = await seed(workspace.path("data"));
  // The first start of a folder writes what later ones only read; it also tells of a free port.
  const first = await startAllclear(workspace, dataDir);
  const port = Number(new URL(first.url).port);
  await first.stop();

  const starts: Start[] = [];
  for (let run = 0; run < RUNS; run++) starts.push(await startOnce(workspace, dataDir, port));
  const times = starts.map(({ ms }) => ms);
  const time = median(times);
  return [
    {
      what: `from exec to \`/readyz\` 200, migrated database (median of ${RUNS})`,
      target: `${REACH_MS} ms`,
      measured: `${time.toFixed(1)} ms (${Math.min(...times).toFixed(1)} to ${Math.max(...times).toFixed(1)})`,
      isReached: time <= REACH_MS,
      numbers: {
        "median in ms": time,
        "processor time of the main thread in ms": median(starts.map(({ workMs }) => workMs)),
      },
    },
  ];
}

interface Start {
  /** Milliseconds until the server is ready. */
  ms: number;
  /** Processor time of the main thread until then, in milliseconds. */
  workMs: number;
}

async function startOnce(workspace: Workspace, dataDir: string, port: number): Promise<Start> {
  const { allclear } = workspace;
  const since = performance.now();
  const child = Bun.spawn(
    [allclear, "serve", "--data-dir", dataDir, "--listen", `127.0.0.1:${port}`],
    { env: {}, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );
  try {
    while (!(await isReady(port))) {
      if (performance.now() - since > TIMEOUT_MS || child.exitCode !== null) {
        throw new Error("the server was never ready");
      }
    }
    return { ms: performance.now() - since, workMs: mainThreadMs(child.pid) };
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(REQUEST));
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(answer.startsWith("HTTP/1.1 200 ")));
  });
}
