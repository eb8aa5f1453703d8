import { expect, test } from "bun:test";
import fc from "fast-check";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { type DownWhen, DOWN_WHEN } from "../../../../src/base/status";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../../src/base/time";
import { countMonitorsByLocation } from "../../../../src/features/locations/store";
import { advanceMaintenance } from "../../../../src/features/maintenance/clock";
import { pauseMonitor, resumeMonitor } from "../../../../src/features/monitors/monitors";
import type { CreateMonitorBody, UpdateMonitorBody } from "../../../../src/features/monitors/wire";
import { answers, type EngineSite, fails, openEngineSite } from "../../../support/engine-site";
import { addMaintenanceUpdate, planMaintenance, updateMonitor } from "../../../support/examined";
import { addAgent, type TestAgent } from "../../../support/location-agents";

const THRESHOLD = { failures: 2, successes: 2 };
const AGENTS = 3;
/** Position of this server among the locations of the model. */
const SERVER = AGENTS;

type Outcome = "ok" | "failed" | "held" | "unknown" | "counted";

/** A location as the documentation describes it. */
interface Place {
  state: "pending" | "up" | "down" | "no_data" | "maintenance";
  failures: number;
  successes: number;
  contact: "present" | "silent" | "left out";
  isUsed: boolean;
}

/** A monitor and its locations as the documentation describes them. */
class Model {
  readonly places: Place[] = Array.from({ length: AGENTS + 1 }, () => newPlace());
  state: "pending" | "up" | "down" | "no_data" | "maintenance" | "paused" = "pending";
  isInMaintenance = false;
  isOwnTargetWell = true;
  results = 0;
  known: "up" | "down" = "up";
  readonly events: string[] = [];

  constructor(public downWhen: DownWhen) {}

  observe(at: number, outcome: Outcome): void {
    const place = this.places[at];
    if (!place?.isUsed || this.state === "paused") return;
    if (at !== SERVER && outcome !== "counted") this.results += 1;
    if (outcome === "counted") {
      if (place.state === "no_data" && place.failures >= THRESHOLD.failures) enter(place, "down");
    } else if (this.isInMaintenance) enter(place, "maintenance");
    else count(place, outcome);
    this.settle();
  }

  checkHere(): void {
    this.observe(SERVER, this.isOwnTargetWell ? "ok" : "failed");
  }

  /** Finds the state by what each location said last. */
  settle(): void {
    if (this.state === "paused") return;
    if (this.isInMaintenance) {
      this.enter("maintenance");
      return;
    }
    const present = this.places.filter(({ isUsed, contact, state }) => {
      if (!isUsed || contact === "left out" || state === "no_data") return false;
      return contact === "present" || state === "up" || state === "down";
    });
    const known = present.filter(({ state }) => state === "up" || state === "down");
    // Nobody comes up by what others have not said yet.
    const counted = this.state === "down" && known.length > 0 ? known : present;
    const down = counted.filter(({ state }) => state === "down").length;
    const half = Math.floor(counted.length / 2) + 1;
    const needed = { any: 1, majority: half, all: counted.length }[this.downWhen];
    if (counted.length === 0) this.enter("no_data");
    else if (down >= needed) this.enter("down");
    else if (counted.some(({ state }) => state === "up")) this.enter("up");
    else if (this.state === "no_data" || this.state === "maintenance") this.enter("pending");
  }

  enter(state: Model["state"]): void {
    this.state = state;
    if ((state !== "up" && state !== "down") || state === this.known) return;
    this.known = state;
    this.events.push(`monitor.${state}`);
  }

  /** Begins again at all locations. */
  restartAll(state: "pending" | "maintenance"): void {
    for (const place of this.places) enter(place, state);
  }
}

function newPlace(): Place {
  return { state: "pending", failures: 0, successes: 0, contact: "present", isUsed: true };
}

function enter(place: Place, state: Place["state"]): void {
  Object.assign(place, { state, failures: 0, successes: 0 });
}

