import { expect, test } from "bun:test";
import { createInstallation, holds, PROCESS_TEST_MS, type Server } from "../support/binary";
import { readExposition } from "../support/exposition";

const MONITORS = 60;
const JOBS = 20;
/** Time for which the process stands still: more than a check and the run of a job may take. */
const STALL_MS = 6_000;
const TIMEOUT_MS = 5_000;
const GRACE_SECONDS = 5;
/** Time that the target takes, so that at any time some checks are running. */
const ANSWER_MS = 400;
const DISCARDED = "allclear_monitor_checks_discarded_total";

/** A target that is well, and the number of requests that it has not answered yet. */
function startSlowTarget() {
  const paths = new Map<string, number>();
  let pending = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      pending += 1;
      await Bun.sleep(ANSWER_MS);
      pending -= 1;
      paths.set(pathname, (paths.get(pathname) ?? 0) + 1);
      return new Response("well");
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    pending: () => pending,
    /** Forgets all requests. */
    forget: () => paths.clear(),
    /** Returns the number of paths that were requested at least this often. */
    asked: (times: number) => [...paths.values()].filter((count) => count >= times).length,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

async function create(server: Server, key: string, input: object) {
  const answer = await server.fetch("/api/v1/monitors", {
    key,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ failure_threshold: 1, ...input }),
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as { id: string; token: string };
}

test(
  "a process that is stopped for six seconds raises no alarm about healthy targets and jobs that call",
  async () => {
    using target = startSlowTarget();
    await using site = await createInstallation();
    const scopes = ["manage:monitors", "read:status", "read:analytics"];
    const { value: key } = await site.createKey(scopes, "--rate-limit", "100000");
    const server = await site.serve();
    for (let index = 0; index < MONITORS; index += 1) {
      const config = { url: `${target.url}/${index}` };
      const times = { interval_seconds: 5, timeout_ms: TIMEOUT_MS };
      // oxlint-disable-next-line no-await-in-loop
      await create(server, key, { type: "http", name: `Shop ${index}`, config, ...times });
    }
    const tokens: string[] = [];
    for (let index = 0; index < JOBS; index += 1) {
      const config = { grace_seconds: GRACE_SECONDS };
      const job = { type: "push", name: `Job ${index}`, interval_seconds: null, config };
      // oxlint-disable-next-line no-await-in-loop
      tokens.push((await create(server, key, job)).token);
    }
    const call = (end: string) =>
      Promise.all(
        tokens.map(async (token) => {
          const { status } = await server.fetch(`/api/v1/heartbeats/${token}${end}`);
          expect(status).toBe(200);
        }),
      );
    const discarded = async () => {
      const text = await (await server.fetch("/metrics", { key })).text();
      return readExposition(text).get(DISCARDED)?.samples[0]?.value ?? 0;
    };
    await call("");
    expect(await holds(async () => target.asked(1) === MONITORS)).toBe(true);

    await call("/start");
    const before = await discarded();
    expect(await holds(async () => target.pending() >= 3)).toBe(true);
    server.signal("SIGSTOP");
    // The runs end meanwhile, in calls that nobody reads yet.
    const ended = call("");
    await Bun.sleep(STALL_MS);
    target.forget();
    server.signal("SIGCONT");
    await ended;
    expect(await discarded()).toBeGreaterThan(before);
    // All targets are asked again, and five seconds after the stall the deadlines are judged.
    expect(await holds(async () => target.asked(2) === MONITORS)).toBe(true);

    const read = async (path: string) =>
      (await (await server.fetch(`/api/v1${path}`, { key })).json()).data;
    const monitors: { id: string; state: string }[] = await read("/monitors?limit=100");
    expect(monitors).toHaveLength(MONITORS + JOBS);
    expect(monitors.filter(({ state }) => state !== "up")).toEqual([]);
    for (const { id } of monitors) {
      // oxlint-disable-next-line no-await-in-loop
      const checks: { outcome: string }[] = await read(`/monitors/${id}/checks`);
      expect(checks.every(({ outcome }) => outcome === "ok")).toBe(true);
    }
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).not.toMatch(/"level":(50|60)/);
  },
  PROCESS_TEST_MS,
);
