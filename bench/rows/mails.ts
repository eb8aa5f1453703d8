import type { TakenMails } from "../programs/mail-relay";
import { compileProgram } from "../support/compile";
import { type Figure, megabytes, rounded } from "../support/figure";
import { queueMails } from "../support/mail-backlog";
import { forgetPeak, peakResidentBytes, residentBytes } from "../support/memory";
import { mainThreadMs } from "../support/processor-time";
import { startServer } from "../support/server";
import type { Workspace } from "../support/workspace";
import { LOAD_CORE, SERVER_CORE } from "../support/wrk";

const QUEUED = 20_000;
const PER_SECOND_REACH = 1_500;
const EACH_REACH_MS = 0.3;
const GROWTH_REACH_BYTES = 64e6;
const PATIENCE_MS = 120_000;
const LOOK_EVERY_MS = 50;

/**
 * Measures how fast the sender passes mails to a relay that accepts them at once, each written in full, over
 * eight connections.
 */
export async function measureMails(workspace: Workspace): Promise<Figure[]> {
  const dataDir = workspace.path("data");
  await queueMails(dataDir, QUEUED);
  const relay = await startServer(workspace, [compileProgram(workspace, "mail-relay")], {
    core: LOAD_CORE,
  });
  const taken = async () => (await (await fetch(relay.url)).json()) as TakenMails;
  const program = compileProgram(workspace, "mail-sender");
  const { port } = await taken();
  const sender = await startServer(workspace, [program, dataDir, String(port)], {
    core: SERVER_CORE,
  });
  const until = async (count: number) => {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = await taken();
      if (found.count >= count) return found;
      if (performance.now() > deadline) throw new Error(`only ${found.count} mails arrived`);
      await Bun.sleep(LOOK_EVERY_MS);
    }
  };
  try {
    const before = residentBytes(sender.pid);
    forgetPeak(sender.pid);
    const half = await until(QUEUED / 2);
    const busyBefore = mainThreadMs(sender.pid);
    const all = await until(QUEUED);
    const count = all.count - half.count;
    const eachMs = (mainThreadMs(sender.pid) - busyBefore) / count;
    const perSecond = (count * 1_000) / (all.last - half.last);
    const growth = peakResidentBytes(sender.pid) - before;
    return [
      {
        what: "mails of a mailing to a relay on the same machine, results recorded, the sender on one core",
        target: `${PER_SECOND_REACH.toLocaleString("en-US")} a second, ${EACH_REACH_MS} ms of processor time each`,
        measured: `${rounded(perSecond)} a second, ${eachMs.toFixed(2)} ms each`,
        isReached: perSecond >= PER_SECOND_REACH && eachMs <= EACH_REACH_MS,
        numbers: { "mails per second": perSecond, "ms of processor time per mail": eachMs },
      },
      {
        what: "more resident memory while they are sent",
        target: megabytes(GROWTH_REACH_BYTES),
        measured: megabytes(growth),
        isReached: growth <= GROWTH_REACH_BYTES,
        numbers: { MB: growth / 1e6 },
      },
    ];
  } finally {
    await sender.stop();
    await relay.stop();
  }
}
