import { describe, expect, test } from "bun:test";
import type { Tx } from "../../src/db/statements";
import type { EventGroup, RecordedEvent } from "../../src/events/outbox";
import { recordAudits } from "../../src/events/audit";
import { SYSTEM_ACTOR } from "../../src/base/actor";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { outcomesOf } from "../support/database";

const EVENT = {
  type: "component.status_changed",
  pageId: null,
  subjectId: "cmp_1",
  data: { name: "API", nested: { list: [1, null, "ä"] } },
} as const;

/** Writes an audit entry per event, which represents the deliveries that a subscriber writes. */
function writeDeliveries(tx: Tx, groups: readonly EventGroup[]): void {
  for (const event of groups.flat()) {
    recordAudits(tx, [
      {
        actor: SYSTEM_ACTOR,
        action: "test.delivery",
        targetId: event.id,
        summary: `Delivery of ${event.subjectId}`,
        at: event.at,
      },
    ]);
  }
}

function deliveries(app: TestApp): string[] {
  return app
    .audit()
    .filter((entry) => entry.action === "test.delivery")
    .map((entry) => entry.summary);
}

async function pageWithKey(app: TestApp) {
  const { components } = await app.page({ slug: "acme" }, ["API"]);
  const key = await app.keyWith("read:status", "write:components");
  const path = `/api/v1/components/${components["API"]}`;
  const setStatus = (status: string) => app.call(path, { method: "PATCH", key, json: { status } });
  const shown = async () => (await app.call(path, { key })).body.status;
  return { setStatus, shown };
}

describe("an event", () => {
  test("an event is committed with its change and with what its subscriber writes", async () => {
    await using app = await createTestApp();
    const delivered: RecordedEvent[] = [];
    app.ctx.outbox.subscribe((tx, groups) => {
      delivered.push(...groups.flat());
      writeDeliveries(tx, groups);
    });
    await app.ctx.db.write((tx) => app.ctx.outbox.record(tx, EVENT));
    expect(app.events()).toMatchObject([
      { type: EVENT.type, subjectId: EVENT.subjectId, data: EVENT.data },
    ]);
    expect(delivered).toMatchObject([{ ...EVENT, at: app.clock.now() }]);
    expect(delivered[0]?.id).toMatch(/^evt_[0-9a-z]{26}$/);
    expect(deliveries(app)).toEqual(["Delivery of cmp_1"]);
  });

  test("an event is rolled back with its change and its subscriber's writes, and others of the batch are kept", async () => {
    await using app = await createTestApp();
    app.ctx.outbox.subscribe(writeDeliveries);
    const outcomes = await outcomesOf(
      app.ctx.db.write((tx) => {
        app.ctx.outbox.record(tx, { ...EVENT, subjectId: "cmp_undone" });
        throw new Error("the change failed");
      }),
      app.ctx.db.write((tx) => app.ctx.outbox.record(tx, { ...EVENT, subjectId: "cmp_kept" })),
    );
    expect(outcomes).toEqual(["the change failed", "stored"]);
    expect(app.events().map((event) => event.subjectId)).toEqual(["cmp_kept"]);
    expect(deliveries(app)).toEqual(["Delivery of cmp_kept"]);
  });

  test("events are kept in the order in which they happened", async () => {
    await using app = await createTestApp();
    const subjects = Array.from({ length: 20 }, (_, i) => `cmp_${i}`);
    await app.ctx.db.write((tx) => {
      for (const subjectId of subjects) app.ctx.outbox.record(tx, { ...EVENT, subjectId });
    });
    expect(app.events().map((event) => event.subjectId)).toEqual(subjects);
  });

  test("a subscriber receives all events of a transaction together, in order", async () => {
    await using app = await createTestApp();
    const received: string[][][] = [];
    app.ctx.outbox.subscribe((_tx, groups) => {
      received.push(groups.map((group) => group.map(({ subjectId }) => subjectId)));
    });
    const record = (tx: Tx, subjectId: string) =>
      app.ctx.outbox.record(tx, { ...EVENT, subjectId });
    await Promise.all([
      app.ctx.db.write((tx) => ["cmp_1", "cmp_2"].map((id) => record(tx, id))),
      app.ctx.db.write((tx) => record(tx, "cmp_3")),
    ]);
    expect(received).toEqual([[["cmp_1", "cmp_2"]], [["cmp_3"]]]);
  });

  test("a subscriber receives each group of events of a transaction separately", async () => {
    await using app = await createTestApp();
    const received: string[][][] = [];
    app.ctx.outbox.subscribe((_tx, groups) => {
      received.push(groups.map((group) => group.map(({ subjectId }) => subjectId)));
    });
    const { outbox } = app.ctx;
    await app.ctx.db.write((tx) => {
      const record = (subjectId: string) => outbox.record(tx, { ...EVENT, subjectId });
      outbox.group(tx, () => {
        record("cmp_1");
        outbox.group(tx, () => record("cmp_2"));
      });
      outbox.group(tx, () => record("cmp_3"));
      record("cmp_4");
    });
    expect(received).toEqual([[["cmp_1", "cmp_2"], ["cmp_3"], ["cmp_4"]]]);
  });

  test("an event reaches every subscriber of its own application only", async () => {
    await using one = await createTestApp();
    await using two = await createTestApp();
    const names: string[] = [];
    one.ctx.outbox.subscribe(() => names.push("first of one"));
    one.ctx.outbox.subscribe(() => names.push("second of one"));
    two.ctx.outbox.subscribe(() => names.push("of two"));
    await one.ctx.db.write((tx) => one.ctx.outbox.record(tx, EVENT));
    expect(names).toEqual(["first of one", "second of one"]);
    expect(two.events()).toEqual([]);
  });
});

describe("a change through the API", () => {
  test("a change by API is committed with its event and its deliveries", async () => {
    await using app = await createTestApp();
    app.ctx.outbox.subscribe(writeDeliveries);
    const { setStatus, shown } = await pageWithKey(app);
    expect((await setStatus("partial_outage")).status).toBe(200);
    expect(await shown()).toBe("partial_outage");
    expect(app.events()).toHaveLength(1);
    expect(deliveries(app)).toHaveLength(1);
  });

  test("a change by API is rolled back completely if a delivery cannot be written", async () => {
    await using app = await createTestApp();
    app.ctx.outbox.subscribe((tx, groups) => {
      writeDeliveries(tx, groups);
      throw new Error("no delivery");
    });
    const { setStatus, shown } = await pageWithKey(app);
    expectProblem(await setStatus("partial_outage"), "internal_error");
    expect(await shown()).toBe("operational");
    expect(app.events()).toEqual([]);
    expect(deliveries(app)).toEqual([]);
  });
});
