import { writeFileSync } from "node:fs";
import { openConnection, requestText } from "../support/connection";
import { type Figure, percentile } from "../support/figure";
import { readUntil } from "../support/paced-reads";
import { seed } from "../support/seed";
import { seedResults } from "../support/seed-results";
import { type Server, startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const COMPONENTS = 1_000;
const MONITORS_EACH = 10;
const MONITORS = COMPONENTS * MONITORS_EACH;
/** Results of each monitor, which a change must not read. */
const RESULTS_EACH = 300;
const REACH_SECONDS = 10;
const PACE_MS = 10;

/** Applies a file of ten thousand monitors beside a running server: new, unchanged, and with a change of each. */
export async function measureApply(workspace: Workspace): Promise<Figure[]> {
  const { dataDir, slug } = await seed(workspace.path("data"));
  const file = (name: string, intervalSeconds: number) => {
    const path = workspace.path(name);
    writeFileSync(path, contentOf(intervalSeconds));
    return path;
  };
  const [before, after] = [file("before.yaml", 60), file("after.yaml", 120)];
  const run = async (what: string, path: string): Promise<Figure> => {
    const server = await startAllclear(workspace, dataDir, {
      env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" },
    });
    try {
      return await measure(workspace, { server, dataDir, slug }, what, path);
    } finally {
      await server.stop();
    }
  };
  const figures = [await run("new", before), await run("unchanged", before)];
  const results = seedResults(dataDir, { each: RESULTS_EACH, shown: 0, days: 3 });
  const changed = `all changed, with ${(results / 1e6).toFixed(1)} million results`;
  return [...figures, await run(changed, after)];
}

async function measure(
  workspace: Workspace,
  { server, dataDir, slug }: { server: Server; dataDir: string; slug: string },
  what: string,
  path: string,
): Promise<Figure> {
  const connection = await openConnection(server.url);
  const request = requestText(server.url, `/status/${slug}`, {
    headers: { "Accept-Encoding": "gzip" },
  });
  await connection.send(request);
  const startedAt = performance.now();
  const child = Bun.spawn([workspace.allclear, "apply", path, "--data-dir", dataDir], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const reads = await readUntil(child.exited, PACE_MS, async () => {
    await connection.send(request);
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  connection.close();
  if (child.exitCode !== 0) throw new Error(`the apply ended with ${child.exitCode}`);
  const { user, system } = child.resourceUsage()?.cpuTime ?? { user: 0n, system: 0n };
  const worked = Number(BigInt(user) + BigInt(system)) / 1e6;
  const waits = reads.map(({ ms }) => ms);
  return {
    what: `applying a file of ${MONITORS.toLocaleString("en-US")} monitors beside a server: ${what}`,
    target: `${REACH_SECONDS} s`,
    measured: `${seconds.toFixed(1)} s (${worked.toFixed(1)} s of processor time; a public page meanwhile p99 ${percentile(waits, 99).toFixed(0)} ms)`,
    isReached: seconds <= REACH_SECONDS,
    numbers: { seconds, "processor time in s": worked },
  };
}

/** Writes the file: a page of 1,000 components with ten paused monitors each. */
function contentOf(intervalSeconds: number): string {
  const components = Array.from({ length: COMPONENTS }, (_, component) => {
    const monitors = Array.from({ length: MONITORS_EACH }, (__, index) => {
      const number = component * MONITORS_EACH + index;
      return `          - name: Monitor ${number}
            ref: monitor-${number}
            type: http
            paused: true
            interval_seconds: ${intervalSeconds}
            config:
              url: http://127.0.0.1:9/${number}`;
    });
    return `      - name: Component ${component}
        ref: component-${component}
        monitors:
${monitors.join("\n")}`;
  });
  return `pages:
  - slug: large
    name: Large
    components:
${components.join("\n")}
`;
}
