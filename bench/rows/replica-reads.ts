import { startRedis } from "../../test/support/fleet/redis";
import { startS3 } from "../../test/support/fleet/s3";
import { compileProgram } from "../support/compile";
import { type Figure, median } from "../support/figure";
import { fleetSettings } from "../support/fleet";
import { processMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { type Server, startAllclear } from "../support/server";
import { LOAD_CORE, SERVER_CORE } from "../support/wrk";
import { requireTool, type Workspace } from "../support/workspace";

const PER_SECOND = 5_000;
/** Long, so that it takes a small part of a round to compile again the code that a server drops while it waits. */
const SECONDS = 15;
const ROUNDS = 5;
const IDLE_SECONDS = 10;
const REACH = 1.1;
const READY_MAX_MS = 30_000;
const PAUSE_MS = 100;

/** Settings of all servers. All requests for pages come from one address. */
const ENV = { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" };

interface Site {
  server: Server;
  /** Value of an API key. */
  key: string;
}

/** Processor time of reads at a replica, at a constant rate, against those at one machine without a fleet. */
export async function measureReplicaReads(workspace: Workspace): Promise<Figure[]> {
  requireTool("taskset", "util-linux");
  const load = compileProgram(workspace, "constant-rate");
  await using stack = new AsyncDisposableStack();
  const start = async (...given: Parameters<typeof startAllclear>) => {
    const server = await startAllclear(...given);
    stack.defer(() => server.stop());
    return server;
  };
  const store = stack.use(await startS3());
  const valkey = stack.use(await startRedis());
  const fleet = { ...ENV, ...(await fleetSettings(store)), ALLCLEAR_VALKEY_URL: valkey.url };
  const ofMachine = await seed(workspace.path("data"), { keys: 1 });
  const ofFleet = await seed(workspace.path("data"), { keys: 1 });
  const pinned = { core: SERVER_CORE };
  const machine: Site = {
    server: await start(workspace, ofMachine.dataDir, { env: ENV, ...pinned }),
    key: ofMachine.keys[0] ?? "",
  };
  await start(workspace, ofFleet.dataDir, { env: fleet });
  const replicaOptions = { env: fleet, args: ["--replica"], ...pinned };
  const replica: Site = {
    server: await start(workspace, workspace.path("replica"), replicaOptions),
    key: ofFleet.keys[0] ?? "",
  };
  const page = `/status/${ofFleet.slug}`;
  for (const path of ["/readyz/api", page]) await untilOk(replica.server.url + path);

  /** Returns the milliseconds of processor time of a server in one second without requests. */
  const idleCost = async ({ server: { pid } }: Site) => {
    const before = processMs(pid);
    await Bun.sleep(IDLE_SECONDS * 1_000);
    return (processMs(pid) - before) / IDLE_SECONDS;
  };
  const idle = [await idleCost(machine), await idleCost(replica)] as const;
  const figures: Figure[] = [
    {
      what: "processor time without requests: a replica with Valkey, and one machine",
      target: "",
      measured: `${idle[1].toFixed(1)} ms and ${idle[0].toFixed(1)} ms a second`,
    },
  ];
  const reads: [path: string, headersOf: (site: Site) => string[]][] = [
    [`/api/v1${page}`, ({ key }) => ["Authorization", `Bearer ${key}`]],
    [page, () => ["Accept-Encoding", "gzip"]],
  ];
  for (const [path, headersOf] of reads) {
    /** Returns the microseconds of processor time of one request. */
    const cost = async (site: Site) => {
      const { pid, url } = site.server;
      const before = processMs(pid);
      const options = [String(PER_SECOND), String(SECONDS), ...headersOf(site)];
      const requests = await runPinned([load, url + path, ...options]);
      return ((processMs(pid) - before) * 1_000) / requests;
    };
    for (const site of [machine, replica]) await cost(site);
    const rounds: { machine: number; replica: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const isFirst = round % 2 === 0;
      const first = await cost(isFirst ? machine : replica);
      const second = await cost(isFirst ? replica : machine);
      rounds.push(
        isFirst ? { machine: first, replica: second } : { machine: second, replica: first },
      );
    }
    const ratio = median(rounds.map((round) => round.replica / round.machine));
    const middle = (of: keyof (typeof rounds)[number]) => median(rounds.map((round) => round[of]));
    figures.push({
      what: `processor time of \`GET ${path}\` at ${PER_SECOND.toLocaleString("en-US")}/s: a replica against one machine`,
      target: `at most ${REACH.toFixed(2)}`,
      measured: `${ratio.toFixed(2)} (${middle("replica").toFixed(1)} µs against ${middle("machine").toFixed(1)} µs)`,
      isReached: ratio <= REACH,
      numbers: { ratio, "µs at a replica": middle("replica") },
    });
  }
  return figures;
}

/** Runs the load. Returns the number of its requests. */
async function runPinned(command: readonly string[]): Promise<number> {
  const child = Bun.spawn(["taskset", "-c", String(LOAD_CORE), ...command], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`the load failed:\n${errors}`);
  return Number(output);
}

async function untilOk(url: string): Promise<void> {
  const deadline = performance.now() + READY_MAX_MS;
  while (performance.now() < deadline) {
    if ((await fetch(url)).ok) return;
    await Bun.sleep(PAUSE_MS);
  }
  throw new Error(`${url} was not ready`);
}
