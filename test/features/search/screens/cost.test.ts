import { expect, test } from "bun:test";
import { wordsOf } from "../../../../src/db/word-search";
import { searchEverything } from "../../../../src/features/search/screens/search";
import { takeAll } from "../../../support/turns";
import { openMonitorStore } from "../../../support/monitor-store";

/** Opens a database with this many incidents and components, the oldest of which is "Number 1". */
async function openLargeStore(count: number) {
  const store = openMonitorStore();
  const { id: page } = await store.page("shop", ["Website"]);
  const now = store.clock.now();
  const numbers = `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})`;
  store.sqlite.run(`${numbers}
    INSERT INTO incidents (id, page_id, name, status, impact, source, draft, started_at, resolved_at, version,
      created_at, updated_at)
    SELECT printf('inc_%026d', i), '${page}', 'Number ' || i || 'x', 'resolved', 'none', 'api', 0, ${now}, ${now},
      1, ${now}, ${now} FROM numbers`);
  store.sqlite.run(`${numbers}
    INSERT INTO components (id, page_id, ref, name, position, status, baseline_status, showcase,
      only_show_if_degraded, version, created_at, updated_at)
    SELECT printf('cmp_%026d', i), '${page}', 'c' || i, 'Number ' || i || 'x', i, 'operational', 'operational', 1,
      0, 1, ${now}, ${now} FROM numbers`);
  return store;
}

/** Takes all steps of a search, and returns their number and what was found under each title. */
function runAll(steps: ReturnType<typeof searchEverything>) {
  const { turns, result } = takeAll(steps);
  const found = result.map(({ title, results }) => [title, results.map(({ name }) => name)]);
  return { turns, found: Object.fromEntries(found) as Record<string, string[]> };
}

const searcher = { role: "owner", timeZone: "UTC", places: [], now: 0 } as const;

test("the search of many rows takes several turns, and finds the oldest, and the first by name", async () => {
  using store = await openLargeStore(9_000);
  const { turns, found } = runAll(searchEverything(store.ctx.db, "number 7x", searcher));
  expect(turns).toBeGreaterThan(6);
  expect(found["Incidents"]?.[0]).toBe("Number 8997x");
  expect(found["Components"]).toEqual(
    ["1007x", "1017x", "1027x", "1037x", "1047x", "1057x"].map((name) => `Number ${name}`),
  );
  expect(
    runAll(searchEverything(store.ctx.db, "inc_00000000000000000000000001", searcher)).found,
  ).toEqual({
    Incidents: ["Number 1x"],
  });
});

test("a search ends with the request of its client", async () => {
  using store = await openLargeStore(9_000);
  const client = new AbortController();
  const steps = searchEverything(store.ctx.db, "nothing", { ...searcher, signal: client.signal });
  expect(steps.next().done).toBe(false);
  client.abort();
  expect(runAll(steps).turns).toBe(1);
});

test("a search of many words looks for eight different words, the longest", () => {
  const { words, longest } = wordsOf(
    `${"a ".repeat(30)}${"ab cd EF gh ij kl mn op qr ÉT".repeat(2)}`,
  );
  expect(JSON.parse(words)).toHaveLength(8);
  expect(longest).toBe("Étab");
  expect(JSON.parse(wordsOf("Check checkout CHECKOUT out").words)).toEqual(["checkout"]);
});
