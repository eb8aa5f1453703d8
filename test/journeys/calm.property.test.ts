import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/base/time";
import {
  type Behaviour,
  type CalmReceiver,
  type CalmSite,
  createCalmSite,
  type TargetState,
} from "../support/calm-site";
import { incidentSaid, statesSaid } from "../support/chat-messages";
import { outageErrors } from "../support/outages";

const RUNS = 25;
/** Names that occur in no other text of a message. */
const MONITORS = ["alpha", "bravo", "charlie", "delta", "echo"] as const;
const PAGES = ["north", "south"];
/** Ref of the first component of each page. */
const FIRST = ["shop", "desk"];
type Name = (typeof MONITORS)[number];

const does = <Do extends string>(name: Do) => fc.constant(name);
const name = fc.constantFrom(...MONITORS);
const names = fc.subarray([...MONITORS], { minLength: 1 });
const which = fc.nat({ max: 3 });
const seconds = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 70 }) },
  { weight: 1, arbitrary: fc.integer({ min: 71, max: 900 }) },
);
const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  { weight: 3, arbitrary: fc.constant("accepts" as const) },
  { weight: 1, arbitrary: fc.constantFrom("fails" as const, "breaks" as const) },
  { weight: 2, arbitrary: fc.record({ refusesFor: fc.integer({ min: 1, max: 120 }) }) },
);

