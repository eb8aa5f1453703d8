import { describe, expect, test } from "bun:test";
import { CLI_ACTOR as actor } from "../../src/base/actor";
import type { Imported, ImportItem, ImportReport } from "../../src/base/import-report";
import { HOUR_MS } from "../../src/base/time";
import type { Tx } from "../../src/db/statements";
import { deleteComponent, deleteGroup } from "../../src/features/components/components";
import { setManualStatuses } from "../../src/features/components/statuses";
import { findComponent, findGroup } from "../../src/features/components/store";
import { deleteIncident } from "../../src/features/incidents/incidents";
import { findIncident } from "../../src/features/incidents/store";
import { startMaintenanceClock } from "../../src/features/maintenance/clock";
import { getMaintenanceRecord } from "../../src/features/maintenance/records";
import { deleteSchedule } from "../../src/features/maintenance/schedules/schedules";
import { findSchedule } from "../../src/features/maintenance/schedules/store";
import { findMaintenance } from "../../src/features/maintenance/store";
import { deleteMonitor } from "../../src/features/monitors/monitors";
import { findMonitor } from "../../src/features/monitors/store";
import { deletePage } from "../../src/features/pages/deletion";
import { findPage } from "../../src/features/pages/store";
import { findWebhook } from "../../src/features/webhooks/store";
import { deleteWebhook } from "../../src/features/webhooks/webhooks";
import type { Found } from "../../src/imports/found";
import type { TestApp } from "../support/app";
import { listCausesOfPage } from "../support/causes";
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
import { pastSource } from "../support/past-source";
import {
  addUpdate,
  updateComponent,
  updateGroup,
  updateMaintenance,
  updateMonitor,
  updatePage,
  updateSchedule,
  updateWebhook,
} from "../support/examined";

type Ctx = TestApp["ctx"];

/** A maintenance to come. */
const planned = (until: string) =>
  foundMaintenance("1", {
    components: ["component:1"],
    number: 1,
    body: { scheduled_for: "2026-03-20T02:00:00Z", scheduled_until: until },
  });

/** A source with one object of each kind. */
const SOURCE = {
  pages: [foundPage("1", { number: 1 })],
  groups: [foundGroup("1", { number: 1 })],
  components: [foundComponent("1", { group: "group:1" })],
  monitors: [foundMonitor("1", { components: ["component:1"], number: 1 })],
  webhooks: [foundWebhook("1", { monitors: ["monitor:1"] })],
  schedules: [foundSchedule("1", { components: ["component:1"] })],
  maintenance: [planned("2026-03-20T04:00:00Z")],
  incidents: [foundIncident("1", { number: 1 })],
} satisfies Partial<Found>;

interface Kind {
  /** The source with another object of the kind. */
  changed: Partial<Found>;
  /** Reads what the change is about. */
  read(ctx: Ctx, id: string): unknown;
  /** Values of that before and after the change. */
  values: [before: unknown, after: unknown];
  edit(ctx: Ctx, tx: Tx, id: string): void;
  remove?(ctx: Ctx, tx: Tx, id: string): void;
}

const update = (status: "investigating" | "resolved", hour: number, body = "Text") => ({
  status,
  body,
  display_at: `2026-01-10T0${hour}:00:00Z`,
  components: { "component:1": status === "resolved" ? "operational" : "major_outage" } as const,
});

