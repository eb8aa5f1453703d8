import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../../src/base/time";
import { advanceMaintenance } from "../../../../src/features/maintenance/clock";
import { pauseMonitor, resumeMonitor } from "../../../../src/features/monitors/monitors";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { listSpans } from "../../../../src/features/monitors/spans-store";
import type { CreateMonitorBody, UpdateMonitorBody } from "../../../../src/features/monitors/wire";
import { answers, type EngineSite, fails, openEngineSite } from "../../../support/engine-site";
import { addMaintenanceUpdate, planMaintenance, updateMonitor } from "../../../support/examined";
import { composed } from "../../../../src/base/validation";
import { updateLocation } from "../../../../src/features/locations/locations";
import { countMonitorsByLocation } from "../../../../src/features/locations/store";
import { findSetting } from "../../../../src/features/settings/store";
import { addAgent, type TestAgent } from "../../../support/location-agents";

/** Logged about a result that is dropped. */
const LOST = "a result of a location could not be written";

interface Site extends AsyncDisposable {
  site: EngineSite;
  agents: TestAgent[];
  id: string;
  state(): string;
  /** Sends the same outcomes of all agents, one after another. */
  reportAll(outcomes: string): Promise<void>;
  /** Message of the current span. */
  message(): string | null | undefined;
  change(body: UpdateMonitorBody): Promise<void>;
}