/** Actions with weights. Incidents are counted from the newest. */
const action = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.record({
      do: does("targets"),
      names,
      state: fc.constantFrom<TargetState>("failing", "failing", "failing", "well", "slow"),
    }),
  },
  { weight: 16, arbitrary: fc.record({ do: does("wait"), seconds }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: does("update"),
      which,
      status: fc.constantFrom(undefined, "identified", "monitoring", "resolved", "investigating"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: does("rename"), which }) },
  { weight: 2, arbitrary: fc.record({ do: does("publish"), which }) },
  { weight: 1, arbitrary: fc.record({ do: does("rate"), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: does("report"),
      page: fc.nat({ max: 1 }),
      status: fc.constantFrom(undefined, "degraded_performance", "major_outage"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: does("delete"), which }) },
  { weight: 2, arbitrary: fc.record({ do: does("split"), which, names }) },
  { weight: 2, arbitrary: fc.record({ do: does("detach"), name }) },
  { weight: 1, arbitrary: fc.record({ do: does("never"), name }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: does("maintain"),
      page: fc.nat({ max: 1 }),
      minutes: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: does("pause"), name, isPaused: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: does("gather"),
      receiver: fc.nat(),
      seconds: fc.constantFrom(0, 5, 300),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: does("receive"), receiver: fc.nat(), behaviour }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: does("restart"),
      isKilled: fc.boolean(),
      awaySeconds: fc.constantFrom(0, 2, 20, 400),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Monitors of two pages. The fourth sets components of both. */
const settings = fc.record({
  incidents: fc.array(fc.constantFrom("automatic", "automatic", "automatic", "draft", "never"), {
    minLength: MONITORS.length,
    maxLength: MONITORS.length,
  }),
  joinMinutes: fc.constantFrom(0, 1, 10, 10, 60),
  statuses: fc.array(fc.constantFrom("major_outage", "partial_outage", "degraded_performance"), {
    minLength: MONITORS.length,
    maxLength: MONITORS.length,
  }),
});
type Settings = typeof settings extends fc.Arbitrary<infer T> ? T : never;

const PENDING = "SELECT count(*) AS count FROM deliveries WHERE status = 'pending'";
/** More than the waits after the failures of a test. */
const PATIENCE_HOURS = 60;

class Installation {
  readonly #monitors = new Map<Name, string>();

  constructor(readonly site: CalmSite) {}

  async setUp({ incidents, joinMinutes, statuses }: Settings): Promise<void> {
    const { site } = this;
    const [ofNorth = {}, ofSouth = {}] = await Promise.all([
      this.#page("north", joinMinutes, ["Shop", "Search"]),
      this.#page("south", joinMinutes, ["Desk"]),
    ]);
    const { Shop = "", Search = "" } = ofNorth;
    const { Desk = "" } = ofSouth;
    const components = [[Shop], [Shop], [Search, Shop], [Search, Desk], [Desk]];
    for (const [index, monitor] of MONITORS.entries()) {
      const input = { open_incident: incidents[index], on_down: statuses[index] };
      this.#monitors.set(monitor, await site.monitor(monitor, components[index] ?? [], input));
    }
    const events = ["monitor.down", "monitor.up", "monitor.degraded"];
    await site.endpoint("slack", { events });
    await site.endpoint("slack");
    await site.endpoint("standard");
    const bot = { bot_token: "123456:test", chat_id: "-100" };
    await site.endpoint("telegram", { events, settings: bot });
    await site.pass(2 * MINUTE_MS);
  }

  async #page(slug: string, join_minutes: number, names: string[]) {
    return (await this.site.app.page({ slug, join_minutes }, names)).components;
  }

  async take(next: Action): Promise<void> {
    const { site } = this;
    switch (next.do) {
      case "targets":
        for (const one of next.names) site.set(one, next.state);
        return;
      case "wait":
        return site.pass(next.seconds * SECOND_MS);
      case "update":
        return this.#change(next.which, "POST", "/updates", {
          body: "A person writes.",
          ...(next.status && { status: next.status }),
        });
      case "rename":
        return this.#change(next.which, "PATCH", "", { name: "A title of a person" });
      case "publish":
        return this.#change(next.which, "PATCH", "", { draft: false });
      case "rate":
        return this.#change(next.which, "PATCH", "", { impact_override: "minor" });
      case "report": {
        const page = PAGES[next.page];
        const components = next.status && { [`${page}:${FIRST[next.page]}`]: next.status };
        const json = { page, name: "A report", body: "A person writes.", components };
        await site.call("incidents", { method: "POST", json });
        return;
      }
      case "delete": {
        const { id } = (await this.#incidents())[next.which] ?? {};
        if (id !== undefined) await site.submit(`/admin/incidents/${id}/delete`, {});
        return;
      }
      case "split": {
        const { id } = (await this.#incidents())[next.which] ?? {};
        const monitors = next.names.map((each) => this.#monitors.get(each) ?? "");
        const form = { form: `split-${site.clock.now()}`, monitors, notify: "yes" };
        if (id !== undefined) await site.submit(`/admin/incidents/${id}/split-off`, form);
        return;
      }
      case "detach": {
        const path = `monitors/${this.#monitors.get(next.name)}`;
        const { component_ids: ids } = (await site.call(path)) ?? {};
        await site.call(path, { method: "PATCH", json: { component_ids: ids.slice(0, 1) } });
        return;
      }
      case "never": {
        const json = { open_incident: "never" };
        await site.call(`monitors/${this.#monitors.get(next.name)}`, { method: "PATCH", json });
        return;
      }
      case "maintain": {
        const page = PAGES[next.page];
        const now = site.clock.now();
        const json = {
          page,
          name: "A maintenance",
          body: "A person writes.",
          components: [`${page}:${FIRST[next.page]}`],
          scheduled_for: new Date(now).toISOString(),
          scheduled_until: new Date(now + next.minutes * MINUTE_MS).toISOString(),
        };
        await site.call("maintenance", { method: "POST", json });
        return;
      }
      case "pause": {
        const verb = next.isPaused ? "pause" : "resume";
        await site.call(`monitors/${this.#monitors.get(next.name)}/${verb}`, { method: "POST" });
        return;
      }
      case "gather": {
        const { id } = site.receivers[next.receiver % site.receivers.length] ?? {};
        const json = { group_seconds: next.seconds };
        await site.call(`webhooks/${id}`, { method: "PATCH", json });
        return;
      }
      case "receive": {
        const receiver = site.receivers[next.receiver % site.receivers.length];
        if (receiver) receiver.behaviour = next.behaviour;
        return;
      }
      case "restart": {
        const { isKilled, awaySeconds } = next;
        return site.restart({ isKilled, awayMs: awaySeconds * SECOND_MS });
      }
    }
  }

  async #change(which: number, method: string, path: string, json: object): Promise<void> {
    const incidents = await this.#incidents();
    const { id } = incidents[which] ?? {};
    if (id !== undefined) await this.site.call(`incidents/${id}${path}`, { method, json });
  }

  async #incidents(): Promise<{ id: string; status: string }[]> {
    return (await this.site.call("incidents?limit=100"))?.data ?? [];
  }

  /** Lets all receivers accept and all deliveries, checks and updates that wait come. */
  async settle(): Promise<void> {
    for (const receiver of this.site.receivers) receiver.behaviour = "accepts";
    for (const monitor of MONITORS) {
      await this.site.call(`monitors/${this.#monitors.get(monitor)}/resume`, { method: "POST" });
    }
    await this.site.pass(10 * MINUTE_MS);
    for (let hours = 0; this.#count(PENDING) > 0 && hours < PATIENCE_HOURS; hours++) {
      await this.site.pass(HOUR_MS);
    }
    expect(this.#count(PENDING)).toBe(0);
  }

  #count(sql: string): number {
    using database = new Database(this.site.databasePath, { readonly: true });
    return database.query<{ count: number }, []>(sql).get()?.count ?? 0;
  }

  async states(): Promise<Record<string, string>> {
    const { data } = await this.site.call("monitors");
    return Object.fromEntries(
      (data as { name: string; state: string }[]).map((each) => [each.name, each.state]),
    );
  }
}

