import { describe, expect, test } from "bun:test";
import { DAY_MS } from "../../src/base/time";
import { ROWS_PER_TURN } from "../../src/db/parts";
import { type AuditCursor, searchAudit } from "../../src/events/audit-search";
import { openMonitorStore, planOf, statementsOf } from "../support/monitor-store";
import { takeAll } from "../support/turns";

const DAYS = 10;
/** Entries of a day: as many as are read in one turn. */
const PER_DAY = ROWS_PER_TURN;
const COUNT = DAYS * PER_DAY;

/** Opens a log in which the entry with the number n has the id n, from the first day of 1970 on. */
function openLog() {
  const store = openMonitorStore();
  store.sqlite.run(`DELETE FROM audit_log`);
  store.sqlite
    .run(`WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${COUNT})
    INSERT INTO audit_log (id, actor_kind, actor_label, action, target_id, summary, at)
    SELECT i, 'cli', 'command line', 'test.change', 'inc_' || (i % 2), 'Change ' || i, (i - 1) * ${DAY_MS / PER_DAY}
    FROM numbers`);
  return store;
}

/** Searches, and returns the numbers that were found and the turns that it took. */
function find(store: ReturnType<typeof openLog>, query: Parameters<typeof searchAudit>[1]) {
  const { result, turns } = takeAll(searchAudit(store.ctx.db, query));
  return { found: result.map(({ id }) => id), turns };
}

describe("the search of a long audit log", () => {
  test("a day is read without the entries after it or before it, in both orders", () => {
    using store = openLog();
    const day = { from: 3 * DAY_MS, until: 4 * DAY_MS };
    const [first, last] = [3 * PER_DAY + 1, 4 * PER_DAY];
    expect(find(store, { ...day, limit: 2 })).toEqual({ found: [last, last - 1], turns: 1 });
    expect(find(store, { ...day, isOldestFirst: true, limit: 2 })).toEqual({
      found: [first, first + 1],
      turns: 1,
    });
    for (const isOldestFirst of [false, true]) {
      const query = { ...day, text: "nothing", isOldestFirst, limit: 2 };
      expect(find(store, query)).toEqual({ found: [], turns: 2 });
      const { found } = find(store, { ...day, isOldestFirst, limit: COUNT });
      expect([found.length, Math.min(...found), Math.max(...found)]).toEqual([
        PER_DAY,
        first,
        last,
      ]);
    }
  });

  test("a text is looked for in several turns, which end once enough is found", () => {
    using store = openLog();
    const text = "change 12345";
    expect(find(store, { text, limit: 1 })).toEqual({ found: [12_345], turns: 4 });
    expect(find(store, { text, isOldestFirst: true, limit: 1 })).toEqual({
      found: [12_345],
      turns: 7,
    });
    expect(find(store, { text, limit: 2 })).toEqual({ found: [12_345], turns: DAYS + 1 });
    expect(find(store, { target: "inc_0", limit: 2 })).toEqual({
      found: [COUNT, COUNT - 2],
      turns: 1,
    });
  });

  test.each([false, true])(
    "the parts of a list contain each entry that matches once, oldest first: %p",
    (isOldestFirst) => {
      using store = openLog();
      const all: number[] = [];
      let before: AuditCursor | undefined;
      for (;;) {
        const query = { text: "77", isOldestFirst, before, limit: 100 };
        const { result } = takeAll(searchAudit(store.ctx.db, query));
        all.push(...result.map(({ id }) => id));
        if (result.length < 100) break;
        before = result.at(-1);
      }
      const numbers = Array.from({ length: COUNT }, (_, index) => index + 1);
      const expected = numbers.filter((number) => String(number).includes("77"));
      expect(all).toEqual(isOldestFirst ? expected : expected.toReversed());
    },
  );

  test("a position outside of the days stands for their beginning", () => {
    using store = openLog();
    const day = { from: 3 * DAY_MS, until: 4 * DAY_MS, limit: 1 };
    const at = (number: number) => ({ at: (number - 1) * (DAY_MS / PER_DAY), id: number });
    const [first, last] = [3 * PER_DAY + 1, 4 * PER_DAY];
    expect(find(store, { ...day, before: at(COUNT) }).found).toEqual([last]);
    expect(find(store, { ...day, before: at(last) }).found).toEqual([last - 1]);
    expect(find(store, { ...day, before: at(first) }).found).toEqual([]);
    const oldest = { ...day, isOldestFirst: true };
    expect(find(store, { ...oldest, before: at(1) }).found).toEqual([first]);
    expect(find(store, { ...oldest, before: at(first) }).found).toEqual([first + 1]);
    expect(find(store, { ...oldest, before: at(last) }).found).toEqual([]);
  });

  test.each([false, true])(
    "the statements begin and end in the index of times and sort nothing, oldest first: %p",
    (isOldestFirst) => {
      using store = openMonitorStore();
      const statements = statementsOf(store.ctx.db, (reader) => {
        takeAll(searchAudit(reader, { text: "any", from: 1, until: 2, isOldestFirst, limit: 50 }));
      });
      expect(statements).toHaveLength(2);
      const steps = statements.flatMap((sql) => planOf(store, sql));
      const ofLog = steps.filter((step) => /\baudit_log\b/.test(step));
      expect(ofLog).toHaveLength(2);
      for (const step of ofLog) {
        expect(step).toMatch(
          /^SEARCH audit_log USING (COVERING )?INDEX audit_log_by_time \(.*>.* AND .*<.*\)$/,
        );
      }
      expect(steps.filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
    },
  );
});
