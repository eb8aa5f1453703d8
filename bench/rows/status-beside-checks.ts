import { type Figure, median, rounded } from "../support/figure";
import { seed } from "../support/seed";
import { type Server, startAllclear } from "../support/server";
import { seedMonitors, startTarget } from "../support/watching";
import { LOAD_CORE, runWrk, SERVER_CORE } from "../support/wrk";
import type { Workspace } from "../support/workspace";

const MONITORS = 10_000;
const INTERVAL_SECONDS = 60;
const WARM_UP_MS = 75_000;
const ROUNDS = 7;
const SECONDS = 3;
const CONNECTIONS = 32;
/** For checks that came due while a server was halted. */
const CATCH_UP_MS = 2_000;
const REACH = 0.8;

interface Installation {
  server: Server;
  url: string;
  keys: string[];
}

/**
 * Reading the status document while ten thousand monitors are checked, against the same where they are
 * paused: in turns on the same core, whoever has no turn halted.
 */
export async function measureStatusBesideChecks(workspace: Workspace): Promise<Figure[]> {
  const targetServer = await startTarget(workspace, { core: LOAD_CORE });
  const open = async (paused: boolean): Promise<Installation> => {
    // A key for each round, whose bucket is full.
    const { dataDir, slug, componentIds, keys } = await seed(workspace.path("data"), {
      keys: 1 + ROUNDS,
    });
    await seedMonitors(dataDir, {
      count: MONITORS,
      intervalSeconds: INTERVAL_SECONDS,
      url: targetServer.url,
      componentIds,
      paused,
    });
    const server = await startAllclear(workspace, dataDir, { core: SERVER_CORE });
    return { server, url: `${server.url}/api/v1/status/${slug}`, keys };
  };
  const busy = await open(false);
  const idle = await open(true);
  try {
    await Bun.sleep(WARM_UP_MS);
    const load = async ({ server, url, keys }: Installation, other: Server, round: number) => {
      process.kill(other.pid, "SIGSTOP");
      try {
        await Bun.sleep(server === busy.server ? CATCH_UP_MS : 0);
        const headers = { Authorization: `Bearer ${keys[round]}` };
        return (await runWrk(url, { connections: CONNECTIONS, seconds: SECONDS, headers }))
          .perSecond;
      } finally {
        process.kill(other.pid, "SIGCONT");
      }
    };
    const rounds: { busy: number; idle: number }[] = [];
    const seen = await targetServer.seen();
    for (let round = 0; round <= ROUNDS; round++) {
      const isBusyFirst = round % 2 === 0;
      const first = isBusyFirst
        ? await load(busy, idle.server, round)
        : await load(idle, busy.server, round);
      const second = isBusyFirst
        ? await load(idle, busy.server, round)
        : await load(busy, idle.server, round);
      // The first is for warming up.
      if (round > 0) {
        rounds.push(isBusyFirst ? { busy: first, idle: second } : { busy: second, idle: first });
      }
    }
    const checks = (await targetServer.seen()).requests - seen.requests;
    if (checks < MONITORS / 10) throw new Error(`only ${checks} checks were made meanwhile`);
    const ratio = median(rounds.map((round) => round.busy / round.idle));
    const middle = (which: "busy" | "idle") => rounded(median(rounds.map((round) => round[which])));
    return [
      {
        what: `\`GET /api/v1/status/{slug}\` while ${MONITORS.toLocaleString("en-US")} HTTP monitors at ${INTERVAL_SECONDS} s are checked, on one core`,
        target: `${REACH.toFixed(2)} of what it is without`,
        measured: `${ratio.toFixed(2)} (${middle("busy")}/s against ${middle("idle")}/s)`,
        isReached: ratio >= REACH,
        numbers: { ratio, "requests per second": median(rounds.map(({ busy: rate }) => rate)) },
      },
    ];
  } finally {
    await idle.server.stop();
    await busy.server.stop();
    await targetServer.stop();
  }
}