/**
 * Returns the last state of a monitor that a receiver was sent, and that of a later message about one of its
 * incidents, which does not name the monitor.
 */
function lastSaid({ format, accepted }: CalmReceiver, monitor: Name, incidents: Set<string>) {
  const said: { named?: string; covered?: string } = {};
  if (format === "standard") {
    const events = accepted.flatMap(({ body }) => {
      const { type, data, timestamp } = JSON.parse(body);
      if (!/^monitor\.(up|down|degraded)$/.test(type) || data.name !== monitor) return [];
      return [{ at: Date.parse(timestamp), named: type.slice("monitor.".length) as string }];
    });
    // Programs drop an event that is older than one that they know.
    return { ...said, ...events.toSorted((a, b) => a.at - b.at).at(-1) };
  }
  for (const { body } of accepted) {
    const named = statesSaid(body, monitor).at(-1);
    const incident = incidentSaid(body);
    if (named !== undefined) said.named = named;
    if (named !== undefined) delete said.covered;
    else if (incident && incidents.has(incident.id)) said.covered = incident.state;
  }
  return said;
}

/** Expects what holds at any time. */
function expectLinked(site: CalmSite): void {
  using database = new Database(site.databasePath, { readonly: true });
  expect(outageErrors(database)).toEqual([]);
}

/** Expects that no event was lost, and that only a kill repeats a message. */
function expectDelivered(site: CalmSite, kills: number): void {
  using database = new Database(site.databasePath, { readonly: true });
  const events = database.query<{ id: string }, []>("SELECT id FROM events").all();
  const idsOf = ({ accepted }: CalmReceiver) => accepted.map(({ id }) => id);
  const program = site.receivers.filter(({ format }) => format === "standard").flatMap(idsOf);
  expect(events.map(({ id }) => id).filter((id) => !program.includes(id))).toEqual([]);
  for (const receiver of site.receivers) {
    const ids = idsOf(receiver);
    expect(ids.length - new Set(ids).size).toBeLessThanOrEqual(kills);
  }
}

/** Returns the ids of the incidents that a monitor caused or found. */
function incidentsOf(site: CalmSite, monitor: Name): Set<string> {
  using database = new Database(site.databasePath, { readonly: true });
  const rows = database.query<{ id: string }, [string]>(
    "SELECT o.incident_id AS id FROM incident_outages AS o JOIN monitors AS m ON m.id = o.monitor_id WHERE m.name = ?",
  );
  return new Set(rows.all(monitor).map(({ id }) => id));
}

test("outages stay linked to one incident and the last message about a monitor says its state, over random changes and kills", async () => {
  await fc.assert(
    fc.asyncProperty(
      settings,
      fc.array(action, { minLength: 10, maxLength: 40 }),
      async (given, actions) => {
        await using site = await createCalmSite();
        const installation = new Installation(site);
        await installation.setUp(given);
        for (const next of actions) {
          await installation.take(next);
          await site.pass(SECOND_MS);
        }
        await installation.settle();
        expectLinked(site);
        expectDelivered(
          site,
          actions.filter((each) => each.do === "restart" && each.isKilled).length,
        );
        const states = await installation.states();
        for (const receiver of site.receivers) {
          for (const monitor of MONITORS) {
            const { named, covered } = lastSaid(receiver, monitor, incidentsOf(site, monitor));
            const state = states[monitor];
            if (named === undefined || covered === state) continue;
            expect(`${receiver.format} ${receiver.id}: ${monitor} is ${named}`).toBe(
              `${receiver.format} ${receiver.id}: ${monitor} is ${state}`,
            );
          }
        }
      },
    ),
    { numRuns: RUNS },
  );
});
