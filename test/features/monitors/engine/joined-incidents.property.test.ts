import { expect, test } from "bun:test";
import { asc, isNull } from "drizzle-orm";
import fc from "fast-check";
import { selectMany } from "../../../../src/db/statements";
import { componentCauses } from "../../../../src/db/tables/components";
import { incidents } from "../../../../src/db/tables/incidents";
import { automaticIncidents, incidentOutages } from "../../../../src/db/tables/monitors";
import { deleteIncident } from "../../../../src/features/incidents/incidents";
import { listUpdateSummaries } from "../../../../src/features/incidents/records";
import { automationOf } from "../../../../src/features/incidents/outage-store";
import { timelineOf } from "../../../../src/features/incidents/rules";
import { findIncident } from "../../../../src/features/incidents/store";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { pauseMonitor, resumeMonitor } from "../../../../src/features/monitors/monitors";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { worstStatus } from "../../../../src/base/status";
import { SECOND_MS } from "../../../../src/base/time";
import { answers, fails } from "../../../support/engine-site";
import { openOutageSite, type OutageSite } from "../../../support/outage-site";
import { splitOff, updateMonitor } from "../../../support/examined";

type Nothing = Record<string, never>;

const listOutages = selectMany((orm, _$: Nothing) => orm.select().from(incidentOutages));
const listIncidents = selectMany((orm, _$: Nothing) =>
  orm.select().from(incidents).orderBy(asc(incidents.id)),
);
const listAutomatic = selectMany((orm, _$: Nothing) =>
  orm.select().from(automaticIncidents).where(isNull(automaticIncidents.takenOverAt)),
);
const listCauses = selectMany((orm, _$: Nothing) =>
  orm.select().from(componentCauses).orderBy(asc(componentCauses.id)),
);

const MONITORS = {
  a: {},
  a2: { on_down: "partial_outage" },
  ab: { success_threshold: 2 },
  b: { failure_threshold: 2 },
  c: { open_incident: "draft" },
  cd: { open_incident: "draft", on_down: "partial_outage" },
  d: { open_incident: "never" },
};
const NAMES = Object.keys(MONITORS);

const ACTIONS = [
  "down",
  "up",
  "pause",
  "resume",
  "grade",
  "never",
  "automatic",
  "detach",
  "attach",
  "restart",
  "clock",
  "update",
  "resolve",
  "operational",
  "reopen",
  "edit",
  "rename",
  "impact",
  "publish",
  "delete",
  "split",
] as const;

