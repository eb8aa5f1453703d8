import { describe, expect, test } from "bun:test";
import { MINUTE_MS, SECOND_MS } from "../../../../src/kernel/time";
import { type EngineSite, fails, openEngineSite, type Target } from "../../../support/engine-site";

type Silence = "dns" | "connect" | "timeout" | "proxy";

/** Answers from an address. */
const from =
  (...addresses: string[]): Target =>
  ({ contact }) => {
    Object.assign(contact ?? {}, { host: addresses[0], addresses });
    return { outcome: "ok", latencyMs: 20, message: null };
  };

/** Fails without an answer from an address. */
const silent =
  (address: string, silence: Silence = "connect"): Target =>
  ({ contact }) => {
    Object.assign(contact ?? {}, { host: address, addresses: [address], silence });
    return { outcome: "failed", latencyMs: null, message: "There is no route to the network." };
  };

/** Does not answer from an address until the deadline. */
const hanging =
  (address: string): Target =>
  (context) =>
    new Promise((resolve) => {
      const end = () => resolve(silent(address, "timeout")(context));
      context.signal.addEventListener("abort", end, { once: true });
    });

/** Three hosts in two networks. */
const HOSTS = { a: "9.9.9.9", b: "9.9.9.10", c: "8.8.8.8" } as const;
type Name = keyof typeof HOSTS;
const NAMES = Object.keys(HOSTS) as Name[];

/** Makes a monitor of each host and lets it answer once. */
async function watched(site: EngineSite, input: object = {}): Promise<Record<Name, string>> {
  const ids = {} as Record<Name, string>;
  for (const name of NAMES) {
    site.let(`${name}.test`, from(HOSTS[name]));
    ids[name] = (await site.monitor({ name, failure_threshold: 1, ...input })).id;
  }
  await site.clock.advance(2 * MINUTE_MS);
  for (const name of NAMES) expect(site.state(ids[name])).toBe("up");
  return ids;
}

function lose(site: EngineSite, how: (address: string) => Target = silent): void {
  for (const name of NAMES) site.let(`${name}.test`, how(HOSTS[name]));
}

function mend(site: EngineSite): void {
  for (const name of NAMES) site.let(`${name}.test`, from(HOSTS[name]));
}

const states = (site: EngineSite, ids: Record<string, string>) =>
  Object.values(ids).map((id) => site.state(id));

const alarmsOf = (site: EngineSite) =>
  site.app
    .events()
    .filter(({ type }) => type === "fleet.alarm")
    .map(({ data }) => (data as { state: string }).state);

describe("a lost network", () => {
  for (const [how, lost] of [
    ["at once", silent],
    ["by time-outs", hanging],
  ] as const) {
    test(`monitors that fail ${how} with the network have no data and are up again after it`, async () => {
      await using site = await openEngineSite();
      const ids = await watched(site);
      lose(site, lost);
      await site.clock.advance(2 * MINUTE_MS);
      expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
      expect(site.checks(ids.a).at(-1)).toMatchObject({
        outcome: "unknown",
        message: "This server may have lost its network.",
      });
      mend(site);
      await site.clock.advance(30 * SECOND_MS);
      expect(states(site, ids)).toEqual(["up", "up", "up"]);
      expect(site.eventTypes()).toEqual([]);
      expect(alarmsOf(site)).toEqual(["raised"]);
      await site.clock.advance(MINUTE_MS);
      expect(alarmsOf(site)).toEqual(["raised", "cleared"]);
    });
  }

  test("an answer from outside ends the hold, and outages are dated from their first failed check", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site, { failure_threshold: 2 });
    lose(site);
    await site.clock.advance(MINUTE_MS + 30 * SECOND_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
    const failedAt = site.checks(ids.a).find(({ outcome }) => outcome !== "ok")?.at ?? 0;
    site.let("b.test", from(HOSTS.b));
    site.app.ctx.outside.answered("1.1.1.1");
    await site.clock.advance(SECOND_MS);
    expect(states(site, ids)).toEqual(["down", "up", "down"]);
    const since = (failedAt - site.begin) / 1000;
    expect(site.timeline(ids.a).at(-1)).toBe(`down ${since} →`);
    expect(site.eventTypes()).toEqual(["monitor.down", "monitor.down"]);
  });

  test("no answer for three minutes: all failures count, and none is held for half an hour", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site);
    lose(site);
    await site.clock.advance(MINUTE_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
    const failedAt = site.checks(ids.a).find(({ outcome }) => outcome !== "ok")?.at ?? 0;
    await site.clock.advance(3 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
    expect(site.timeline(ids.a).at(-1)).toBe(`down ${(failedAt - site.begin) / 1000} →`);
    mend(site);
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["up", "up", "up"]);
    lose(site);
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
    mend(site);
    await site.clock.advance(31 * MINUTE_MS);
    lose(site);
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
  });

  test("a monitor that still fails after the hold is not held again", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site, { failure_threshold: 5 });
    lose(site);
    await site.clock.advance(MINUTE_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
    site.app.ctx.outside.answered("1.1.1.1");
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
    expect(alarmsOf(site)).toEqual(["raised", "cleared"]);
  });
});

describe("what is no lost network", () => {
  const refusals: [name: string, change: (site: EngineSite) => void][] = [
    ["two hosts fail", (site) => site.let("b.test", from(HOSTS.b))],
    [
      "three monitors of one host fail",
      (site) => NAMES.forEach((name) => site.let(`${name}.test`, silent("9.9.9.9"))),
    ],
    [
      "three hosts of one network fail",
      (site) => NAMES.forEach((name, nth) => site.let(`${name}.test`, silent(`9.9.7.${nth}`))),
    ],
    ["a host refuses the connection", (site) => site.let("b.test", fails())],
    [
      "hosts in the private network fail",
      (site) => NAMES.forEach((name, nth) => site.let(`${name}.test`, silent(`10.${nth}.0.1`))),
    ],
    [
      "a proxy fails",
      (site) => NAMES.forEach((name) => site.let(`${name}.test`, silent(HOSTS[name], "proxy"))),
    ],
    [
      "visitors ask from outside",
      (site) => void site.clock.every(500, () => site.app.ctx.outside.answered("1.1.1.1")),
    ],
  ];
  for (const [name, change] of refusals) {
    test(`monitors are down after their thresholds while ${name}`, async () => {
      await using site = await openEngineSite();
      const ids = await watched(site);
      lose(site);
      change(site);
      await site.clock.advance(MINUTE_MS + 15 * SECOND_MS);
      expect(site.state(ids.a)).toBe("down");
      expect(alarmsOf(site)).toEqual([]);
    });
  }

  test("with reference targets, these decide", async () => {
    await using site = await openEngineSite({
      env: { ALLCLEAR_REFERENCE_TARGETS: "1.1.1.1:443" },
    });
    const ids = await watched(site);
    lose(site);
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
  });
});