const KINDS: Partial<Record<Imported, Kind>> = {
  page: {
    changed: { pages: [foundPage("1", { body: { name: "Shop" } })] },
    read: (ctx, id) => findPage(ctx.db, { id })?.name,
    values: ["Page 1", "Shop"],
    edit: (ctx, tx, id) => void updatePage(ctx, tx, id, { join_minutes: 0 }, actor),
    remove: (ctx, tx, id) => {
      deletePage(ctx, tx, id, actor);
    },
  },
  group: {
    changed: { groups: [foundGroup("1", { body: { name: "EU" } })] },
    read: (ctx, id) => findGroup(ctx.db, { id })?.name,
    values: ["Group 1", "EU"],
    edit: (ctx, tx, id) => void updateGroup(ctx, tx, id, { description: "Ours" }, actor),
    remove: (ctx, tx, id) => deleteGroup(ctx, tx, id, actor),
  },
  component: {
    changed: {
      components: [foundComponent("1", { group: "group:1", body: { tags: ["eu"] } })],
    },
    read: (ctx, id) => findComponent(ctx.db, { id })?.tags,
    values: [[], ["eu"]],
    edit: (ctx, tx, id) => void updateComponent(ctx, tx, id, { name: "Ours" }, actor),
    remove: (ctx, tx, id) => deleteComponent(ctx, tx, id, actor),
  },
  monitor: {
    changed: {
      monitors: [
        foundMonitor("1", {
          components: ["component:1"],
          body: { type: "http", config: { url: "https://other.test/" } },
        }),
      ],
    },
    read: (ctx, id) => findMonitor(ctx.db, { id })?.config["url"],
    values: ["https://shop.test/", "https://other.test/"],
    edit: (ctx, tx, id) => void updateMonitor(ctx, tx, id, { notes: "Ours" }, actor),
    remove: (ctx, tx, id) => deleteMonitor(ctx, tx, id, actor),
  },
  webhook: {
    changed: {
      webhooks: [foundWebhook("1", { monitors: ["monitor:1"], body: { events: ["*"] } })],
    },
    read: (ctx, id) => findWebhook(ctx.db, { id })?.events,
    values: [["monitor.down", "monitor.up"], ["*"]],
    edit: (ctx, tx, id) => void updateWebhook(ctx, tx, id, { description: "Ours" }, actor),
    remove: (ctx, tx, id) => deleteWebhook(ctx, tx, id, actor),
  },
  schedule: {
    changed: {
      schedules: [
        foundSchedule("1", { components: ["component:1"], body: { cron: "0 3 * * MON" } }),
      ],
    },
    read: (ctx, id) => findSchedule(ctx.db, id)?.row.cron,
    values: ["0 2 * * SUN", "0 3 * * MON"],
    edit: (ctx, tx, id) => void updateSchedule(ctx, tx, id, { name: "Ours" }, actor),
    remove: (ctx, tx, id) => deleteSchedule(ctx, tx, id, actor),
  },
  maintenance: {
    changed: { maintenance: [planned("2026-03-20T06:00:00Z")] },
    read: (ctx, id) => findMaintenance(ctx.db, { id })?.row.scheduledUntil,
    values: [Date.parse("2026-03-20T04:00:00Z"), Date.parse("2026-03-20T06:00:00Z")],
    edit: (ctx, tx, id) => void updateMaintenance(ctx, tx, id, { name: "Ours" }, actor),
  },
  incident: {
    changed: {
      incidents: [
        foundIncident("1", {
          body: { updates: [update("investigating", 2), update("resolved", 3)] },
        }),
      ],
    },
    read: (ctx, id) => findIncident(ctx.db, { id })?.row.status,
    values: ["investigating", "resolved"],
    edit: (ctx, tx, id) =>
      void addUpdate(ctx, tx, id, { body: "We found it.", status: "identified" }, actor),
    remove: (ctx, tx, id) => void deleteIncident(ctx, tx, id, actor),
  },
};

/** Returns the item of a report about the object of a kind that the source has, or had. */
function itemOf({ items }: ImportReport, kind: Imported): ImportItem {
  const type = kind === "webhook" ? "notification" : kind;
  const item = items.find(({ foreign }) => foreign.type === type);
  if (!item) throw new Error(`the report has no ${kind}`);
  return item;
}

describe("the second import of a source", () => {
  test("that did not change writes nothing", async () => {
    await using site = await createImportSite();
    const report = await site.importFound(SOURCE);
    expect(report.counts).toEqual({ created: 8 });
    const [audited, events] = [site.app.audit().length, site.app.events().length];
    const again = await site.importFound(SOURCE);
    expect([again.id, again.counts]).toEqual([null, { unchanged: 8 }]);
    expect([site.app.audit().length, site.app.events().length]).toEqual([audited, events]);
  });
});

