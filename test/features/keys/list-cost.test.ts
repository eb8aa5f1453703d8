import { describe, expect, test } from "bun:test";
import { sha256 } from "../../../src/base/hash";
import { ROWS_PER_TURN } from "../../../src/db/parts";
import type { Tx } from "../../../src/db/statements";
import { countKeys, listKeyPage, listMatchingLiveKeys } from "../../../src/features/keys/records";
import { KEY_SORTS, type KeyOrder } from "../../../src/features/keys/rules";
import { insertKey, insertKeyValue } from "../../../src/features/keys/store";
import { createTestApp, type TestApp } from "../../support/app";
import { listEveryKey } from "../../support/key-pages";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";
import { atOnce, takeAll, turnsDuring } from "../../support/turns";

/** Keys of two whole parts and a third one. */
const COUNT = 2 * ROWS_PER_TURN + 500;

/** SQL that creates these keys with uses in another order. Every third is a bot. */
const CREATE = [
  `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${COUNT})
    INSERT INTO api_keys (id, name, scopes, rate_limit, version, created_at, created_by_kind, created_by_label)
    SELECT printf('key_%026d', i), iif(i % 3 = 0, 'Bot ', 'Job ') || i, '["read:status"]', 1000 + i % 2, 1, i,
      'cli', 'command line' FROM numbers`,
  `INSERT INTO api_key_values (hash, key_id, start, created_at, last_used_at)
    SELECT randomblob(32), id, 'allclear_0000', created_at, created_at * 7919 % 10007 FROM api_keys`,
];

function openLargeStore() {
  const store = openMonitorStore();
  for (const sql of CREATE) store.sqlite.run(sql);
  return store;
}

/** Adds a bot that was used. */
function addKey({ ctx }: TestApp, tx: Tx, number: number): void {
  const id = ctx.newId("key");
  const at = ctx.clock.now();
  insertKey(tx, {
    id,
    name: `Bot ${number}`,
    scopes: ["read:status"],
    rateLimit: 1_000,
    version: 1,
    createdAt: at,
    createdByKind: "cli",
    createdByLabel: "test",
  });
  const value = { hash: sha256(id), keyId: id, start: "allclear_0000", createdAt: at };
  insertKeyValue(tx, { ...value, lastUsedAt: at - number });
}

const ORDERS = KEY_SORTS.flatMap((key) => [key, `-${key}`] as const);

/** Values of the columns in words of their own; no key has an end. */
const VALUES: Readonly<Record<(typeof KEY_SORTS)[number], string>> = {
  name: "lower(name)",
  limit: "rate_limit",
  used: "created_at * 7919 % 10007",
  created: "created_at",
  expires: "1",
};

/** Returns the ids of all bots in an order, as one statement lists them. */
function botsInOrder(store: ReturnType<typeof openLargeStore>, order: KeyOrder): string[] {
  const column = KEY_SORTS.find((key) => order.endsWith(key)) ?? "name";
  const direction = order.startsWith("-") ? "DESC" : "ASC";
  return store.sqlite
    .query<{ id: string }, []>(
      `SELECT id FROM api_keys WHERE name LIKE 'Bot%' ORDER BY ${VALUES[column]} ${direction}, id ${direction}`,
    )
    .all()
    .map(({ id }) => id);
}

describe("the list of many keys", () => {
  test.each(ORDERS)("a search in the order %s takes several turns and finds all", (order) => {
    using store = openLargeStore();
    const query = { search: "bot", filter: "all", order, limit: 600, now: 0 } as const;
    expect(takeAll(listKeyPage(store.ctx.db, query)).turns).toBe(3);
    expect(listEveryKey(store.ctx.db, query).map(({ id }) => id)).toEqual(
      botsInOrder(store, order),
    );
  });

  test("the newest keys are found in one turn, and those of a search in as many as it needs", () => {
    using store = openLargeStore();
    const read = (search: string, before?: string) => {
      const query = { search, filter: "all", before, limit: 2, now: 0 } as const;
      const { result, turns } = takeAll(listKeyPage(store.ctx.db, query));
      return { names: result.keys.map(({ name }) => name), turns };
    };
    expect(read("")).toEqual({ names: ["Bot 4500", "Job 4499"], turns: 1 });
    expect(read("job")).toEqual({ names: ["Job 4499", "Job 4498"], turns: 1 });
    expect(read("Bot 3")).toEqual({ names: ["Bot 3999", "Bot 3996"], turns: 1 });
    expect(read("Job 2")).toEqual({ names: ["Job 2999", "Job 2998"], turns: 1 });
    expect(read("Bot 12", `key_${"2000".padStart(26, "0")}`)).toEqual({
      names: ["Bot 1299", "Bot 1296"],
      turns: 1,
    });
    expect(read("nothing")).toEqual({ names: [], turns: 3 });
  });

  test("counts take several turns, as do the ids of all that match", () => {
    using store = openLargeStore();
    const counting = takeAll(countKeys(store.ctx.db, 0));
    expect(counting).toEqual({
      turns: 3,
      result: { all: COUNT, live: COUNT, expiring: 0, never_expires: COUNT, unused: 0, limited: 0 },
    });
    const matching = (search: string) => {
      const query = { search, filter: "live", limit: 1_001, now: 0 } as const;
      const { result, turns } = takeAll(listMatchingLiveKeys(store.ctx.db, query));
      return [result.length, turns];
    };
    expect(matching("job")).toEqual([1_001, 1]);
    // 3 of two digits, 33 of three and 333 of four.
    expect(matching("bot 1")).toEqual([369, 3]);
  });

  test.each([undefined, ...ORDERS])(
    "no statement of a search in the order %s reads more than a part of the keys",
    (order) => {
      using store = openMonitorStore();
      const statements = statementsOf(store.ctx.db, (reader) => {
        const query = {
          search: "allclear_0",
          filter: "limited",
          order,
          limit: 50,
          now: 0,
        } as const;
        atOnce(listKeyPage(reader, query));
        atOnce(countKeys(reader, 0));
        atOnce(listMatchingLiveKeys(reader, query));
      });
      const steps = statements.flatMap((sql) => planOf(store, sql));
      const ofKeys = steps.filter((step) => /\bapi_keys\b/.test(step));
      expect(ofKeys).toHaveLength(6);
      for (const step of ofKeys) {
        expect(step).toMatch(
          /^SEARCH api_keys USING (COVERING )?INDEX \w+ \((id>\? AND )?id<\?\)$/,
        );
      }
      expect(steps.filter((step) => /^SCAN (v|h|api_key\w*)\b/.test(step))).toEqual([]);
    },
  );

  test("other requests get their turns while the screen searches and sorts", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await app.ctx.db.write((tx) => {
      for (let number = 1; number <= COUNT; number++) addKey(app, tx, number);
    });
    const search = () => app.call("/admin/settings/keys?q=bot&sort=-used", { session });
    await search();
    // Two between the parts of the list, and two between those of the counts.
    expect(await turnsDuring(search)).toBeGreaterThanOrEqual(4);
  });
});