/** Opens a site with the agents of locations, and a monitor that is checked from all of them, and here unless `isRemoteOnly`. */
async function openSite(
  names: readonly string[],
  { isRemoteOnly = false, ...input }: Partial<CreateMonitorBody> & { isRemoteOnly?: boolean } = {},
): Promise<Site> {
  const site = await openEngineSite();
  const { ctx } = site.app;
  const agents: TestAgent[] = [];
  // oxlint-disable-next-line no-await-in-loop
  for (const name of names) agents.push(await addAgent(site, name));
  const ids = agents.map((agent) => agent.id);
  const locations = isRemoteOnly ? ids : ["local", ...ids];
  const { id } = await site.monitor({ locations, ...input } as Partial<CreateMonitorBody>);
  await site.clock.advance(SECOND_MS);
  return {
    site,
    agents,
    id,
    state: () => site.state(id),
    async reportAll(outcomes) {
      // oxlint-disable-next-line no-await-in-loop
      for (const agent of agents) await agent.report(id, outcomes);
    },
    message() {
      const nums = JSON.stringify([getMonitorRecord(ctx.db, id).row.num]);
      return listSpans(ctx.db, { nums, from: 0, to: Number.MAX_SAFE_INTEGER }).at(-1)?.row.message;
    },
    async change(body) {
      await ctx.db.write((tx) => updateMonitor(ctx, tx, id, body, CLI_ACTOR));
      await site.clock.advance(SECOND_MS);
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

describe("a monitor with several locations", () => {
  test("is not down while one of two locations fails, and is when both do, dated from the second", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id, state } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, ".!!!");
    expect(berlin.state(id)).toBe("down");
    expect(state()).toBe("up");
    expect(site.eventTypes()).toEqual([]);
    site.let("api.test", fails());
    for (let minute = 0; minute < 3; minute++) {
      berlin.call();
      // oxlint-disable-next-line no-await-in-loop
      await site.clock.advance(MINUTE_MS);
    }
    expect(state()).toBe("down");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    const first = site.checks(id).find(({ outcome }) => outcome === "failed");
    expect(site.timeline(id).at(-1)).toBe(`down ${((first?.at ?? 0) - site.begin) / 1_000} →`);
  });

  test("has each result at its own time, also one that is older than those from other locations", async () => {
    await using opened = await openSite(["berlin", "oregon"]);
    const { site, agents, id } = opened;
    const [berlin, oregon] = agents as [TestAgent, TestAgent];
    await site.clock.advance(2 * MINUTE_MS);
    const now = site.clock.now();
    await oregon.send(id, {});
    await berlin.send(id, { age_ms: MINUTE_MS }, { age_ms: 30 * SECOND_MS });
    expect(oregon.resultTimes(id)).toEqual([now]);
    expect(berlin.resultTimes(id)).toEqual([now - 30 * SECOND_MS, now - MINUTE_MS]);
    // A result that is not newer than the one before from its location is dated right after it.
    await berlin.send(id, { age_ms: 40 * SECOND_MS });
    expect(berlin.resultTimes(id)[0]).toBe(now - 30 * SECOND_MS + 1);
  });

  test("names its locations in the reason, and not in what is public", async () => {
    await using opened = await openSite(["berlin", "oregon"], { retry_interval_seconds: 5 });
    const { agents, id, message, site } = opened;
    const { components } = await site.app.page({}, ["API"]);
    await opened.change({ component_ids: Object.values(components), open_incident: "automatic" });
    const [berlin, oregon] = agents as [TestAgent, TestAgent];
    await opened.reportAll(".");
    await berlin.report(id, "!!!");
    await oregon.send(id, ...Array.from({ length: 3 }, () => ({ outcome: "failed" as const })));
    expect(message()).toBe(
      "Fails from berlin and oregon, answers from local. No route from berlin.",
    );
    const key = await site.app.keyWith("read:status");
    const incidents = (await site.app.call("/api/v1/incidents", { key })).body.data;
    expect(incidents).toMatchObject([
      { updates: [{ body: "Automatic checks are failing. No route from oregon." }] },
    ]);
    expect(JSON.stringify(incidents)).not.toMatch(/berlin|local/i);
    await opened.reportAll(".");
    expect(opened.state()).toBe("up");
    const ofMonitors = site.eventTypes().filter((type) => type.startsWith("monitor."));
    expect(ofMonitors).toEqual(["monitor.down", "monitor.up"]);
  });

  test("says of no location that it answers whose last check failed, and names it as it is named at the time", async () => {
    await using opened = await openSite(["berlin", "oregon"], { down_when: "any" });
    const { agents, id, message, site } = opened;
    const [berlin, oregon] = agents as [TestAgent, TestAgent];
    const { ctx } = site.app;
    await opened.reportAll(".");
    await oregon.report(id, "!");
    await ctx.db.write((tx) =>
      updateLocation(ctx, tx, berlin.id, composed({ name: "Berlin II" }), CLI_ACTOR),
    );
    await site.clock.advance(15 * SECOND_MS);
    await berlin.report(id, "!!!");
    expect(message()).toBe(
      "Fails from Berlin II and oregon, answers from local. No route from berlin.",
    );
  });

  test("is down when any or all locations are, as it asks", async () => {
    await using any = await openSite(["berlin", "oregon"], { down_when: "any" });
    await any.reportAll(".");
    await any.agents[0]?.report(any.id, "!!!");
    expect(any.state()).toBe("down");
    await using all = await openSite(["berlin", "oregon"], { down_when: "all" });
    await all.reportAll(".!!!");
    expect(all.state()).toBe("up");
    all.site.let("api.test", fails());
    await all.site.clock.advance(2 * MINUTE_MS);
    expect(all.state()).toBe("down");
  });

  test("counts down and degraded locations together for degraded", async () => {
    await using opened = await openSite(["berlin", "oregon"], { degraded_after_ms: 500 });
    const { agents, id, state, message } = opened;
    const [berlin, oregon] = agents as [TestAgent, TestAgent];
    await opened.reportAll(".");
    await berlin.report(id, "!!!");
    expect(state()).toBe("up");
    await oregon.send(id, { latency_ms: 900 }, { latency_ms: 900 }, { latency_ms: 900 });
    expect(state()).toBe("degraded");
    expect(message()).toBe("Fails from berlin, degraded from oregon, answers from local.");
  });

  test("keeps what local alone writes for each location", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, "..!.");
    expect(berlin.resultCount(id)).toBe(4);
    const own = site.checks(id).length;
    // Slots are delayed by up to a hundredth of the interval.
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(site.checks(id).length).toBeGreaterThan(own);
    expect(berlin.resultCount(id)).toBe(4);
  });

  test("is checked by this server only if that is one of its locations", async () => {
    await using opened = await openSite(["berlin"], { isRemoteOnly: true });
    const { site, agents, id, state } = opened;
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.checkCount("api.test")).toBe(0);
    // Its agent has never called.
    expect(state()).toBe("no_data");
    await agents[0]?.report(id, ".");
    expect(state()).toBe("up");
    await agents[0]?.report(id, "!!!");
    expect(state()).toBe("down");
    expect(opened.message()).toBe("Fails from berlin. No route from berlin.");
  });

  test("goes on where it was when it gets a location, and by its own state when that goes", async () => {
    await using opened = await openSite(["berlin"], { isRemoteOnly: false, locations: ["local"] });
    const { site, agents, id, state } = opened;
    const [berlin] = agents as [TestAgent];
    site.let("api.test", fails());
    await site.clock.advance(4 * MINUTE_MS);
    expect(state()).toBe("down");
    await opened.change({ locations: ["local", berlin.id] });
    expect(state()).toBe("down");
    await berlin.report(id, ".");
    expect(state()).toBe("up");
    await opened.change({ locations: ["local"] });
    await site.clock.advance(4 * MINUTE_MS);
    expect(state()).toBe("down");
    expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up", "monitor.down"]);
  });

  test("is counted at each of its locations, in memory as in the database, until only this server checks it", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, change } = opened;
    const [berlin] = agents as [TestAgent];
    const counted = () => {
      const counts = site.engine.countByLocation();
      expect(new Set(countMonitorsByLocation(site.app.ctx.db, {}))).toEqual(new Set(counts));
      return counts.map(({ locationId, monitors }) => `${monitors} at ${locationId}`).sort();
    };
    expect(counted()).toEqual([`1 at ${berlin.id}`, "1 at local"]);
    await change({ locations: ["local"] });
    expect(counted()).toEqual([]);
    await change({ locations: [berlin.id] });
    expect(counted()).toEqual([`1 at ${berlin.id}`]);
  });

  test("stays down when it gets a location that has said nothing yet, and comes up by what that says", async () => {
    await using opened = await openSite(["berlin", "oregon", "tokyo"]);
    const { site, agents, id, state } = opened;
    const [berlin, oregon, tokyo] = agents as [TestAgent, TestAgent, TestAgent];
    await opened.change({ locations: ["local", berlin.id, oregon.id] });
    await berlin.report(id, ".!!!");
    await oregon.report(id, ".!!!");
    expect(state()).toBe("down");
    tokyo.call();
    await opened.change({ locations: ["local", berlin.id, oregon.id, tokyo.id] });
    for (let minute = 0; minute < 3; minute++) {
      for (const agent of agents) agent.call();
      // oxlint-disable-next-line no-await-in-loop
      await site.clock.advance(MINUTE_MS);
      // oxlint-disable-next-line no-await-in-loop
      await berlin.report(id, "!");
    }
    expect(state()).toBe("down");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    // Of four, three must fail.
    await tokyo.report(id, ".");
    expect(state()).toBe("up");
  });

  test("is dated from a change of how many must fail, since fewer did before", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id, state } = opened;
    await agents[0]?.report(id, ".!!!");
    await site.clock.advance(30 * SECOND_MS);
    const before = site.clock.now();
    await opened.change({ down_when: "any" });
    expect(state()).toBe("down");
    const since = getMonitorRecord(site.app.ctx.db, id).state.since;
    expect(since).toBeGreaterThanOrEqual(before);
  });

  test("begins again at all locations after a pause", async () => {
    await using opened = await openSite(["berlin"], { isRemoteOnly: true });
    const { site, agents, id, state } = opened;
    const { ctx } = site.app;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, ".!!!");
    expect(state()).toBe("down");
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    await site.clock.advance(SECOND_MS);
    await berlin.report(id, "!");
    expect(state()).toBe("paused");
    await ctx.db.write((tx) => resumeMonitor(ctx, tx, id, CLI_ACTOR));
    await site.clock.advance(SECOND_MS);
    await berlin.report(id, "!!");
    expect(state()).toBe("pending");
    await berlin.report(id, "!");
    expect(state()).toBe("down");
  });

  test("is in maintenance during one, independent of its locations, and counts from zero after it", async () => {
    await using opened = await openSite(["berlin"], { isRemoteOnly: true });
    const { site, agents, id, state } = opened;
    const { ctx } = site.app;
    const [berlin] = agents as [TestAgent];
    const { components } = await site.app.page({ slug: "acme" }, ["API"]);
    const { API: componentId = "" } = components;
    await opened.change({ component_ids: [componentId] });
    await berlin.report(id, ".");
    const input = {
      page: "acme",
      name: "Upgrade",
      body: "A moment.",
      components: [componentId],
      scheduled_for: toIso(site.clock.now() + MINUTE_MS),
      scheduled_until: toIso(site.clock.now() + 11 * MINUTE_MS),
    };
    const { id: maintenance } = await ctx.db.write((tx) =>
      planMaintenance(ctx, tx, input, CLI_ACTOR),
    );
    await site.clock.advance(MINUTE_MS);
    await ctx.db.write((tx) => advanceMaintenance(ctx, tx, site.clock.now()));
    await site.clock.advance(SECOND_MS);
    expect(state()).toBe("maintenance");
    expect(berlin.state(id)).toBe("maintenance");
    await berlin.report(id, "!!!");
    expect(state()).toBe("maintenance");
    const update = { status: "completed", body: "Done." } as const;
    await ctx.db.write((tx) => addMaintenanceUpdate(ctx, tx, maintenance, update, CLI_ACTOR));
    await site.clock.advance(SECOND_MS);
    // A check that ended before the maintenance did, and is sent after it.
    await berlin.send(id, { outcome: "failed", age_ms: 5_000 });
    expect(state()).toBe("maintenance");
    await berlin.report(id, "!!");
    expect(state()).toBe("pending");
    await berlin.report(id, "!");
    expect(state()).toBe("down");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
  });
});

