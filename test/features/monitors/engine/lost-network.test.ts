import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { findOpenSpan } from "../../../../src/features/monitors/spans-store";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { type EngineSite, fails, openEngineSite, type Target } from "../../../support/engine-site";
import { updateMonitor } from "../../../support/examined";

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

/** Returns the reason of the present state of a monitor. */
function reasonOf(site: EngineSite, id: string): string | null | undefined {
  const { num: monitorNum } = getMonitorRecord(site.app.ctx.db, id).row;
  return findOpenSpan(site.app.ctx.db, { monitorNum })?.message;
}

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
      expect(
        site.app.events().findLast(({ type }) => type === "fleet.alarm")?.data["detail"],
      ).toMatch(
        /^This server may have lost its network from 12:0\d to 12:0\d UTC; 3 checks were held\.$/,
      );
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
    expect(reasonOf(site, ids.a)).toBe("There is no route to the network.");
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

  test("a stall at the end of the three minutes lets answers that wait be read first", async () => {
    await using site = await openEngineSite({ detectsStalls: true });
    const ids = await watched(site);
    lose(site);
    while (alarmsOf(site).length === 0) await site.clock.advance(SECOND_MS);
    await site.clock.advance(2 * MINUTE_MS + 40 * SECOND_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
    for (const name of NAMES) {
      site.let(`${name}.test`, async (context) => {
        await new Promise<void>((resolve) => site.clock.after(50, resolve));
        site.app.ctx.outside.answered(HOSTS[name]);
        return from(HOSTS[name])(context);
      });
    }
    site.clock.stall(30 * SECOND_MS);
    await site.clock.advance(30 * SECOND_MS);
    expect(states(site, ids)).toEqual(["up", "up", "up"]);
    expect(site.eventTypes()).toEqual([]);
  });

  test("a check that began before all others and ends after the hold is repeated", async () => {
    await using site = await openEngineSite();
    // Each of them is checked while the network is lost.
    await watched(site, { interval_seconds: 30 });
    const { id } = await site.monitor({
      name: "patient",
      failure_threshold: 1,
      interval_seconds: 120,
      timeout_ms: 60_000,
    });
    site.let("patient.test", from("7.7.7.7"));
    await site.clock.advance(10 * SECOND_MS);
    expect(site.state(id)).toBe("up");
    site.let("patient.test", hanging("7.7.7.7"));
    const checked = site.engine.checkNow(id);
    await site.clock.advance(SECOND_MS);
    lose(site);
    await site.clock.advance(50 * SECOND_MS);
    expect(alarmsOf(site)).toEqual(["raised"]);
    mend(site);
    site.let("patient.test", from("7.7.7.7"));
    site.app.ctx.outside.answered("1.1.1.1");
    await site.clock.advance(20 * SECOND_MS);
    await checked;
    expect(site.state(id)).toBe("up");
    expect(site.eventTypes()).toEqual([]);
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
      (site) => {
        const ask = () => site.app.ctx.outside.answered("1.1.1.1");
        // Without the first one, a check in the next half second would find no answer.
        ask();
        site.clock.every(500, ask);
      },
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

  test("a host that fails alone is down at once with any timeouts of the others", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site, { timeout_ms: 30_000 });
    const failing = silent(HOSTS.a);
    let failedAt = 0;
    site.let("a.test", (context) => {
      failedAt ||= site.clock.now();
      return failing(context);
    });
    while (failedAt === 0) await site.clock.advance(100);
    await site.clock.advance(SECOND_MS);
    expect(site.state(ids.a)).toBe("down");
  });

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

describe("monitors beside the witnesses", () => {
  /** Advances until the failures of the witnesses are held. */
  async function hold(site: EngineSite): Promise<void> {
    lose(site);
    await site.clock.advance(MINUTE_MS);
    expect(alarmsOf(site)).toEqual(["raised"]);
  }

  test("a monitor of a private address is judged as always", async () => {
    await using site = await openEngineSite();
    await watched(site);
    const { id } = await site.monitor({ name: "nas", failure_threshold: 1 });
    site.let("nas.test", from("192.168.1.2"));
    await site.clock.advance(MINUTE_MS);
    await hold(site);
    expect(site.state(id)).toBe("up");
    site.let("nas.test", silent("192.168.1.2"));
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(site.state(id)).toBe("down");
  });

  test("a monitor of an address of this machine is judged as always, and ends no hold", async () => {
    await using site = await openEngineSite();
    const { outside } = site.app.ctx;
    const isOwn = outside.isOwn.bind(outside);
    outside.isOwn = (address) => address === "7.7.7.7" || isOwn(address);
    await watched(site);
    const { id } = await site.monitor({ name: "self", failure_threshold: 1 });
    const self: Target = (context) => {
      outside.answered("7.7.7.7");
      return from("7.7.7.7")(context);
    };
    site.let("self.test", self);
    await site.clock.advance(MINUTE_MS);
    await hold(site);
    await site.clock.advance(MINUTE_MS);
    expect([site.state(id), ...alarmsOf(site)]).toEqual(["up", "raised"]);
    site.let("self.test", silent("7.7.7.7", "timeout"));
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(site.state(id)).toBe("down");
  });

  test("an inverted monitor is not up because the network is lost", async () => {
    await using site = await openEngineSite();
    await watched(site);
    const { id } = await site.monitor({ name: "leak", failure_threshold: 1, inverted: true });
    site.let("leak.test", from("9.9.9.11"));
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(site.state(id)).toBe("down");
    site.let("leak.test", silent("9.9.9.11"));
    await hold(site);
    await site.clock.advance(10 * SECOND_MS);
    expect(site.state(id)).toBe("no_data");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    site.let("leak.test", from("9.9.9.11"));
    mend(site);
    await site.clock.advance(MINUTE_MS);
    expect(site.state(id)).toBe("down");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
  });

  test("a monitor that was slow, or failed before with an answer, is held too", async () => {
    await using site = await openEngineSite();
    await watched(site);
    const { id } = await site.monitor({ name: "shop", failure_threshold: 3 });
    site.let("shop.test", (context) => {
      Object.assign(context.contact ?? {}, { host: "9.9.9.12", addresses: ["9.9.9.12"] });
      return { outcome: "failed", latencyMs: 20, message: "Status 500." };
    });
    await site.clock.advance(MINUTE_MS);
    site.let("shop.test", silent("9.9.9.12"));
    await hold(site);
    expect(site.state(id)).toBe("no_data");
  });

  test("the failure of a name counts by its last address, and one that never had an address starts no hold", async () => {
    const unresolved: Target = ({ contact }) => {
      Object.assign(contact ?? {}, { host: "api.example", addresses: [], silence: "dns" });
      return { outcome: "failed", latencyMs: null, message: "The name could not be resolved." };
    };
    const named: Target = (context) => {
      Object.assign(context.contact ?? {}, { host: "api.example", addresses: [HOSTS.c] });
      return { outcome: "ok", latencyMs: 20, message: null };
    };
    for (const [first, state] of [
      [named, "no_data"],
      [unresolved, "down"],
    ] as const) {
      await using site = await openEngineSite();
      const ids = await watched(site);
      await site.app.ctx.db.write(() => {});
      site.let("c.test", first);
      await site.clock.advance(2 * MINUTE_MS);
      site.let("c.test", unresolved);
      site.let("a.test", silent(HOSTS.a));
      site.let("b.test", silent(HOSTS.b));
      await site.clock.advance(MINUTE_MS + 15 * SECOND_MS);
      expect(site.state(ids.a)).toBe(state);
    }
  });

  test("a check that began without the network and ends with it is repeated, and counts neither way", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site);
    lose(site, hanging);
    await site.clock.advance(MINUTE_MS + 20 * SECOND_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
    mend(site);
    site.app.ctx.outside.answered("1.1.1.1");
    await site.clock.advance(20 * SECOND_MS);
    expect(states(site, ids)).toEqual(["up", "up", "up"]);
    expect(site.eventTypes()).toEqual([]);
  });

  test("a requested check is answered with the reason", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site);
    await hold(site);
    const check = await site.engine.checkNow(ids.a);
    expect(check).toMatchObject({
      outcome: "unknown",
      message: "This server may have lost its network.",
    });
  });

  test("components have no data while all their monitors are held, and an outage replaces that time", async () => {
    await using site = await openEngineSite();
    const { page, components } = await site.app.page({}, ["API"]);
    const [component = ""] = Object.values(components);
    const ids = await watched(site, { component_ids: [component], failure_threshold: 2 });
    await hold(site);
    await site.clock.advance(15 * SECOND_MS);
    const [gap] = site.noData(page.id);
    expect(gap).toEndWith("→");
    expect(site.status(component)).toBe("operational");
    site.app.ctx.outside.answered("1.1.1.1");
    await site.clock.advance(SECOND_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
    expect(site.status(component)).toBe("major_outage");
    expect(site.noData(page.id)).not.toContain(gap);
    const starts = NAMES.map((name) => site.timeline(ids[name]).at(-1)?.replace("down ", ""));
    expect(
      site
        .causes(page.id)
        .map((cause) => cause.replace("major_outage ", ""))
        .sort(),
    ).toEqual(starts.map(String).sort());
  });
});