describe.each(Object.entries(KINDS))("the second import of a %s", (name, kind) => {
  const { changed, read, values, edit, remove } = kind;
  const type = name as Imported;

  async function importedSite() {
    const site = await createImportSite();
    const { ctx } = site.app;
    const id = itemOf(await site.importFound(SOURCE), type).target?.id ?? "";
    const importAgain = async (parts: Partial<Found>) =>
      itemOf(await site.importFound({ ...SOURCE, ...parts }), type);
    return Object.assign(site, { ctx, id, importAgain });
  }

  test("brings it up to date if it changed in the source alone", async () => {
    await using site = await importedSite();
    expect(read(site.ctx, site.id)).toEqual(values[0]);
    const item = await site.importAgain(changed);
    expect(item).toMatchObject({ verdict: "updated", reason: null, target: { id: site.id } });
    expect(read(site.ctx, site.id)).toEqual(values[1]);
    expect(await site.importAgain(changed)).toMatchObject({ verdict: "unchanged" });
  });

  test("keeps it if it was edited here", async () => {
    await using site = await importedSite();
    await site.ctx.db.write((tx) => edit(site.ctx, tx, site.id));
    expect(await site.importAgain({})).toMatchObject({ verdict: "unchanged" });
    const item = await site.importAgain(changed);
    expect(item).toMatchObject({ verdict: "kept", reason: "It was edited here." });
    expect(read(site.ctx, site.id)).not.toEqual(values[1]);
  });

  if (remove) {
    test("leaves it deleted if it was deleted here", async () => {
      await using site = await importedSite();
      await site.ctx.db.write((tx) => remove(site.ctx, tx, site.id));
      for (const parts of [{}, changed]) {
        const item = await site.importAgain(parts);
        expect(item).toMatchObject({
          verdict: "kept",
          target: null,
          reason: "It was deleted here.",
        });
      }
    });
  }

  test("keeps it if it is no longer in the source", async () => {
    await using site = await importedSite();
    const list = Object.keys(changed)[0] ?? "";
    const item = await site.importAgain({ [list]: [] });
    const reason = "It is no longer in the source.";
    expect(item).toMatchObject({ verdict: "kept", target: { id: site.id }, reason });
    expect(await site.importAgain({})).toMatchObject({ verdict: "unchanged" });
  });
});

test("a component whose status alone changed here is brought up to date", async () => {
  await using site = await createImportSite();
  const { ctx } = site.app;
  const report = await site.importFound(SOURCE);
  const id = itemOf(report, "component").target?.id ?? "";
  const reason = { source: "manual", actor, reason: null } as const;
  await ctx.db.write((tx) => {
    setManualStatuses(ctx, tx, new Map([[id, "major_outage"]]), reason);
  });
  const components = [
    foundComponent("1", { group: "group:1", baseline: "partial_outage", body: { name: "API" } }),
  ];
  const again = await site.importFound({ ...SOURCE, components });
  expect(itemOf(again, "component").verdict).toBe("updated");
  // The status of the source is that of the first import alone.
  expect(findComponent(ctx.db, { id })).toMatchObject({
    name: "API",
    baselineStatus: "major_outage",
  });
});

test("an incident that went on in the source gets its new updates and the right causes", async () => {
  await using site = await createImportSite();
  const { ctx } = site.app;
  const first = {
    incidents: [foundIncident("1", { body: { updates: [update("investigating", 2)] } })],
  };
  const report = await site.importFound({ ...SOURCE, ...first });
  const pageId = itemOf(report, "page").target?.id ?? "";
  const causes = () =>
    listCausesOfPage(ctx.db, { pageId, since: 0 }).map(({ cause }) => [
      cause.status,
      cause.endedAt,
    ]);
  expect(causes()).toEqual([["major_outage", null]]);
  const story = [update("investigating", 2), update("resolved", 4)];
  await site.importFound({
    ...SOURCE,
    incidents: [foundIncident("1", { body: { updates: story } })],
  });
  expect(causes()).toEqual([["major_outage", Date.parse("2026-01-10T04:00:00Z")]]);
  const key = await site.app.keyWith("read:status");
  const { body } = await site.app.call("/api/v1/incidents", { key });
  expect(body.data).toMatchObject([{ status: "resolved", updates: [{}, {}] }]);
});

