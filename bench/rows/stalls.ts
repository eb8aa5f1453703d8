import type { Figure } from "../support/figure";
import { seed } from "../support/seed";
import { type Server, startAllclear } from "../support/server";
import { readMetrics } from "../support/watching";
import type { Workspace } from "../support/workspace";

const STALLS_SECONDS = [6, 12, 30] as const;
const ROUNDS = 3;
const MONITORS = 60;
const JOBS = 20;
/** Time limit of a check and interval of a job: shorter than each stall. */
const INTERVAL_SECONDS = 5;
/** Time that a target takes to answer, so that at any time some checks are running. */
const ANSWER_MS = 400;
/** Time between two calls of a job, and time limit of one. */
const CALL_EVERY_MS = 500;
const CALL_LIMIT_MS = 10_000;
/** Time after a stall in which all is judged that it may have spoiled. */
const JUDGED_MS = 12_000;

/**
 * Stops the process for some seconds, and counts failed checks of healthy targets and of jobs that call. With a
 * threshold of 1, each of them is an alarm.
 */
export async function measureStalls(workspace: Workspace): Promise<Figure[]> {
  const scopes = ["manage:monitors", "read:status", "read:analytics"] as const;
  const given = { keys: 1, scopes: [...scopes] };
  const { dataDir, keys } = await seed(workspace.path("data"), given);
  const [key = ""] = keys;
  const target = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch() {
      await Bun.sleep(ANSWER_MS);
      return new Response("well");
    },
  });
  const server = await startAllclear(workspace, dataDir);
  const url = `http://127.0.0.1:${target.port}/`;
  const tokens = await createMonitors(server, key, url);
  const jobs = startCalling(server, tokens);
  const figures: Figure[] = [];
  try {
    await Bun.sleep(JUDGED_MS);
    for (const seconds of STALLS_SECONDS) figures.push(await measureStall(server, key, seconds));
    return figures;
  } finally {
    await jobs.stop();
    await server.stop();
    await target.stop(true);
  }
}

async function measureStall(server: Server, key: string, seconds: number): Promise<Figure> {
  const before = await readCounts(server, key);
  for (let round = 0; round < ROUNDS; round += 1) {
    process.kill(server.pid, "SIGSTOP");
    await Bun.sleep(seconds * 1_000);
    process.kill(server.pid, "SIGCONT");
    await Bun.sleep(JUDGED_MS);
  }
  const after = await readCounts(server, key);
  const alarms = after.failed - before.failed;
  const checks = after.checks - before.checks;
  return {
    what: `alarms about ${MONITORS} healthy targets and ${JOBS} jobs that call, threshold 1, when the process is stopped for ${seconds} s, ${ROUNDS} times`,
    target: "none",
    measured: `${alarms} (${after.discarded - before.discarded} checks repeated, of ${checks})`,
    isReached: alarms === 0,
    numbers: { alarms },
  };
}

async function readCounts(server: Server, key: string) {
  const read = await readMetrics(server, key);
  const total = "allclear_monitor_checks_total";
  const failed = (type: string) => read(`${total}{type="${type}",outcome="failed"}`);
  return {
    checks: read(total),
    failed: failed("http") + failed("push"),
    discarded: read("allclear_monitor_checks_discarded_total"),
  };
}

async function createMonitors(server: Server, key: string, url: string): Promise<string[]> {
  const common = { failure_threshold: 1, interval_seconds: INTERVAL_SECONDS };
  const tokens: string[] = [];
  for (let index = 0; index < MONITORS + JOBS; index += 1) {
    const isJob = index >= MONITORS;
    const own = isJob
      ? { type: "push", config: { grace_seconds: 0 } }
      : { type: "http", config: { url: url + index }, timeout_ms: INTERVAL_SECONDS * 1_000 };
    const answer = await fetch(`${server.url}/api/v1/monitors`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ name: `Monitor ${index}`, ...common, ...own }),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    const { token } = (await answer.json()) as { token?: string };
    if (token !== undefined) tokens.push(token);
  }
  return tokens;
}

/** Lets each job call again and again, and again after a call that had no answer, as jobs with retries do. */
function startCalling(server: Server, tokens: readonly string[]) {
  let hasEnded = false;
  const callers = tokens.map(async (token) => {
    while (!hasEnded) {
      const signal = AbortSignal.timeout(CALL_LIMIT_MS);
      await fetch(`${server.url}/api/v1/heartbeats/${token}`, { signal }).then(
        (answer) => answer.bytes(),
        () => undefined,
      );
      await Bun.sleep(CALL_EVERY_MS);
    }
  });
  return {
    async stop() {
      hasEnded = true;
      await Promise.all(callers);
    },
  };
}