describe("automatic incidents", () => {
  /** A monitor of a host outside that answers by itself, and opens incidents of a component. */
  async function opening(site: EngineSite) {
    const { components } = await site.app.page({}, ["API"]);
    const component_ids = Object.values(components);
    const key = await site.app.keyWith("read:status");
    const body = { name: "shop", failure_threshold: 1, component_ids } as const;
    const { id } = await site.monitor({ ...body, open_incident: "automatic" });
    site.let("shop.test", from("7.7.7.7"));
    await site.clock.advance(MINUTE_MS);
    const incidents = async (): Promise<{ status: string; started_at: string }[]> =>
      (await site.app.call("/api/v1/incidents", { key })).body.data;
    return { id, incidents };
  }

  test("an incident goes on over a hold, and ends with its outage after it", async () => {
    await using site = await openEngineSite();
    await watched(site);
    const { id, incidents } = await opening(site);
    const broken: Target = (context) => {
      Object.assign(context.contact ?? {}, { host: "7.7.7.7", addresses: ["7.7.7.7"] });
      return { outcome: "failed", latencyMs: 20, message: "Status 500." };
    };
    site.let("shop.test", broken);
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(site.state(id)).toBe("down");
    lose(site);
    site.let("shop.test", silent("7.7.7.7"));
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("no_data");
    mend(site);
    site.let("shop.test", broken);
    await site.clock.advance(MINUTE_MS);
    expect(site.state(id)).toBe("down");
    expect(await incidents()).toHaveLength(1);
    site.let("shop.test", from("7.7.7.7"));
    await site.clock.advance(5 * MINUTE_MS);
    expect((await incidents()).map(({ status }) => status)).toEqual(["resolved"]);
    expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up"]);
  });

  test("held failures that count open one incident, dated from the first failed check", async () => {
    await using site = await openEngineSite();
    await watched(site);
    const { id, incidents } = await opening(site);
    lose(site);
    site.let("shop.test", silent("7.7.7.7"));
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    const failedAt = site.checks(id).find(({ outcome }) => outcome !== "ok")?.at ?? 0;
    const [incident, ...others] = await incidents();
    expect(others).toEqual([]);
    expect(Date.parse(incident?.started_at ?? "")).toBe(failedAt);
  });
});

