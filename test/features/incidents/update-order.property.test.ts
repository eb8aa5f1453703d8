import { expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import fc from "fast-check";
import { selectMany, type Tx } from "../../../src/db/statements";
import { componentCauses } from "../../../src/db/tables/components";
import { type CauseInterval, foldDays } from "../../../src/features/components/rules";
import { replaceCauses, setManualStatuses } from "../../../src/features/components/statuses";
import { getIncident } from "../../../src/features/incidents/records";
import { timelineOf } from "../../../src/features/incidents/rules";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS } from "../../../src/base/time";
import { createTestApp, type TestApp } from "../../support/app";
import { StatusModel, type Step, stepsOn } from "../../support/status-model";
import { addUpdate, createIncident } from "../../support/examined";

const NAMES = ["API", "Web"];
const DAYS = 6;

const listCauses = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(componentCauses).orderBy(asc(componentCauses.id)),
);

/** An application in step with a model of what it must show. */
async function createWorld() {
  const app = await createTestApp();
  const { page, components } = await app.page({}, NAMES);
  const ids = NAMES.map((name) => components[name] ?? "");
  const key = await app.keyWith("read:status");
  const model = new StatusModel(ids);
  const incidents: string[] = [];
  let maintenance: { id: string; from: number } | undefined;
  /** Statuses of each component with their start times. */
  const shown: { id: string; status: string; at: number }[] = [];
  const start = app.clock.now();

  function act(tx: Tx, { what, which, status, causes }: Step): void {
    const { ctx } = app;
    const named = causes as Record<string, NonNullable<(typeof causes)[string]>>;
    const why = { actor: CLI_ACTOR, reason: null };
    if (what === "manual") {
      setManualStatuses(ctx, tx, new Map(Object.entries(named)), { ...why, source: "manual" });
    } else if (what === "maintenance") {
      const now = app.clock.now();
      const { id, from } = maintenance ?? { id: `mnt_${now}`, from: now };
      const to = maintenance ? now : null;
      maintenance = maintenance ? undefined : { id, from };
      const under = "under_maintenance" as const;
      const all = ids.map((componentId) => ({ componentId, status: under, from, to }));
      replaceCauses(ctx, tx, "maintenance", id, all, { ...why, source: "maintenance" });
    } else if (what === "open") {
      const input = { page: page.id, name: "X", body: "X", status, components: named };
      incidents.push(createIncident(ctx, tx, input, "api", CLI_ACTOR).row.id);
    } else {
      const id = incidents[which % incidents.length];
      if (id) addUpdate(ctx, tx, id, { body: "X", status, components: named }, CLI_ACTOR);
    }
  }

  return {
    app,
    ids,
    key,
    model,
    incidents,
    shown,
    start,
    async take(step: Step): Promise<void> {
      await app.clock.advance(step.afterHours * HOUR_MS);
      const before = model.statuses();
      model.take(step);
      await app.ctx.db.write((tx) => act(tx, step));
      for (const [i, status] of model.statuses().entries()) {
        if (status !== before[i]) shown.push({ id: ids[i] ?? "", status, at: app.clock.now() });
      }
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
type World = Awaited<ReturnType<typeof createWorld>>;

async function statusesOf({ app, ids, key }: World): Promise<string[]> {
  const answers = await Promise.all(ids.map((id) => app.call(`/api/v1/components/${id}`, { key })));
  return answers.map(({ body }) => body.status);
}

function changeEvents({ app }: { app: TestApp }): unknown[] {
  return app
    .events()
    .filter(({ type }) => type === "component.status_changed")
    .map(({ subjectId, data }) => ({ id: subjectId, status: data["status"] }));
}

/** Returns the recorded statuses of a component as causes. */
function causesShown({ shown }: World, id: string): CauseInterval[] {
  const own = shown.filter((each) => each.id === id);
  return own.map(({ status, at }, i) => ({
    status: status as CauseInterval["status"],
    startedAt: at,
    endedAt: own[i + 1]?.at ?? null,
  }));
}

const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

const arbitrarySteps = stepsOn(["0", "1"]);

/** Steps name components by index, since ids are new in each run. */
function withIds(step: Step, ids: readonly string[]): Step {
  const causes = Object.fromEntries(
    Object.entries(step.causes).map(([place, status]) => [ids[Number(place)] ?? "", status]),
  );
  return { ...step, causes };
}

async function expectStatusesAndEvents(world: World): Promise<void> {
  expect(await statusesOf(world)).toEqual(world.model.statuses());
  const expected = world.shown.map(({ id, status }) => ({ id, status }));
  expect(changeEvents(world).toSorted(byText)).toEqual(expected.toSorted(byText));
}

async function expectCausesAndDays(world: World): Promise<void> {
  const { app, ids, incidents } = world;
  await app.clock.advance(HOUR_MS);
  const storedCauses = listCauses(app.ctx.db, {});
  const known = { from: world.start, to: app.clock.now() };
  for (const id of ids) {
    const own = storedCauses.filter(({ componentId }) => componentId === id);
    expect(foldDays(own, known, DAYS)).toEqual(foldDays(causesShown(world, id), known, DAYS));
  }
  for (const id of incidents) {
    const { row, updates } = getIncident(app.ctx.db, id, true);
    const causes = timelineOf(row, updates, undefined)
      .causes.filter(({ status, from, to }) => status !== "operational" && to !== from)
      .map(({ componentId, status, from, to }) => ({ componentId, status, from, to }));
    const stored = storedCauses
      .filter(({ sourceId }) => sourceId === id)
      .map(({ componentId, status, startedAt, endedAt }) => ({
        componentId,
        status,
        from: startedAt,
        to: endedAt,
      }));
    expect(stored.toSorted(byText)).toEqual(causes.toSorted(byText));
  }
}

async function expectManualStatusesAfterCauses(world: World): Promise<void> {
  const { app, ids, key, model } = world;
  const step = { which: 0, status: "resolved", causes: {}, afterHours: 1 } as const;
  if (model.isUnderMaintenance) await world.take({ ...step, what: "maintenance" });
  for (const [which] of world.incidents.entries()) {
    await world.take({ ...step, what: "update", which });
  }
  for (const id of ids) {
    const { body } = await app.call(`/api/v1/components/${id}`, { key });
    expect(body.status).toBe(body.baseline_status);
  }
  const fine = Object.fromEntries(ids.map((id) => [id, "operational" as const]));
  await world.take({ ...step, what: "manual", causes: fine });
  expect(await statusesOf(world)).toEqual(["operational", "operational"]);
  for (const id of ids) {
    const { body } = await app.call(`/api/v1/components/${id}`, { key });
    expect(body.causes).toEqual([]);
  }
}

test("components show the worst open status, changes and causes are recorded once, and manual statuses remain", async () => {
  await fc.assert(
    fc.asyncProperty(arbitrarySteps, async (steps) => {
      await using world = await createWorld();
      for (const step of steps) await world.take(withIds(step, world.ids));
      await expectStatusesAndEvents(world);
      await expectCausesAndDays(world);
      await expectManualStatusesAfterCauses(world);
    }),
    { numRuns: 30 },
  );
}, 600_000);