describe("the results of an agent", () => {
  test("results of an agent are taken once, however often and in which order they are sent", async () => {
    await using opened = await openSite(["berlin"]);
    const { agents, id } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.send(id, { outcome: "failed" }, { outcome: "failed" });
    await berlin.repeat();
    await berlin.repeat();
    expect(berlin.resultCount(id)).toBe(2);
    expect(berlin.state(id)).toBe("pending");
    // Another process numbers from 1 again.
    berlin.process = "fedcba9876543210fedcba98";
    berlin.number = 0;
    await berlin.report(id, ".");
    expect(berlin.resultCount(id)).toBe(3);
    // A batch of the first one that comes late has nothing new.
    const late = [{ number: 2, outcome: "failed" as const }];
    berlin.process = "0123456789abcdef01234567";
    await berlin.send(id, ...late);
    expect(berlin.resultCount(id)).toBe(3);
  });

  test("results of an agent are taken once over a restart of the server", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.send(id, { outcome: "failed" }, { outcome: "failed" });
    await site.stop();
    await site.start();
    await berlin.repeat();
    expect(berlin.resultCount(id)).toBe(2);
  });

  describe("failures of a location that was cut off, with which most locations would fail,", () => {
    const CUT_OFF = { outcome: "failed", is_cut_off: true } as const;

    /** Has one of three locations fail, and then another one that was cut off. */
    async function openCutOff() {
      const opened = await openSite(["berlin", "oregon"], { interval_seconds: 60 });
      const [berlin, oregon] = opened.agents as [TestAgent, TestAgent];
      await opened.reportAll(".");
      await berlin.report(opened.id, "!!!");
      await opened.site.clock.advance(SECOND_MS);
      await oregon.send(opened.id, CUT_OFF, CUT_OFF, CUT_OFF);
      expect([opened.state(), oregon.state(opened.id)]).toEqual(["up", "down"]);
      return { ...opened, berlin, oregon };
    }

    test("bring nothing down with failures of another location that come later", async () => {
      await using opened = await openSite(["berlin", "oregon"], { interval_seconds: 60 });
      const { site, id, state } = opened;
      const [berlin, oregon] = opened.agents as [TestAgent, TestAgent];
      await opened.reportAll(".");
      await oregon.send(id, CUT_OFF, CUT_OFF, CUT_OFF);
      await berlin.report(id, "!!!");
      expect([state(), berlin.state(id), oregon.state(id)]).toEqual(["up", "down", "down"]);
      await oregon.report(id, ".");
      expect(site.eventTypes()).toEqual([]);
      await oregon.report(id, "!!!");
      expect(site.eventTypes()).toEqual(["monitor.down"]);
    });

    test("bring nothing down if the next check succeeds", async () => {
      await using opened = await openCutOff();
      const { site, oregon, id, state } = opened;
      await oregon.report(id, ".");
      await site.clock.advance(2 * MINUTE_MS);
      expect([state(), oregon.state(id)]).toEqual(["up", "up"]);
      expect(site.eventTypes()).toEqual([]);
      expect(oregon.resultCount(id)).toBe(5);
    });

    test("do not count while successes are fewer than bring a location up", async () => {
      await using opened = await openCutOff();
      const { site, oregon, id, state } = opened;
      await opened.change({ success_threshold: 3 });
      for (const _ of [1, 2, 3]) {
        // oxlint-disable-next-line no-await-in-loop
        await site.clock.advance(MINUTE_MS);
        // oxlint-disable-next-line no-await-in-loop
        await oregon.report(id, ".");
        expect(state()).toBe("up");
      }
      expect([oregon.state(id), site.eventTypes()]).toEqual(["up", []]);
    });

    test("count once the next check fails as well, from their own times on", async () => {
      await using opened = await openCutOff();
      const { site, oregon, id, state } = opened;
      const failedAt = site.clock.now();
      await site.clock.advance(30 * SECOND_MS);
      expect(site.eventTypes()).toEqual([]);
      await oregon.report(id, "!");
      await site.clock.advance(SECOND_MS);
      expect(state()).toBe("down");
      expect(site.eventTypes()).toEqual(["monitor.down"]);
      expect(site.timeline(id).at(-1)).toBe(`down ${(failedAt - site.begin) / 1_000} →`);
    });

    test("count after the time of a check if there is none, also if the agent is cut off again and again", async () => {
      await using opened = await openCutOff();
      const { site, oregon, berlin, id, state } = opened;
      for (let passed = 0; passed < 80; passed += 10) {
        expect(state()).toBe("up");
        // oxlint-disable-next-line no-await-in-loop
        await oregon.send(id, CUT_OFF);
        berlin.call();
        // oxlint-disable-next-line no-await-in-loop
        await site.clock.advance(10 * SECOND_MS);
      }
      await site.clock.advance(MINUTE_MS);
      expect(state()).toBe("down");
    });

    test("count after a restart of the server", async () => {
      await using opened = await openCutOff();
      const { site, state } = opened;
      await site.stop();
      await site.start();
      await site.clock.advance(2 * SECOND_MS);
      expect(state()).toBe("down");
    });

    test("bring nothing down if the next check succeeds and comes in the same batch", async () => {
      await using opened = await openCutOff();
      const { site, oregon, id, state } = opened;
      await oregon.send(id, { age_ms: 500 }, CUT_OFF, CUT_OFF, CUT_OFF, {});
      await site.clock.advance(2 * MINUTE_MS);
      expect([state(), oregon.state(id), site.eventTypes()]).toEqual(["up", "up", []]);
    });

    test("leave a monitor down that is down", async () => {
      await using opened = await openCutOff();
      const { site, oregon, berlin, id, state } = opened;
      await oregon.report(id, "!");
      await site.clock.advance(SECOND_MS);
      await oregon.send(id, CUT_OFF);
      expect(state()).toBe("down");
      await berlin.report(id, ".");
      expect(state()).toBe("up");
      expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up"]);
    });
  });

  test("results of an agent have the times at which they were observed", async () => {
    await using opened = await openSite(["berlin"], { isRemoteOnly: true });
    const { site, agents, id } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, ".");
    await site.clock.advance(10 * MINUTE_MS);
    const ages = [300_000, 240_000, 180_000, 120_000];
    await berlin.send(id, ...ages.map((age_ms) => ({ age_ms, outcome: "failed" as const })));
    expect(opened.state()).toBe("down");
    const since = getMonitorRecord(site.app.ctx.db, id).state.since;
    expect(since).toBe(site.clock.now() - 300_000);
  });

  test("results are not taken if they are older than an agent keeps them, except that there is no data since", async () => {
    await using opened = await openSite(["berlin"], { isRemoteOnly: true });
    const { site, agents, id } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, ".");
    await site.clock.advance(60 * MINUTE_MS);
    const failure = { outcome: "failed", age_ms: 20 * MINUTE_MS } as const;
    await berlin.send(id, failure, failure, failure);
    expect(opened.state()).not.toBe("down");
    expect(berlin.resultCount(id)).toBe(1);
    await berlin.report(id, ".");
    const nothing = { kind: "away", outcome: "unknown", latency_ms: null } as const;
    await berlin.send(id, { ...nothing, age_ms: 20 * MINUTE_MS });
    expect(opened.state()).toBe("no_data");
  });

  test("results of another version, of an unknown monitor or of one without the location are skipped", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id } = opened;
    const [berlin] = agents as [TestAgent];
    const oregon = await addAgent(site, "oregon");
    await berlin.send(id, { version: 7 }, { monitor_id: "mon_unknown" }, {});
    expect(berlin.resultCount(id)).toBe(1);
    await oregon.report(id, "!!!");
    expect(oregon.state(id)).toBeUndefined();
    expect(opened.state()).toBe("up");
  });

  test("results wait at the agent while the database takes none, and are not lost", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id } = opened;
    const [berlin] = agents as [TestAgent];
    site.disk = "full";
    await expect(berlin.send(id, {}, {})).rejects.toThrow();
    site.disk = "fine";
    await berlin.repeat();
    expect(berlin.resultCount(id)).toBe(2);
  });

  test("a result that cannot be written does not lose the others", async () => {
    await using opened = await openSite(["berlin"]);
    const { agents, id } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.send(id, {}, { outcome: "nonsense" as "ok" }, {});
    expect(berlin.resultCount(id)).toBe(2);
  });

  test("results that cannot be written are found among many in few transactions", async () => {
    await using opened = await openSite(["berlin"]);
    const { agents, id, site } = opened;
    const [berlin] = agents as [TestAgent];
    const bad = new Set([0, 249, 998, 999]);
    const before = site.transactions();
    await berlin.send(
      id,
      ...Array.from({ length: 1_000 }, (_, at) => ({
        age_ms: (1_000 - at) * 10,
        ...(bad.has(at) && { outcome: "nonsense" as "ok" }),
      })),
    );
    expect(berlin.resultCount(id)).toBe(1_000 - bad.size);
    expect(site.transactions() - before).toBeLessThan(50);
    const dropped = site.app.logged.filter(({ msg }) => msg === LOST);
    expect(dropped).toHaveLength(bad.size);
    await berlin.repeat();
    expect(berlin.resultCount(id)).toBe(1_000 - bad.size);
  });

  test("results have times in parts of milliseconds, and are written", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, ".");
    await site.clock.advance(MINUTE_MS);
    const failure = { outcome: "failed", since_age_ms: 40_000.25, age_ms: 0.5 } as const;
    await berlin.send(id, failure, failure, failure);
    expect(berlin.state(id)).toBe("down");
    await site.clock.advance(MINUTE_MS);
    await berlin.send(id, { kind: "away", outcome: "unknown", age_ms: 0.75, latency_ms: null });
    expect(berlin.state(id)).toBe("no_data");
  });

  test("results name the installations behind providers once a batch, and behind nothing else", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id } = opened;
    const { ctx } = site.app;
    const [berlin] = agents as [TestAgent];
    const named = () => findSetting(ctx.db, { name: "upstream_vias" })?.value;
    const viaOf = (at: number) => [at.toString(16).padStart(24, "0")];
    await berlin.send(id, { via: viaOf(1) });
    expect(named()).toBeUndefined();
    const { id: provider } = await site.monitor({
      type: "upstream",
      config: { url: "https://status.example.com/" },
      locations: ["local", berlin.id],
    } as Partial<CreateMonitorBody>);
    await site.clock.advance(SECOND_MS);
    const { write } = ctx.db;
    let writes = 0;
    ctx.db.write = ((...args: Parameters<typeof write>) => {
      writes += 1;
      return write.apply(ctx.db, args);
    }) as typeof write;
    await berlin.send(provider, ...Array.from({ length: 50 }, (_, at) => ({ via: viaOf(at) })));
    expect(named()).toEqual({ [provider]: viaOf(49) });
    expect(writes).toBeLessThan(5);
  });

  test("results that are held leave the location out until it knows more", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id, state } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, ".");
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    // Of two locations, both must fail.
    expect(state()).toBe("up");
    const held = { outcome: "unknown", is_held: true, latency_ms: null } as const;
    await berlin.send(id, held, held, held);
    expect(berlin.state(id)).toBe("no_data");
    expect(state()).toBe("down");
    await berlin.report(id, ".");
    expect(state()).toBe("up");
    await berlin.send(id, held, held, held, { kind: "held", outcome: "failed" });
    expect(berlin.state(id)).toBe("down");
    expect(state()).toBe("down");
  });
});