describe("jobs", () => {
  const CALL = { outcome: "ok", latencyMs: null, message: null } as const;

  async function job(site: EngineSite, isFromOutside: boolean): Promise<string> {
    const config = { grace_seconds: 0 };
    const input = { type: "push", config, failure_threshold: 1, name: "job" } as const;
    const { id } = await site.monitor(input);
    // The engine reads changed monitors at most four times a second, and counts a job's time from then.
    await site.clock.advance(SECOND_MS);
    await site.engine.heartbeat(id, { ...CALL, isFromOutside });
    return id;
  }

  test("missed calls from outside are held, and a late call brings the job up", async () => {
    await using site = await openEngineSite();
    await watched(site);
    const id = await job(site, true);
    lose(site);
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(site.state(id)).toBe("no_data");
    site.app.ctx.outside.answered("1.1.1.1");
    mend(site);
    await site.clock.advance(30 * SECOND_MS);
    await site.engine.heartbeat(id, { ...CALL, isFromOutside: true });
    expect(site.state(id)).toBe("up");
    expect(site.eventTypes()).toEqual([]);
  });

  test("a job that does not call after the hold is down from its first missed call", async () => {
    await using site = await openEngineSite();
    await watched(site);
    const id = await job(site, true);
    const missedAt = site.clock.now() + MINUTE_MS - site.begin;
    lose(site);
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    site.app.ctx.outside.answered("1.1.1.1");
    mend(site);
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(site.state(id)).toBe("down");
    expect(site.timeline(id).at(-1)).toBe(`down ${missedAt / 1000} →`);
  });

  for (const [how, change] of [
    [
      "a restart",
      async (site: EngineSite) => {
        site.kill();
        await site.start();
      },
    ],
    [
      "a change of its name",
      async (site: EngineSite, id: string) => {
        await site.app.ctx.db.write((tx) =>
          updateMonitor(site.app.ctx, tx, id, { name: "backup" }, CLI_ACTOR),
        );
        await site.clock.advance(SECOND_MS);
      },
    ],
  ] as const) {
    test(`a nightly job that does not call after the hold is down within an hour, also over ${how}`, async () => {
      await using site = await openEngineSite();
      await watched(site);
      const config = { schedule: "5 12 * * *", grace_seconds: 60 };
      const body = { type: "push", config, failure_threshold: 1, name: "job" } as const;
      const { id } = await site.monitor(body);
      await site.engine.heartbeat(id, { ...CALL, isFromOutside: true });
      await site.clock.advance(site.begin + 4 * MINUTE_MS + 30 * SECOND_MS - site.clock.now());
      lose(site);
      await site.clock.advance(MINUTE_MS + 45 * SECOND_MS);
      expect(site.state(id)).toBe("no_data");
      mend(site);
      site.app.ctx.outside.answered("1.1.1.1");
      await site.clock.advance(SECOND_MS);
      await change(site, id);
      await site.clock.advance(62 * MINUTE_MS);
      expect(site.state(id)).toBe("down");
    });
  }

  test("a job with a parent whose missed call was held is down when all held failures count", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site);
    const parent = await site.monitor({ name: "nas" });
    const config = { schedule: "5 12 * * *", grace_seconds: 60 };
    const body = { type: "push", config, failure_threshold: 1, name: "job" } as const;
    const { id } = await site.monitor({ ...body, depends_on: [parent.id] });
    await site.engine.heartbeat(id, { ...CALL, isFromOutside: true });
    await site.clock.advance(site.begin + 4 * MINUTE_MS + 30 * SECOND_MS - site.clock.now());
    lose(site);
    await site.clock.advance(MINUTE_MS + 45 * SECOND_MS);
    expect(site.state(id)).toBe("no_data");
    await site.clock.advance(3 * MINUTE_MS);
    expect([site.state(ids.a), site.state(id)]).toEqual(["down", "down"]);
  });

  test("a job that calls from a private network, and any job without a hold, is judged as always", async () => {
    for (const [isFromOutside, isLost] of [
      [false, true],
      [true, false],
    ] as const) {
      await using site = await openEngineSite();
      await watched(site);
      const id = await job(site, isFromOutside);
      if (isLost) lose(site);
      await site.clock.advance(MINUTE_MS + SECOND_MS);
      expect(site.state(id)).toBe("down");
    }
  });
});

