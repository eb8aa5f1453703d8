import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { withOwnIds } from "../../src/imports/monitors";
import { IMPORT_PARTS } from "../../src/imports/sources";
import { type ForeignKey, keyOf } from "../../src/imports/found";
import { PROCESS_TEST_MS } from "../support/binary";
import {
  foundComponent,
  foundGroup,
  foundIncident,
  foundMaintenance,
  foundMonitor,
  foundPage,
  foundSchedule,
  foundWebhook,
  heldMonitor,
} from "../support/found-objects";
import { createImportSite } from "../support/import-site";

setDefaultTimeout(PROCESS_TEST_MS);

/** Mostly the first values, since most objects are to be valid. */
const mostly = <Value>(usual: readonly Value[], rare: readonly Value[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );
const id = mostly(["1", "2"], ["3"]);
const keyTo = (type: string) => id.map((value): ForeignKey => `${type}:${value}`);
const keysTo = (type: string) => fc.array(keyTo(type), { maxLength: 3 });
const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("API", "api", "", " ") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
);
const name = text.map((value) => ({ name: value }));
const past = mostly(
  ["2026-01-10T02:00:00Z", "2026-01-10T05:00:00+02:00"],
  ["2026-03-20T02:00:00Z", "99999-01-01T00:00:00Z", "soon"],
);
const later = mostly(["2026-03-10T12:30:00Z", "2026-03-20T02:00:00Z"], ["2025-01-01T00:00:00Z"]);
const number = fc.option(fc.constantFrom(1, 2, 1_000_000, -1, 0.5), { nil: null });
const disabled = fc.constantFrom(undefined, undefined, "Its host is not defined.");

const pages = fc
  .tuple(id, fc.boolean(), number, fc.record({ name: text, slug: text }))
  .map(([own, isDefault, kept, body]) => foundPage(own, { isDefault, number: kept, body }));
const groups = fc
  .tuple(id, keyTo("page"), number, name)
  .map(([own, page, kept, body]) => foundGroup(own, { page, number: kept, body }));
const components = fc
  .tuple(id, keyTo("page"), fc.option(keyTo("group")), fc.constantFrom(null, "a_b"), name)
  .map(([own, page, group, key, body]) => foundComponent(own, { page, group, key, body }));
const monitors = fc
  .tuple(
    id,
    fc.oneof(keysTo("component"), fc.constant("internal" as const)),
    keysTo("monitor"),
    fc.record({ number, disabled, isHeld: fc.boolean() }),
    fc.record({ name: text, interval_seconds: mostly([60], [1]) }),
  )
  .map(([own, watched, dependsOn, { isHeld, ...others }, body]) =>
    (isHeld ? heldMonitor : foundMonitor)(own, {
      components: watched,
      dependsOn,
      ...others,
      body,
    }),
  );
const webhooks = fc
  .tuple(
    id,
    fc.option(keyTo("page")),
    fc.oneof(keysTo("monitor"), fc.constant("all" as const)),
    disabled,
    fc.constantFrom("https://example.com/a", "http://10.0.0.9/a", "http://169.254.1.1/", "no URL"),
  )
  .map(([own, page, bound, reason, url]) =>
    foundWebhook(own, { page, monitors: bound, disabled: reason, body: { url } }),
  );
const maintenance = fc
  .tuple(
    id,
    keyTo("page"),
    keysTo("component"),
    fc.record({ name: text, scheduled_for: past, scheduled_until: later }),
  )
  .map(([own, page, affected, body]) =>
    foundMaintenance(own, { page, components: affected, body }),
  );
const schedules = fc
  .tuple(id, keyTo("page"), keysTo("component"), mostly(["0 2 * * SUN"], ["never"]))
  .map(([own, page, affected, cron]) =>
    foundSchedule(own, { page, components: affected, body: { cron } }),
  );
const update = fc.record({
  status: fc.constantFrom("investigating", "identified", "resolved"),
  body: text,
  display_at: past,
  components: fc.dictionary(keyTo("component"), fc.constantFrom("major_outage", "operational"), {
    maxKeys: 2,
    noNullPrototype: true,
  }),
});
const incidents = fc
  .tuple(
    id,
    keyTo("page"),
    number,
    fc.record({
      name: text,
      started_at: past,
      updates: fc.array(update, { minLength: 1, maxLength: 3 }),
    }),
    fc.constantFrom("incident:1", "incident:2"),
  )
  .map(([own, page, kept, body, externalId]) =>
    foundIncident(own, { page, number: kept, body, externalId }),
  );
const leftOut = id.map((own) => ({
  foreign: { type: "user", id: own, name: "Somebody" },
  reason: "People are invited.",
}));

const some = <Value>(values: fc.Arbitrary<Value>) =>
  fc.array(values, { minLength: 1, maxLength: 4 });
const source = fc.record({
  pages: some(pages),
  groups: some(groups),
  components: some(components),
  monitors: some(monitors),
  webhooks: some(webhooks),
  maintenance: some(maintenance),
  schedules: some(schedules),
  incidents: some(incidents),
  leftOut: some(leftOut),
});
const options = fc.record({
  only: mostly([undefined], IMPORT_PARTS),
  isPaused: fc.boolean(),
});

test("an import gives each object one verdict, and the next one changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(source, options, async (parts, chosen) => {
      await using site = await createImportSite();
      const { monitors: found, ...others } = parts;
      const objects = [...withOwnIds(found), ...Object.values(others).flat()];
      const keys = objects.map(({ foreign }) => keyOf(foreign)).toSorted();
      const keysIn = (items: readonly { foreign: (typeof objects)[number]["foreign"] }[]) =>
        items
          .filter(({ foreign }) => foreign.type !== "internal page")
          .map(({ foreign }) => keyOf(foreign))
          .toSorted();
      const plan = await site.plan(parts, chosen);
      const report = await site.importFound(parts, chosen);
      expect(keysIn(report.items)).toEqual(keys);
      expect(Object.values(report.counts).reduce((sum, count) => sum + count, 0)).toBe(
        report.items.length,
      );
      // A dry run says the same.
      expect(plan.counts).toEqual(report.counts);
      for (const { verdict, target, changes, reason } of report.items) {
        expect(target === null).toBe(verdict === "not_moved");
        if (reason === null) expect(["created", "changed"]).toContain(verdict);
        if (verdict === "created") expect(changes).toEqual([]);
        if (verdict === "changed") expect(changes).not.toEqual([]);
      }
      const again = await site.importFound(parts, chosen);
      expect([keysIn(again.items), again.id]).toEqual([keys, null]);
      const { unchanged = 0, not_moved = 0, ...changed } = again.counts;
      expect(changed).toEqual({});
      const moved = report.items.filter(({ verdict }) => verdict !== "not_moved");
      const internal = moved.filter(({ foreign }) => foreign.type === "internal page").length;
      expect([unchanged, not_moved]).toEqual([
        moved.length - internal,
        report.counts.not_moved ?? 0,
      ]);
    }),
    { numRuns: 150 },
  );
});