function count(place: Place, outcome: Exclude<Outcome, "counted">): void {
  const { state, failures } = place;
  switch (outcome) {
    case "ok":
      place.successes += 1;
      if (state === "up") place.failures = 0;
      else if (state !== "down" || place.successes >= THRESHOLD.successes) enter(place, "up");
      return;
    case "failed":
      place.successes = 0;
      if (state === "down") return;
      if (state === "no_data" || state === "maintenance") place.state = "pending";
      place.failures = state === "maintenance" ? 1 : failures + 1;
      if (place.failures >= THRESHOLD.failures) enter(place, "down");
      return;
    case "held":
      enter(place, "no_data");
      place.failures = failures + 1;
      return;
    case "unknown":
      enter(place, "no_data");
  }
}

interface World {
  site: EngineSite;
  agents: TestAgent[];
  id: string;
  model: Model;
  component: string;
}

interface Action {
  name: string;
  run(world: World): Promise<void>;
}

/** Results as an agent sends them. */
const AS_RESULT = {
  ok: { outcome: "ok" },
  failed: { outcome: "failed" },
  held: { outcome: "unknown", is_held: true, latency_ms: null },
  unknown: { outcome: "unknown", latency_ms: null },
  counted: { kind: "held", outcome: "failed", latency_ms: null },
} as const;

const report = fc
  .record({
    at: fc.nat(AGENTS - 1),
    outcomes: fc.oneof(
      // Enough for another state, or any.
      fc.constantFrom<Outcome[]>(["ok", "ok"], ["failed", "failed"]),
      fc.array(fc.constantFrom<Outcome>("ok", "failed", "failed", "held", "unknown", "counted"), {
        minLength: 1,
        maxLength: 4,
      }),
    ),
    isRepeated: fc.boolean(),
  })
  .map(({ at, outcomes, isRepeated }): Action => ({
    name: `${at} reports ${outcomes.join(" ")}${isRepeated ? " twice" : ""}`,
    async run({ agents, id, model }) {
      const agent = agents[at] as TestAgent;
      const place = model.places[at] as Place;
      place.contact = "present";
      await agent.send(id, ...outcomes.map((outcome) => AS_RESULT[outcome]));
      for (const outcome of outcomes) model.observe(at, outcome);
      if (isRepeated) await agent.repeat();
    },
  }));

/** An agent that was cut off tells of failures of that time, and then of what is so. */
const cutOff = fc
  .record({
    at: fc.nat(AGENTS - 1),
    failures: fc.integer({ min: 1, max: 3 }),
    isWell: fc.boolean(),
  })
  .map(({ at, failures, isWell }): Action => ({
    name: `${at} was cut off, failed ${failures} times, and then ${isWell ? "succeeds" : "fails"}`,
    async run({ site, agents, id, model }) {
      const agent = agents[at] as TestAgent;
      const place = model.places[at] as Place;
      place.contact = "present";
      const failed = { ...AS_RESULT.failed, is_cut_off: true };
      const before = site.eventTypes().length;
      const wasDown = place.state === "down";
      await agent.send(id, ...Array.from({ length: failures }, () => failed));
      const isFailing = site.eventTypes().slice(before).includes("monitor.down");
      if (!wasDown) expect(isFailing).toBe(false);
      const next = isWell ? "ok" : "failed";
      await agent.send(id, AS_RESULT[next], AS_RESULT[next]);
      // Nothing is decided before the location is not down any more, or fails again.
      if (place.isUsed && model.state !== "paused") {
        for (let failure = 0; failure < failures; failure++) count(place, "failed");
        count(place, next);
        model.results += failures + 1;
      }
      model.observe(at, next);
      await site.clock.advance(SECOND_MS);
    },
  }));

const checkHere = fc.boolean().map((isWell): Action => ({
  name: `the server's check ${isWell ? "succeeds" : "fails"}`,
  async run({ site, id, model }) {
    model.isOwnTargetWell = isWell;
    site.let("api.test", isWell ? answers() : fails());
    if (model.state === "paused" || !model.places[SERVER]?.isUsed) return;
    await site.engine.checkNow(id);
    model.checkHere();
  },
}));