const step = fc.record({
  action: fc.oneof(
    { arbitrary: fc.constantFrom("down" as const, "up" as const), weight: 3 },
    { arbitrary: fc.constantFrom(...ACTIONS), weight: 2 },
  ),
  name: fc.constantFrom(...NAMES),
  which: fc.nat(3),
  seconds: fc.constantFrom(0, 3, 11, 31, 65, 330, 700, 1_900),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function act(site: OutageSite, { action, name, which }: Step): Promise<unknown> {
  const { ctx } = site.app;
  const id = site.id(name);
  const open = listIncidents(ctx.db, {}).filter(({ deletedAt }) => deletedAt === null);
  const incident = open.at(-1 - which)?.id;
  const change = (input: object) =>
    site.write((tx) => updateMonitor(ctx, tx, id, input, CLI_ACTOR));
  const [first = "", second] = [...name.replace(/\d/g, "").toUpperCase()];
  switch (action) {
    case "down":
      return site.let(`${name}.test`, fails());
    case "up":
      return site.let(`${name}.test`, answers());
    case "pause":
      return site.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    case "resume":
      return site.write((tx) => resumeMonitor(ctx, tx, id, CLI_ACTOR));
    case "grade":
      return change({ on_down: which > 1 ? "major_outage" : "degraded_performance" });
    case "never":
    case "automatic":
      return change({ open_incident: action });
    case "detach":
      return change({ component_ids: which > 1 ? [] : [site.component(first)] });
    case "attach":
      return change({
        component_ids: [first, second ?? "E", "F"].map((letter) => site.component(letter)),
      });
    case "restart":
      return site.restart();
    case "clock":
      return site.clock.setWallClock(
        site.clock.now() + ([-3_600, -200, 200, 3_600][which] ?? 0) * SECOND_MS,
      );
  }
  if (incident === undefined) return undefined;
  const a = site.component("A");
  switch (action) {
    case "update":
      return site.post(`/${incident}/updates`, { body: "We look." });
    case "resolve":
      return site.post(`/${incident}/updates`, { status: "resolved", body: "Done." });
    case "operational":
      return site.post(`/${incident}/updates`, {
        body: "A works.",
        components: { [a]: "operational" },
      });
    case "reopen":
      return site.post(`/${incident}/updates`, { status: "investigating", body: "Again." });
    case "edit": {
      const updates = listUpdateSummaries(ctx.db, incident);
      const path = `/${incident}/updates/${updates[which % updates.length]?.id}`;
      return site.post(path, { body: `Text ${ctx.clock.now()}.` }, "PATCH");
    }
    case "rename":
      return site.post(`/${incident}`, { name: "Trouble" }, "PATCH");
    case "impact":
      return site.post(`/${incident}`, { impact_override: "minor" }, "PATCH");
    case "publish":
      return site.post(`/${incident}`, { draft: false }, "PATCH");
    case "delete":
      return site.write((tx) => deleteIncident(ctx, tx, incident, CLI_ACTOR));
    case "split":
      return site
        .write((tx) => splitOff(ctx, tx, incident, { monitors: [id] }, CLI_ACTOR))
        .catch(() => undefined);
  }
}

/** Returns the violations of what holds after every step. */
function violations(site: OutageSite): string[] {
  const { db } = site.app.ctx;
  const found: string[] = [];
  const open = listOutages(db, {}).filter(({ endedAt }) => endedAt === null);
  const rows = new Map(listIncidents(db, {}).map((row) => [row.id, row]));
  for (const name of NAMES) {
    const { row, state, components } = getMonitorRecord(db, site.id(name));
    const own = open.filter(({ monitorId }) => monitorId === row.id);
    if (state.state === "up" || row.paused || row.openIncident === "never") {
      if (own.length > 0) found.push(`${name} is ${state.state} and has an open outage`);
    } else if (state.state === "down") {
      const ids = own.map(({ componentId }) => componentId).toSorted();
      const expected = components.map(({ id }) => id).toSorted();
      if (!Bun.deepEquals(ids, expected)) found.push(`${name} is not linked once per component`);
      const linked = new Set(own.map(({ incidentId }) => incidentId));
      if (linked.size > 1) found.push(`${name} is linked to several incidents`);
    }
  }
  for (const { incidentId } of listAutomatic(db, {})) {
    const row = rows.get(incidentId);
    const isOpen = open.some((outage) => outage.incidentId === incidentId);
    if (row?.status === "resolved" && isOpen) found.push(`${row.name} is resolved too early`);
    const incident = findIncident(db, { id: incidentId })?.row;
    if (!incident) continue;
    const updates = listUpdateSummaries(db, incidentId);
    const expected = timelineOf(incident, updates, automationOf(db, incident)).causes;
    const key = (componentId: string, status: string, from: number, to: number | null) =>
      `${componentId} ${status} ${from} ${to}`;
    const stored = listCauses(db, {})
      .filter(({ sourceId }) => sourceId === incidentId)
      .map((each) => key(each.componentId, each.status, each.startedAt, each.endedAt));
    const computed = expected
      .filter(({ from, to }) => to === null || to > from)
      .map((each) => key(each.componentId, each.status, each.from, each.to));
    if (!Bun.deepEquals(stored.toSorted(), computed.toSorted())) {
      found.push(`the causes of ${incident.name} are not those of its outages`);
    }
  }
  return found;
}

/** Actions of people on published incidents, which change no status of the past. */
const BY_PEOPLE: ReadonlySet<string> = new Set([
  "update",
  "resolve",
  "operational",
  "reopen",
  "edit",
  "rename",
  "impact",
  "delete",
  "split",
]);

/** Returns the changes of the worst status that incidents gave each component, before `until` (unix ms). */
function history(site: OutageSite, until: number): string[] {
  const causes = listCauses(site.app.ctx.db, {}).filter(({ source }) => source === "incident");
  return [...Map.groupBy(causes, ({ componentId }) => componentId)].flatMap(([id, own]) => {
    const times = own.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt ?? until]);
    const steps = [...new Set(times)]
      .toSorted((one, other) => one - other)
      .filter((at) => at < until)
      .map((at) => {
        const given = own.filter(
          ({ startedAt, endedAt }) => startedAt <= at && (endedAt === null || at < endedAt),
        );
        return { at, status: worstStatus(given.map(({ status }) => status)) };
      });
    return steps
      .filter(({ status }, index) => status !== steps[index - 1]?.status)
      .map(({ at, status }) => `${id} ${at} ${status}`);
  });
}

test("every outage is linked to one incident, and Allclear resolves none with an open outage", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      await using site = await openOutageSite(MONITORS);
      for (const each of steps) {
        const now = site.clock.now();
        const before = history(site, now);
        await act(site, each);
        if (BY_PEOPLE.has(each.action)) {
          expect(history(site, now).toSorted(), JSON.stringify(each)).toEqual(before.toSorted());
        }
        await site.clock.advance(each.seconds * SECOND_MS);
        expect(violations(site), JSON.stringify(each)).toEqual([]);
      }
      const errors = site.app.logged.filter(({ level }) => Number(level) >= 50);
      expect(errors).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