describe("the components of a monitor", () => {
  const watchedBy = async (sources: readonly Partial<Found>[]) => {
    await using site = await createImportSite();
    for (const source of sources) await site.importFound(source);
    const key = await site.app.keyWith("read:status", "manage:monitors");
    const { body: monitors } = await site.app.call("/api/v1/monitors", { key });
    const { body: components } = await site.app.call("/api/v1/components", { key });
    const names = new Map(
      components.data.map((one: { id: string; name: string }) => [one.id, one.name]),
    );
    return monitors.data[0].component_ids.map((id: string) => names.get(id)).toSorted();
  };
  const source = (ids: readonly string[], components: readonly `component:${string}`[]) => ({
    pages: [foundPage("1")],
    components: ids.map((id) => foundComponent(id)),
    monitors: [foundMonitor("1", { components })],
  });

  test("follow the source", async () => {
    const both = ["1", "2"];
    const sources = [source(both, ["component:1"]), source(both, ["component:2"])];
    expect(await watchedBy(sources)).toEqual(["Component 2"]);
  });

  test("stay if they are no longer in the source", async () => {
    const sources = [source(["1"], ["component:1"]), source(["2"], ["component:2"])];
    expect(await watchedBy(sources)).toEqual(["Component 1", "Component 2"]);
  });

  test("are added by the import that adds them", async () => {
    const whole = source(["1"], ["component:1"]);
    const sources = [{ monitors: whole.monitors }, whole];
    expect(await watchedBy(sources)).toEqual(["Component 1"]);
  });
});

test("an object that became one of another kind stays so", async () => {
  await using site = await createImportSite();
  const foreign = { type: "monitor", id: "1", name: "Door" };
  const pages = [foundPage("1")];
  const first = await site.importFound({ pages, components: [foundComponent("1", { foreign })] });
  const report = await site.importFound({ pages, monitors: [foundMonitor("1", { foreign })] });
  expect(report.items[1]).toMatchObject({
    verdict: "kept",
    target: { kind: "component", id: first.items[1]?.target?.id },
    reason: "At an earlier import it became a component.",
  });
});

describe("a monitor that was held", () => {
  test("becomes one that is checked once its type is known, with its id", async () => {
    await using site = await createImportSite();
    const [held] = (await site.importFound({ monitors: [heldMonitor("1")] })).items;
    const report = await site.importFound({ monitors: [foundMonitor("1")] });
    expect(report.items).toMatchObject([{ verdict: "updated", target: { id: held?.target?.id } }]);
    expect(site.monitors()).toMatchObject([
      { type: "http", paused: false, config: { url: "https://shop.test/" } },
    ]);
  });

  test("stays held with the settings that the source has now", async () => {
    await using site = await createImportSite();
    await site.importFound({ monitors: [heldMonitor("1")] });
    const config = {
      source: "uptime-kuma",
      type: "mongodb",
      target: "db2.test",
      settings: { a: 1 },
    };
    const body = { config } as Partial<ReturnType<typeof heldMonitor>["body"]>;
    const report = await site.importFound({ monitors: [heldMonitor("1", { body })] });
    expect(report.items).toMatchObject([{ verdict: "held" }]);
    expect(site.monitors()).toMatchObject([{ type: "unsupported", paused: true, config }]);
  });

  test("is not what a monitor of a known type becomes", async () => {
    await using site = await createImportSite();
    await site.importFound({ monitors: [foundMonitor("1")] });
    const report = await site.importFound({ monitors: [heldMonitor("1")] });
    expect(report.items).toMatchObject([
      { verdict: "kept", reason: "MongoDB cannot be checked yet." },
    ]);
  });
});