describe("an agent that does not call", () => {
  test("still counts for ten minutes, is left out then, and counts again with its next result", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id, state } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, ".");
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.engine.presenceOf(berlin.id)).toBe("silent");
    expect(state()).toBe("up");
    await site.clock.advance(9 * MINUTE_MS);
    expect(state()).toBe("up");
    await site.clock.advance(MINUTE_MS);
    expect(site.engine.presenceOf(berlin.id)).toBe("left_out");
    expect(state()).toBe("down");
    expect(opened.message()).toBe(
      "Fails from local, no word from berlin. The connection was refused.",
    );
    // The outage begins when one location was enough.
    const { since } = getMonitorRecord(site.app.ctx.db, id).state;
    expect(since).toBeGreaterThan(site.begin + 11 * MINUTE_MS);
    berlin.call();
    await site.clock.advance(SECOND_MS);
    expect(site.engine.presenceOf(berlin.id)).toBe("present");
    expect(berlin.state(id)).toBe("no_data");
    expect(state()).toBe("down");
    await berlin.report(id, ".");
    expect(state()).toBe("up");
  });

  test.each(["while the server runs", "over a restart of the server"])(
    "brings down or up nothing by what it said before it was left out, %s",
    async (when) => {
      await using opened = await openSite(["berlin", "oregon"], { down_when: "any" });
      const { site, agents, id, state } = opened;
      const [berlin, oregon] = agents as [TestAgent, TestAgent];
      await opened.reportAll(".");
      await berlin.report(id, "!!!");
      expect(state()).toBe("down");
      for (let half = 0; half < 24; half++) {
        oregon.call();
        // oxlint-disable-next-line no-await-in-loop
        await site.clock.advance(MINUTE_MS / 2);
      }
      expect(state()).toBe("up");
      if (when !== "while the server runs") {
        await site.stop();
        await site.start();
        await site.clock.advance(SECOND_MS);
      }
      berlin.call();
      await site.clock.advance(MINUTE_MS);
      expect(state()).toBe("up");
      // Two failures are fewer than its threshold, which counts anew.
      await berlin.report(id, "!!");
      expect(state()).toBe("up");
      await berlin.report(id, "!");
      expect(state()).toBe("down");
    },
  );

  test("counts again when it calls, though it has said nothing yet", async () => {
    await using opened = await openSite(["berlin"], { isRemoteOnly: true });
    const [berlin] = opened.agents as [TestAgent];
    await opened.site.clock.advance(3 * MINUTE_MS);
    expect(opened.state()).toBe("no_data");
    berlin.call();
    await opened.site.clock.advance(SECOND_MS);
    expect(opened.state()).toBe("pending");
  });

  test("leaves a monitor without data that no other location checks", async () => {
    await using opened = await openSite(["berlin"], { isRemoteOnly: true });
    const { site, agents, id, state } = opened;
    await agents[0]?.report(id, ".");
    await site.clock.advance(11 * MINUTE_MS);
    expect(state()).toBe("up");
    await site.clock.advance(MINUTE_MS);
    expect(state()).toBe("no_data");
    await agents[0]?.report(id, ".");
    expect(state()).toBe("up");
  });

  test("is reported once after three minutes, and again after it has called", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents } = opened;
    const [berlin] = agents as [TestAgent];
    const offline = () => site.app.events().filter(({ type }) => type === "location.offline");
    await site.clock.advance(5 * MINUTE_MS);
    // It has never called.
    expect(offline()).toEqual([]);
    berlin.call();
    const calledAt = site.clock.now();
    await site.clock.advance(2 * MINUTE_MS);
    expect(offline()).toEqual([]);
    await site.clock.advance(20 * MINUTE_MS);
    expect(offline().map(({ data }) => data)).toMatchObject([
      { id: berlin.id, name: "berlin", silent_since: toIso(calledAt) },
    ]);
    await site.stop();
    await site.start();
    await site.clock.advance(5 * MINUTE_MS);
    expect(offline()).toHaveLength(1);
    berlin.call();
    await site.clock.advance(5 * MINUTE_MS);
    expect(offline()).toHaveLength(2);
  });

  test("has as much time after a restart as it had before, and the server's absence is not its silence", async () => {
    await using opened = await openSite(["berlin"]);
    const { site, agents, id, state } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, ".");
    site.let("api.test", fails());
    await site.clock.advance(5 * MINUTE_MS);
    await site.stop();
    await site.clock.advance(30 * MINUTE_MS);
    await site.start();
    expect(site.engine.presenceOf(berlin.id)).toBe("silent");
    await site.clock.advance(4 * MINUTE_MS);
    expect(site.engine.presenceOf(berlin.id)).toBe("silent");
    expect(state()).not.toBe("down");
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.engine.presenceOf(berlin.id)).toBe("left_out");
    expect(state()).toBe("down");
  });
});

