import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { holds, PROCESS_TEST_MS } from "../support/binary";
import { findNetworkProblem } from "../support/fleet/network";
import { openOutsideSite, type OutsideSite } from "../support/outside-site";

setDefaultTimeout(2 * PROCESS_TEST_MS);

const CHAT = "5.5.5.5";
const HOSTS = ["9.9.9.9", "9.9.9.10", "8.8.8.8"];

const problem = findNetworkProblem();
if (problem !== undefined) console.warn(`SKIPPED: the tests of a lost network; ${problem}`);

/** Watches the hosts, each down after one failed check, and a job; all events go to a chat outside. */
async function watch(outside: OutsideSite): Promise<string> {
  const post = <Body>(path: string, json: object) =>
    outside.api<Body>(path, { method: "POST", json });
  const url = `http://${CHAT}/`;
  // Each message by itself, so that it can be counted.
  await post("/api/v1/webhooks", { url, format: "slack", events: ["*"], group_seconds: 0 });
  for (const host of HOSTS) {
    await post("/api/v1/monitors", {
      name: host,
      type: "tcp",
      config: { host, port: 80 },
      interval_seconds: 5,
      retry_interval_seconds: 1,
      timeout_ms: 2_000,
      failure_threshold: 1,
    });
  }
  const config = { grace_seconds: 0 };
  const job = { name: "job", type: "push", config, interval_seconds: 10, failure_threshold: 1 };
  const { token } = await post<{ token: string }>("/api/v1/monitors", job);
  await outside.callFrom(HOSTS[0] ?? "", `/api/v1/heartbeats/${token}`);
  await untilAll(outside, "up");
  return token;
}

async function untilAll(outside: OutsideSite, state: string, names = [...HOSTS, "job"]) {
  const reached = await holds(async () =>
    (await outside.monitors()).every(
      (monitor) => monitor.state === state || !names.includes(monitor.name),
    ),
  );
  expect(reached).toBe(true);
}

const titles = (outside: OutsideSite) =>
  outside.messages().map((message) => /\|([^>]+)>/.exec(message)?.[1] ?? message);

describe.skipIf(problem !== undefined)("the executable without a network", () => {
  test("monitors and jobs outside have no data while the link is cut, and no message says that they are down", async () => {
    await using outside = await openOutsideSite([...HOSTS, CHAT]);
    const token = await watch(outside);
    await outside.cut();
    await untilAll(outside, "no_data");
    const held = (await outside.monitors()).map(({ last_check: check }) => check);
    for (const check of held) {
      expect(check).toMatchObject({
        outcome: "unknown",
        message: "This server may have lost its network.",
      });
    }
    await outside.mend();
    const hasCalled = () => outside.callFrom(HOSTS[0] ?? "", `/api/v1/heartbeats/${token}`);
    expect(await holds(hasCalled)).toBe(true);
    await untilAll(outside, "up");
    expect(titles(outside).filter((title) => title.startsWith("Monitor"))).toEqual([]);
  });

  test("hosts that time out are down soon after the message about the network has reached its receiver", async () => {
    await using outside = await openOutsideSite([...HOSTS, CHAT]);
    await watch(outside);
    for (const host of HOSTS) await outside.host(host, false);
    await untilAll(outside, "down", HOSTS);
    const hasArrived = await holds(async () => titles(outside).length >= 1 + HOSTS.length);
    expect(hasArrived).toBe(true);
    const [first, ...others] = titles(outside);
    expect(first).toBe("Alarm: Network lost");
    expect(others.filter((title) => title.startsWith("Monitor down"))).toHaveLength(HOSTS.length);
  });
});
