import { openConnection, requestText } from "../support/connection";
import { type Figure, megabytes, percentile } from "../support/figure";
import { forgetPeak, peakResidentBytes, residentBytes } from "../support/memory";
import { readUntil } from "../support/paced-reads";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import { seedMonitors, startTarget } from "../support/watching";
import type { Workspace } from "../support/workspace";

const MONITORS = 4;
const ASSERTIONS = 30;
const INTERVAL_SECONDS = 5;
const PACE_MS = 5;
const WARM_UP_READS = 1_000;
const SECONDS = 30;
const REACH_MS = 50;

/** Reading the public page while monitors evaluate regular expressions that take hundreds of ms each. */
export async function measureAssertions(workspace: Workspace): Promise<Figure[]> {
  const target = await startTarget(workspace);
  const { dataDir, slug } = await seed(workspace.path("data"));
  await seedMonitors(dataDir, {
    count: MONITORS,
    intervalSeconds: INTERVAL_SECONDS,
    url: `${target.url}/text`,
    patterns: Array.from({ length: ASSERTIONS }, (_, n) => {
      const count = 15 + n;
      return `(?:a[ab]{${count}}|b[ab]{${count}})[^ab]`;
    }),
  });
  const env = { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" };
  const server = await startAllclear(workspace, dataDir, { env });
  const reader = await openConnection(server.url);
  try {
    const headers = { "Accept-Encoding": "gzip" };
    const request = requestText(server.url, `/status/${slug}`, { headers });
    const read = async () => {
      const { status } = await reader.send(request);
      if (status !== 200) throw new Error(`the public page answered ${status}`);
    };
    for (let count = 0; count < WARM_UP_READS; count++) await read();
    forgetPeak(server.pid);
    const reads = await readUntil(Bun.sleep(SECONDS * 1_000), PACE_MS, read);
    const { requests } = await target.seen();
    if (requests < MONITORS) throw new Error(`only ${requests} checks were made`);
    const times = reads.map(({ ms }) => ms);
    const p99 = percentile(times, 99);
    return [
      {
        what: `the public page, every ${PACE_MS} ms, while ${MONITORS} monitors at ${INTERVAL_SECONDS} s evaluate ${ASSERTIONS} expensive regular expressions over 64 KiB, p99 from when it was due`,
        target: `${REACH_MS} ms`,
        measured: `${p99.toFixed(1)} ms (slowest ${Math.max(...times).toFixed(0)} ms, ${requests} checks)`,
        isReached: p99 <= REACH_MS,
        numbers: { "p99 in ms": p99 },
      },
      {
        what: "memory at its most meanwhile",
        target: "",
        measured: `${megabytes(peakResidentBytes(server.pid))} (${megabytes(residentBytes(server.pid))} at the end)`,
      },
    ];
  } finally {
    reader.close();
    await server.stop();
    await target.stop();
  }
}