/** Some agents are silent, while the others call. */
const silence = fc
  .record({ silent: fc.subarray([0, 1, 2], { minLength: 1 }), minutes: fc.constantFrom(2, 12, 12) })
  .map(({ silent, minutes }): Action => ({
    name: `${silent.join()} silent for ${minutes} minutes`,
    async run({ site, agents, model }) {
      for (const agent of agents) agent.call();
      const isUnknown = ({ isUsed, state }: Place) =>
        isUsed && (state === "pending" || state === "maintenance");
      const quiet = silent.map((at) => model.places[at] as Place);
      // Without data since the server was off, and after maintenance, nothing but news of a location is judged.
      const settle = (hasNews: boolean) => {
        if (hasNews || (model.state !== "no_data" && model.state !== "maintenance")) model.settle();
      };
      const back = model.places.filter((each) => each.contact !== "present");
      for (const place of back) place.contact = "present";
      settle(back.some(isUnknown));
      await site.clock.advance(SECOND_MS);
      for (let second = 0; second < minutes * 60; second += 30) {
        for (const [at, agent] of agents.entries()) if (!silent.includes(at)) agent.call();
        // oxlint-disable-next-line no-await-in-loop
        await site.clock.advance(30 * SECOND_MS);
      }
      for (const place of quiet) place.contact = "silent";
      settle(quiet.some(isUnknown));
      if (minutes < 12) return;
      const old = quiet.filter(
        ({ isUsed, state, failures }) =>
          isUsed && (state === "up" || state === "down" || failures > 0),
      );
      for (const place of quiet) place.contact = "left out";
      // What they said last is too old.
      if (model.state !== "paused") for (const place of old) enter(place, "no_data");
      settle(old.length > 0);
    },
  }));

const restart = fc.constantFrom(10, 300).map((seconds): Action => ({
  name: `the server is off for ${seconds} seconds`,
  async run({ site, model, agents }) {
    // Those that are in contact have just called.
    for (const [at, agent] of agents.entries()) {
      if (model.places[at]?.contact === "present") agent.call();
    }
    await site.clock.advance(16 * SECOND_MS);
    await site.stop();
    await site.clock.advance(seconds * SECOND_MS);
    await site.start();
    if (seconds > 45 && model.state !== "paused") {
      enter(model.places[SERVER] as Place, "no_data");
      model.enter("no_data");
    }
    await site.clock.advance(61 * SECOND_MS);
    model.checkHere();
  },
}));

const pause: fc.Arbitrary<Action> = fc.constant({
  name: "paused or resumed",
  async run({ site, id, model }: World) {
    const { ctx } = site.app;
    const isPaused = model.state === "paused";
    const change = isPaused ? resumeMonitor : pauseMonitor;
    await ctx.db.write((tx) => change(ctx, tx, id, CLI_ACTOR));
    await site.clock.advance(SECOND_MS);
    model.restartAll("pending");
    model.state = isPaused ? "pending" : "paused";
    if (!isPaused) return;
    if (model.isInMaintenance) model.restartAll("maintenance");
    model.settle();
    model.checkHere();
  },
});

const maintenance: fc.Arbitrary<Action> = fc.constant({
  name: "a maintenance",
  async run({ site, component, model, agents, id }: World) {
    const { ctx } = site.app;
    const now = site.clock.now();
    const input = {
      page: "acme",
      name: "Upgrade",
      body: "A moment.",
      components: [component],
      scheduled_for: toIso(now + MINUTE_MS),
      scheduled_until: toIso(now + 2 * 60 * MINUTE_MS),
    };
    const { id: planned } = await ctx.db.write((tx) => planMaintenance(ctx, tx, input, CLI_ACTOR));
    for (const [at, agent] of agents.entries()) {
      if (model.places[at]?.contact === "present") agent.call();
    }
    await site.clock.advance(MINUTE_MS);
    await ctx.db.write((tx) => advanceMaintenance(ctx, tx, site.clock.now()));
    await site.clock.advance(SECOND_MS);
    model.isInMaintenance = true;
    if (model.state !== "paused") {
      model.restartAll("maintenance");
      model.settle();
    }
    const [agent] = agents as [TestAgent];
    await agent.send(id, AS_RESULT.failed, AS_RESULT.failed);
    (model.places[0] as Place).contact = "present";
    model.observe(0, "failed");
    model.observe(0, "failed");
    const update = { status: "completed", body: "Done." } as const;
    await ctx.db.write((tx) => addMaintenanceUpdate(ctx, tx, planned, update, CLI_ACTOR));
    await site.clock.advance(SECOND_MS);
    model.isInMaintenance = false;
    model.checkHere();
  },
});