test("secrets that are gone from the source are gone here", async () => {
  await using site = await createImportSite();
  const config = { url: "https://shop.test/", headers: { Authorization: "Bearer abc" } };
  await site.importFound({ monitors: [foundMonitor("1", { body: { config } })] });
  expect(site.monitors()[0]?.config).toHaveProperty("headers");
  await site.importFound({ monitors: [foundMonitor("1")] });
  expect(site.monitors()[0]?.config).not.toHaveProperty("headers");
});

describe("a maintenance that the clock has begun here", () => {
  const story = (...statuses: ("scheduled" | "in_progress" | "completed")[]) => ({
    ...SOURCE,
    maintenance: [
      foundMaintenance("1", {
        components: ["component:1"],
        body: {
          scheduled_for: "2026-03-10T13:00:00Z",
          scheduled_until: "2026-03-10T14:00:00Z",
          updates: statuses.map((status, index) => {
            return { status, body: `Text ${index}`, display_at: `2026-03-10T1${1 + index}:30:00Z` };
          }),
        },
      }),
    ],
  });

  async function siteAfter(hours: number, locale = "en") {
    const site = await createImportSite();
    const { ctx, clock } = site.app;
    const report = await site.importFound(story("scheduled"));
    const id = itemOf(report, "maintenance").target?.id ?? "";
    await ctx.db.write((tx) => {
      updatePage(ctx, tx, getMaintenanceRecord(tx, id).row.pageId, { locale }, actor);
    });
    const timer = startMaintenanceClock(ctx);
    await clock.advance(hours * HOUR_MS);
    timer.cancel();
    const updates = () => getMaintenanceRecord(ctx.db, id).updates.map(({ body }) => body);
    return Object.assign(site, { ctx, id, updates });
  }

  test.each(["en", "de"])("gets the updates that the source has since then: %s", async (locale) => {
    await using site = await siteAfter(3, locale);
    expect(site.updates()).toHaveLength(3);
    const report = await site.importFound(story("scheduled", "in_progress", "completed"));
    expect(itemOf(report, "maintenance")).toMatchObject({ verdict: "updated" });
    expect(site.updates()).toEqual(["Text 2", "Text 1", "Text 0"]);
    const again = await site.importFound(story("scheduled", "in_progress", "completed"));
    expect(itemOf(again, "maintenance")).toMatchObject({ verdict: "unchanged" });
  });

  test("is kept if somebody edited it", async () => {
    await using site = await siteAfter(1.5);
    await site.ctx.db.write((tx) =>
      updateMaintenance(site.ctx, tx, site.id, { name: "Ours" }, actor),
    );
    const report = await site.importFound(story("scheduled", "in_progress", "completed"));
    expect(itemOf(report, "maintenance")).toMatchObject({
      verdict: "kept",
      reason: "It was edited here.",
    });
  });
});

test.each([
  ["is paused", { body: { paused: true } }],
  ["is at other components", { components: ["component:2"] as const }],
  ["counts differently", { body: { on_down: "degraded_performance" } as const }],
])(
  "a monitor that is down and %s in the source changes without notifying people",
  async (_, by) => {
    await using site = await createImportSite();
    const now = site.app.clock.now();
    const last = { state: "down", since: now - HOUR_MS, at: now, message: null } as const;
    const importWith = (changes: Parameters<typeof foundMonitor>[1]) =>
      site.importFound({
        pages: [foundPage("1")],
        components: [foundComponent("1"), foundComponent("2")],
        monitors: [foundMonitor("1", { components: ["component:1"], ...changes })],
        history: pastSource({ "monitor:1": { beats: [], last } }),
      });
    await importWith({});
    const before = site.app.events().length;
    expect((await importWith(by)).counts).toEqual({ updated: 1, unchanged: 3 });
    const events = site.app.events().slice(before);
    expect(events.length).toBeGreaterThan(0);
    expect(events.filter(({ data }) => data["notify"] !== false)).toEqual([]);
  },
);
