import { openOutsideSite, type OutsideSite } from "../../test/support/outside-site";
import type { Figure } from "../support/figure";
import type { Workspace } from "../support/workspace";

const CHAT = "5.5.5.5";
/** Address from which jobs call. */
const JOBS = "4.4.4.4";
const NETWORKS = ["9.9.9", "8.8.8", "1.1.1"];
const GONE_MS = 120_000;
const LOOK_MS = 500;
/** Longest time for anything that is waited for. */
const PATIENCE_MS = 120_000;
/** Time that a message about an outage may take beyond the thresholds. */
const BEYOND_MS = 5_000;

const FAST = { interval_seconds: 5, retry_interval_seconds: 2, timeout_ms: 2_000 };
/** Longest time until the first failure of a monitor with these settings is found. */
const FOUND_MS = 1_000 * FAST.interval_seconds + FAST.timeout_ms;

const post = <Body>(site: OutsideSite, path: string, json: object) =>
  site.api<Body>(path, { method: "POST", json });

async function watch(site: OutsideSite, hosts: readonly string[], settings: object): Promise<void> {
  const webhook = { url: `http://${CHAT}/`, format: "slack", events: ["*"] };
  await post(site, "/api/v1/webhooks", webhook);
  for (const [nth, host] of hosts.entries()) {
    const config = { url: `http://${host}/` };
    const body = { name: `${nth} ${host}`, type: "http", config, failure_threshold: 1 };
    await post(site, "/api/v1/monitors", { ...body, ...settings });
  }
}

/** Returns the time in ms until all monitors of some hosts have a state. */
async function timeUntil(site: OutsideSite, state: string, host = ""): Promise<number> {
  const begin = performance.now();
  for (;;) {
    const monitors = await site.monitors();
    if (monitors.every((each) => each.state === state || !each.name.includes(host))) break;
    if (performance.now() - begin > PATIENCE_MS) throw new Error(`monitors are never ${state}`);
    await Bun.sleep(100);
  }
  return performance.now() - begin;
}

/**
 * Loss of the own network, and outages that look like it, in network namespaces: 30 monitors and 5 jobs while the
 * network is gone for two minutes, all targets down while a chat outside is reachable, and one host down.
 */
export async function measureLostNetwork({ allclear }: Workspace): Promise<Figure[]> {
  return [
    ...(await measureGone(allclear, "cut")),
    ...(await measureGone(allclear, "lose")),
    await measureDown(allclear),
    await measureOneHost(allclear),
  ];
}

async function measureGone(allclear: string, how: "cut" | "lose"): Promise<Figure[]> {
  const hosts = NETWORKS.flatMap((network) =>
    Array.from({ length: 10 }, (_, nth) => `${network}.${nth + 10}`),
  );
  const all = [...hosts, CHAT, JOBS];
  await using site = await openOutsideSite(all, allclear);
  await watch(site, hosts, { interval_seconds: 20, timeout_ms: 5_000 });
  const tokens: string[] = [];
  for (let nth = 0; nth < 5; nth++) {
    const config = { grace_seconds: 5 };
    const job = { name: `job ${nth}`, type: "push", config, interval_seconds: 10 };
    const body = { ...job, failure_threshold: 1 };
    tokens.push((await post<{ token: string }>(site, "/api/v1/monitors", body)).token);
  }
  let isCalling = true;
  const calls = (async () => {
    while (isCalling) {
      await Promise.all(tokens.map((token) => site.callFrom(JOBS, `/api/v1/heartbeats/${token}`)));
      await Bun.sleep(4_000);
    }
  })();
  await timeUntil(site, "up");
  if (how === "cut") await site.cut();
  else for (const each of all) await site.host(each, false);
  let down = 0;
  let held = 0;
  for (const begin = performance.now(); performance.now() - begin < GONE_MS;) {
    const states = (await site.monitors()).map(({ state }) => state);
    down = Math.max(down, states.filter((state) => state === "down").length);
    held = states.filter((state) => state === "no_data").length;
    await Bun.sleep(LOOK_MS);
  }
  if (how === "cut") await site.mend();
  else for (const each of all) await site.host(each, true);
  const recoveredMs = await timeUntil(site, "up");
  // The end of the alarm is sent 30 seconds later.
  await Bun.sleep(45_000);
  isCalling = false;
  await calls;
  const messages = site.messages().length;
  const what = how === "cut" ? "link cut" : "packets lost";
  return [
    {
      what: `network gone for 2 min (${what}), 30 monitors, 5 jobs: down; without data at its end`,
      target: "0; 35",
      measured: `${down}; ${held}`,
      isReached: down === 0 && held === 35,
    },
    {
      what: `messages about it by 45 s after its return; time until all are up`,
      target: "1",
      measured: `${messages}; ${(recoveredMs / 1_000).toFixed(1)} s`,
      isReached: messages === 1,
    },
  ];
}

async function measureDown(allclear: string): Promise<Figure> {
  const hosts = ["9.9.9.10", "9.9.9.11", "8.8.8.10"];
  await using site = await openOutsideSite([...hosts, CHAT], allclear);
  await watch(site, hosts, FAST);
  await timeUntil(site, "up");
  for (const host of hosts) await site.host(host, false);
  const ms = await timeUntil(site, "down");
  return {
    what: "three hosts in two networks time out, a chat outside answers: all down after",
    target: `≤ ${(FOUND_MS + BEYOND_MS) / 1_000} s`,
    measured: `${(ms / 1_000).toFixed(1)} s`,
    isReached: ms <= FOUND_MS + BEYOND_MS,
  };
}

async function measureOneHost(allclear: string): Promise<Figure> {
  const [host = "", ...others] = ["9.9.9.10", "8.8.8.10", "1.1.1.10"];
  await using site = await openOutsideSite([host, ...others, CHAT], allclear);
  await watch(site, [host, host, host, ...others], FAST);
  await timeUntil(site, "up");
  await site.host(host, false);
  const ms = await timeUntil(site, "down", host);
  return {
    what: "three monitors of one host, others answer: down after",
    target: `≤ ${FOUND_MS / 1_000} s and a look`,
    measured: `${(ms / 1_000).toFixed(1)} s`,
    isReached: ms <= FOUND_MS + 1_000,
  };
}