describe("a hold over the end of the process", () => {
  test("a hold goes on after kill -9 for the rest of its three minutes, and then all count with their own times", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site);
    lose(site);
    await site.clock.advance(MINUTE_MS);
    const failedAt = site.checks(ids.a).find(({ outcome }) => outcome !== "ok")?.at ?? 0;
    await site.clock.advance(MINUTE_MS);
    site.kill();
    await site.clock.advance(20 * SECOND_MS);
    await site.start();
    await site.clock.advance(20 * SECOND_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
    expect(site.timeline(ids.a).at(-1)).toBe(`down ${(failedAt - site.begin) / 1000} →`);
  });

  test("a hold goes on on a server that becomes the primary some seconds after its start", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site, { failure_threshold: 5 });
    lose(site);
    await site.clock.advance(MINUTE_MS + 10 * SECOND_MS);
    site.kill();
    let isPrimary = false;
    site.app.ctx.isPrimary = () => isPrimary;
    await site.start();
    await site.clock.advance(2 * SECOND_MS);
    isPrimary = true;
    await site.clock.advance(MINUTE_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
    expect(alarmsOf(site)).toEqual(["raised"]);
  });

  test("a server that starts without its network holds failures of names that it found before", async () => {
    await using site = await openEngineSite();
    const named =
      (name: Name, isFound: boolean): Target =>
      ({ contact }) => {
        const host = `${name}.example`;
        const addresses = isFound ? [HOSTS[name]] : [];
        const silence = isFound ? undefined : "dns";
        Object.assign(contact ?? {}, { host, addresses, silence });
        return isFound
          ? { outcome: "ok", latencyMs: 20, message: null }
          : { outcome: "failed", latencyMs: null, message: "The name could not be resolved." };
      };
    const ids = await watched(site, { failure_threshold: 2 });
    for (const name of NAMES) site.let(`${name}.test`, named(name, true));
    await site.clock.advance(15 * MINUTE_MS);
    site.kill();
    for (const name of NAMES) site.let(`${name}.test`, named(name, false));
    await site.clock.advance(10 * MINUTE_MS);
    await site.start();
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
    for (const name of NAMES) site.let(`${name}.test`, named(name, true));
    await site.clock.advance(MINUTE_MS);
    expect(states(site, ids)).toEqual(["up", "up", "up"]);
    expect(site.eventTypes()).toEqual([]);
    // They are kept, although the last process has stored none.
    site.kill();
    for (const name of NAMES) site.let(`${name}.test`, named(name, false));
    await site.start();
    await site.clock.advance(5 * MINUTE_MS + 30 * SECOND_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
    expect(alarmsOf(site)).toEqual(["raised", "cleared", "raised"]);
  });

  test("an answer after a restart ends the hold", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site);
    lose(site);
    await site.clock.advance(MINUTE_MS);
    site.kill();
    await site.start();
    site.let("a.test", from(HOSTS.a));
    await site.clock.advance(MINUTE_MS);
    expect(states(site, ids)).toEqual(["up", "down", "down"]);
  });

  test("failures that were held before an answer and a restart are not held again", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site, { failure_threshold: 10, retry_interval_seconds: 5 });
    lose(site);
    await site.clock.advance(MINUTE_MS + 10 * SECOND_MS);
    expect(states(site, ids)).toEqual(["no_data", "no_data", "no_data"]);
    site.app.ctx.outside.answered("1.1.1.1");
    await site.app.ctx.db.write(() => {});
    site.kill();
    await site.start();
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
    expect(alarmsOf(site)).toEqual(["raised", "cleared"]);
  });

  test("restarts do not extend the silence: after an expired hold nothing is held for the rest of half an hour", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site);
    lose(site);
    await site.clock.advance(5 * MINUTE_MS);
    mend(site);
    await site.clock.advance(2 * MINUTE_MS);
    site.kill();
    await site.start();
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["up", "up", "up"]);
    lose(site);
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
  });

  test("a clock that was set back makes no hold longer", async () => {
    await using site = await openEngineSite();
    const ids = await watched(site);
    lose(site);
    await site.clock.advance(MINUTE_MS);
    site.clock.setWallClock(site.clock.now() - 5 * 60 * MINUTE_MS);
    await site.clock.advance(3 * MINUTE_MS);
    expect(states(site, ids)).toEqual(["down", "down", "down"]);
  });
});
