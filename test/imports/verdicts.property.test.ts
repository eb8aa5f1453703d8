import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { VERDICTS } from "../../src/base/import-report";
import { PROCESS_TEST_MS } from "../support/binary";
import { checkItems, checkOf, createImportSite, UUIDS } from "../support/import-site";

setDefaultTimeout(PROCESS_TEST_MS);

const text = fc.string({ unit: "binary", maxLength: 30 });
const seconds = fc.oneof(fc.integer({ min: -1, max: 40_000_000 }), fc.constant(3_600));

/** Fields of a check, of which some are missing and some are invalid. */
const fields = fc.record(
  {
    name: fc.oneof(text, fc.constantFrom("Job", "")),
    slug: fc.oneof(text, fc.constantFrom("job", "")),
    tags: text,
    desc: text,
    timeout: fc.option(seconds, { nil: undefined }),
    grace: seconds,
    schedule: fc.oneof(text, fc.constantFrom("0 3 * * *", "daily", "61 * * * *")),
    tz: fc.oneof(text, fc.constantFrom("UTC", "Europe/Riga")),
    status: fc.constantFrom("new", "up", "down", "grace", "paused", "other"),
    manual_resume: fc.boolean(),
    methods: fc.constantFrom("", "POST", "PUT"),
    filter_subject: fc.boolean(),
    filter_http_body: fc.boolean(),
    channels: fc.oneof(text, fc.constantFrom("a,b", "b,,c", ",")),
    ping_url: fc.constantFrom("", "https://hc-ping.test/", undefined),
  },
  { requiredKeys: [] },
);

/** Entry of an answer: a check, mostly with one of a few UUIDs, or any other value. */
const entry = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom(...UUIDS), fields).map(([uuid, own]) => checkOf(uuid, own)),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);

const integrationsIn = (entries: readonly unknown[]) =>
  entries.flatMap((one) => {
    const { channels } = (one ?? {}) as { channels?: unknown };
    return typeof channels === "string" ? channels.split(",").filter(Boolean) : [];
  });

test("an import gives each entry one verdict, and the next one changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 6 }), async (entries) => {
      // As they are after JSON, which has no undefined values.
      const answer = JSON.parse(JSON.stringify(entries)) as unknown[];
      const options = { pingKey: "key" };
      await using site = await createImportSite();
      const report = await site.import(answer, options);
      expect(checkItems(report)).toHaveLength(answer.length);
      const others = report.items.filter(({ foreign }) => foreign.type === "integration");
      expect(others.length).toBeLessThanOrEqual(new Set(integrationsIn(answer)).size);
      const counts = VERDICTS.map((verdict) => report.counts[verdict] ?? 0);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(report.items.length);
      for (const { verdict, target, changes, reason } of checkItems(report)) {
        expect(target === null).toBe(verdict === "not_moved");
        expect(reason === null).toBe(verdict === "created" || verdict === "changed");
        if (verdict === "created") expect(changes).toEqual([]);
        if (verdict === "changed") expect(changes).not.toEqual([]);
      }
      const again = await site.import(answer, options);
      expect(again.id).toBeNull();
      const { unchanged = 0, not_moved = 0, kept = 0, ...changed } = again.counts;
      expect([changed, kept]).toEqual([{}, 0]);
      expect(unchanged + not_moved).toBe(again.items.length);
    }),
    { numRuns: 150 },
  );
});