describe("the server that was offline", () => {
  test("a server that was offline has no data of that time, keeps what agents observed, and counts it from its return", async () => {
    await using opened = await openSite(["berlin"], { isRemoteOnly: true });
    const { site, agents, id, state } = opened;
    const [berlin] = agents as [TestAgent];
    await berlin.report(id, ".");
    await site.stop();
    await site.clock.advance(5 * MINUTE_MS);
    await site.start();
    expect(state()).toBe("no_data");
    const returned = site.clock.now();
    const ages = [240_000, 180_000, 120_000, 60_000];
    await berlin.send(id, ...ages.map((age_ms) => ({ age_ms, outcome: "failed" as const })));
    expect(berlin.resultCount(id)).toBe(5);
    expect(state()).toBe("down");
    expect(getMonitorRecord(site.app.ctx.db, id).state.since).toBeGreaterThanOrEqual(returned);
  });
});

describe("a monitor with parents and several locations", () => {
  async function openFamily() {
    const opened = await openSite(["berlin"], {
      name: "router",
      isRemoteOnly: false,
      locations: ["local"],
    });
    const { site, agents, id: parent } = opened;
    const [berlin] = agents as [TestAgent];
    const { id } = await site.monitor({
      locations: ["local", berlin.id],
      depends_on: [parent],
    } as Partial<CreateMonitorBody>);
    await site.clock.advance(MINUTE_MS);
    await berlin.report(id, ".");
    expect(site.state(id)).toBe("up");
    return { site, berlin, parent, id, opened };
  }

  test("is unreachable and not down if its parent fails, which is checked at once", async () => {
    const { site, berlin, id, opened } = await openFamily();
    await using _ = opened;
    site.let("router.test", fails());
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    // One of two locations fails: the monitor is up.
    expect(site.state(id)).toBe("up");
    await berlin.report(id, "!");
    await site.clock.advance(SECOND_MS);
    expect(site.state(id)).toBe("unreachable");
    await berlin.report(id, "!!!");
    expect(site.state(id)).toBe("unreachable");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
  });

  test("has its parents checked before failures of other locations bring it down", async () => {
    const { site, berlin, id, opened } = await openFamily();
    await using _ = opened;
    await opened.site.clock.advance(SECOND_MS);
    site.let("api.test", fails());
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.state(id)).toBe("up");
    // The parent fails since its last check.
    site.let("router.test", fails());
    const before = site.checkCount("router.test");
    await berlin.report(id, "!!!");
    await site.clock.advance(SECOND_MS);
    expect(site.checkCount("router.test")).toBeGreaterThan(before);
    expect(site.state(id)).toBe("unreachable");
  });

  test("is down after its parent has recovered only if further checks fail at enough locations", async () => {
    const { site, berlin, id, opened } = await openFamily();
    await using _ = opened;
    site.let("router.test", fails());
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    await berlin.report(id, "!!!");
    await site.clock.advance(SECOND_MS);
    expect(site.state(id)).toBe("unreachable");
    site.let("router.test", answers());
    await site.clock.advance(MINUTE_MS);
    expect(site.state(id)).toBe("unreachable");
    await site.clock.advance(2 * MINUTE_MS);
    await berlin.report(id, "!!");
    expect(site.state(id)).toBe("unreachable");
    await berlin.report(id, "!");
    await site.clock.advance(SECOND_MS);
    expect(site.state(id)).toBe("down");
  });
});
