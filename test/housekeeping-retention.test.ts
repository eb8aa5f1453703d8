import { describe, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { selectMany } from "../src/db/statements";
import { apiKeyValues } from "../src/db/tables/keys";
import { auditLog, events } from "../src/db/tables/events";
import { deleteAuditAddresses, deleteOldAudits, recordAudits } from "../src/events/audit";
import { addToHour, listKeyHoursSince, touchKeyValue } from "../src/features/keys/store";
import { startHousekeeping } from "../src/background";
import { CLI_ACTOR } from "../src/base/actor";
import { DAY_MS, HOUR_MS, startOfDay } from "../src/base/time";
import { settle, TEST_START } from "./support/clock";
import { type MonitorStore, openMonitorStore, planOf, statementsOf } from "./support/monitor-store";
import { createKey } from "./support/examined";

/** Time from the start to the first run. */
const FIRST_RUN_MS = 300_000;

const ALL_TURNS = 20;

const listEvents = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(events).orderBy(asc(events.at)),
);
const listAudit = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(auditLog).orderBy(asc(auditLog.id)),
);
const listValues = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(apiKeyValues).orderBy(asc(apiKeyValues.createdAt)),
);

/** Waits for the first run of housekeeping, and until it has ended. */
async function runHousekeeping(store: MonitorStore): Promise<void> {
  const keeping = startHousekeeping(store.ctx);
  await store.clock.advance(FIRST_RUN_MS);
  for (let turn = 0; turn < ALL_TURNS; turn++) await settle();
  keeping.cancel();
}

/** Returns the time that is this many days before the first run of housekeeping. */
const daysAgo = (days: number) => TEST_START + FIRST_RUN_MS - days * DAY_MS;

describe("housekeeping", () => {
  test("events are kept for 30 days, however many there are", async () => {
    using store = openMonitorStore();
    const { ctx, clock } = store;
    const record = async (at: number, count: number) => {
      clock.setWallClock(at);
      await ctx.db.write((tx) => {
        for (let i = 0; i < count; i++) {
          ctx.outbox.record(tx, {
            type: "incident.created",
            pageId: null,
            subjectId: "inc_1",
            data: {},
          });
        }
      });
    };
    await record(daysAgo(31), 1_100);
    await record(daysAgo(30), 1);
    await record(TEST_START, 1);
    expect(listEvents(ctx.db, {})).toHaveLength(1_102);
    await runHousekeeping(store);
    expect(listEvents(ctx.db, {}).map(({ at }) => at)).toEqual([daysAgo(30), TEST_START]);
  });

  test("the audit log is kept for 400 days, and its client addresses for 90", async () => {
    using store = openMonitorStore();
    const actor = { ...CLI_ACTOR, ip: "203.0.113.7" };
    await store.ctx.db.write((tx) => {
      for (const days of [401, 400, 91, 90]) {
        const entry = { actor, action: "key.update", targetId: "key_1", summary: `${days}` };
        recordAudits(tx, [{ ...entry, at: daysAgo(days) }]);
      }
    });
    await runHousekeeping(store);
    expect(listAudit(store.ctx.db, {}).map(({ summary, ip }) => [summary, ip])).toEqual([
      ["400", null],
      ["91", null],
      ["90", "203.0.113.7"],
    ]);
  });

  test("request counts become daily after 35 days, and old client addresses of keys are removed", async () => {
    using store = openMonitorStore();
    const { ctx } = store;
    const input = { name: "test", scopes: ["read:status" as const] };
    const [old, used] = await ctx.db.write((tx) => [
      createKey(ctx, tx, input, CLI_ACTOR),
      createKey(ctx, tx, input, CLI_ACTOR),
    ]);
    const keyId = used?.key.id ?? "";
    const day = (days: number) => startOfDay(daysAgo(days));
    const count = { keyId, ok: 3, clientError: 2, limited: 1 };
    await ctx.db.write((tx) => {
      for (const hour of [
        day(401),
        day(36),
        day(36) + HOUR_MS,
        day(36) + 9 * HOUR_MS,
        day(40) + HOUR_MS,
      ]) {
        addToHour(tx, { ...count, hour });
      }
      for (const hour of [day(35), day(35) + HOUR_MS]) addToHour(tx, { ...count, hour });
      const [first, second] = listValues(tx, {});
      touchKeyValue(tx, { hash: first?.hash ?? Buffer.of(), at: daysAgo(91), ip: "192.0.2.1" });
      touchKeyValue(tx, { hash: second?.hash ?? Buffer.of(), at: daysAgo(89), ip: "192.0.2.2" });
    });
    expect(old?.key.id).not.toBe(keyId);
    const kept = [
      { keyId, hour: day(40), ok: 3, clientError: 2, limited: 1 },
      { keyId, hour: day(36), ok: 9, clientError: 6, limited: 3 },
      { ...count, hour: day(35) },
      { ...count, hour: day(35) + HOUR_MS },
    ];
    // Once more changes nothing.
    for (let time = 0; time < 2; time++) {
      await runHousekeeping(store);
      expect(listKeyHoursSince(ctx.db, { keyId, since: 0 })).toEqual(kept);
    }
    const addresses = listValues(ctx.db, {}).map(({ lastUsedIp }) => lastUsedIp);
    expect(addresses.toSorted()).toEqual(["192.0.2.2", null]);
  });

  test("housekeeping reaches every key, however many there are", async () => {
    using store = openMonitorStore();
    const { ctx } = store;
    const hour = startOfDay(daysAgo(36)) + HOUR_MS;
    const ids = await ctx.db.write((tx) =>
      Array.from({ length: 120 }, () => {
        const { key } = createKey(ctx, tx, { name: "test", scopes: ["read:status"] }, CLI_ACTOR);
        addToHour(tx, { keyId: key.id, hour, ok: 1, clientError: 0, limited: 0 });
        return key.id;
      }),
    );
    await runHousekeeping(store);
    const hours = ids.flatMap((keyId) => listKeyHoursSince(ctx.db, { keyId, since: 0 }));
    expect(hours).toHaveLength(120);
    expect(new Set(hours.map((row) => row.hour))).toEqual(new Set([hour - HOUR_MS]));
  });

  test("housekeeping finds old rows by index", async () => {
    using store = openMonitorStore();
    const statements = await store.ctx.db.write((tx) =>
      statementsOf(tx, (tx) => {
        deleteOldAudits(tx, 0);
        deleteAuditAddresses(tx, 0);
      }),
    );
    const indexes = ["audit_log_by_time", "audit_log_with_address"];
    for (const [index, sql] of statements.entries()) {
      const steps = planOf(store, sql).join("\n");
      expect(steps).toContain(indexes[index] ?? "none");
      expect(steps).not.toMatch(/SCAN|TEMP B-TREE/);
    }
    expect(statements).toHaveLength(2);
  });
});