/** The monitor leaves a location or gets it back, or needs another number of them. */
const change = fc
  .record({ at: fc.nat(AGENTS), downWhen: fc.constantFrom(...DOWN_WHEN) })
  .map(({ at, downWhen }): Action => ({
    name: `the locations with ${at} turned, ${downWhen}`,
    async run({ site, agents, id, model }) {
      const { ctx } = site.app;
      const place = model.places[at] as Place;
      const used = model.places.filter(({ isUsed }) => isUsed);
      const agentsLeft = model.places.filter(
        (each, index) => index !== SERVER && each.isUsed && each !== place,
      );
      // The last agent stays, so that there are other locations.
      if (place.isUsed && (used.length === 1 || agentsLeft.length === 0)) return;
      place.isUsed = !place.isUsed;
      if (place.isUsed) enter(place, "pending");
      const ids = [...agents.map((agent) => agent.id), "local"];
      const locations = ids.filter((_, index) => model.places[index]?.isUsed);
      model.downWhen = downWhen;
      const body = { locations, down_when: downWhen } as UpdateMonitorBody;
      await ctx.db.write((tx) => updateMonitor(ctx, tx, id, body, CLI_ACTOR));
      await site.clock.advance(SECOND_MS);
      model.settle();
      model.checkHere();
    },
  }));

test("after any sequence, the state is what enough locations said last, once and from no minority", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...DOWN_WHEN),
      fc.array(
        fc.oneof(
          { weight: 12, arbitrary: report },
          { weight: 4, arbitrary: cutOff },
          { weight: 5, arbitrary: checkHere },
          { weight: 6, arbitrary: silence },
          { weight: 1, arbitrary: restart },
          { weight: 1, arbitrary: pause },
          { weight: 1, arbitrary: maintenance },
          { weight: 2, arbitrary: change },
        ),
        { minLength: 5, maxLength: 14 },
      ),
      async (downWhen, actions) => {
        await using site = await openEngineSite();
        const model = new Model(downWhen);
        const { components } = await site.app.page({ slug: "acme" }, ["API"]);
        const { API: component = "" } = components;
        const agents: TestAgent[] = [];
        for (let at = 0; at < AGENTS; at++) agents.push(await addAgent(site, `agent-${at}`));
        const { id } = await site.monitor({
          locations: [...agents.map((agent) => agent.id), "local"],
          down_when: downWhen,
          component_ids: [component],
          interval_seconds: 24 * 3_600,
          retry_interval_seconds: 24 * 3_600,
          failure_threshold: THRESHOLD.failures,
          success_threshold: THRESHOLD.successes,
        } as Partial<CreateMonitorBody>);
        await site.clock.advance(SECOND_MS);
        for (const agent of agents) agent.call();
        await site.clock.advance(61 * SECOND_MS);
        model.checkHere();
        const history: string[] = [];
        for (const { name, run } of [{ name: "begin", run: async () => {} }, ...actions]) {
          await run({ site, agents, id, model, component });
          await site.clock.advance(SECOND_MS);
          history.push(`${name}: ${model.state}`);
          const results = agents.reduce((sum, agent) => sum + agent.resultCount(id), 0);
          const found = { state: site.state(id), results, events: site.eventTypes(), history };
          const { state, events } = model;
          expect(found).toEqual({ state, results: model.results, events, history });
          const counts = countMonitorsByLocation(site.app.ctx.db, {});
          expect(new Set(site.engine.countByLocation())).toEqual(new Set(counts));
        }
      },
    ),
    { numRuns: 60 },
  );
});
