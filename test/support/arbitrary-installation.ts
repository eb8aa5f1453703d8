import fc from "fast-check";
import { CLI_ACTOR } from "../../src/base/actor";
import { Problem } from "../../src/base/errors";
import { DescriptionText, NameText } from "../../src/base/texts";
import type { Tx } from "../../src/db/statements";
import {
  deleteComponent,
  deleteGroup,
  orderComponents,
} from "../../src/features/components/components";
import { setManualStatuses } from "../../src/features/components/statuses";
import { listComponentsOfPage, listGroups } from "../../src/features/components/store";
import { deleteTemplate, listAllTemplates } from "../../src/features/incident-templates/templates";
import { listStoredMonitors } from "../../src/features/monitors/declared";
import { deleteMonitor, pauseMonitor, resumeMonitor } from "../../src/features/monitors/monitors";
import { deletePage } from "../../src/features/pages/deletion";
import { listAllPages } from "../../src/features/pages/store";
import { listStoredWebhooks } from "../../src/features/webhooks/file";
import { deleteWebhook } from "../../src/features/webhooks/webhooks";
import type { TestApp } from "./app";
import { arbitraryMonitor, arbitraryTags } from "./arbitrary-monitor";
import { arbitrarySchedule, performOnSchedule } from "./arbitrary-schedule";
import { arbitraryTemplate, performOnTemplate } from "./arbitrary-template";
import { textOf } from "./arbitrary-text";
import { arbitraryWebhook } from "./arbitrary-webhook";
import { performOnWebhook, WEBHOOK_ACTS } from "./webhook-actions";
import {
  createComponent,
  createGroup,
  createMonitor,
  createPage,
  updateComponent,
  updateGroup,
  updateMonitor,
  updatePage,
} from "./examined";

const name = textOf(NameText, 12);
const description = fc.option(textOf(DescriptionText, 60));

const pageFields = fc.record({
  name,
  description,
  time_zone: fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kolkata"),
  locale: fc.constantFrom("en", "pt-BR", "no"),
  visibility: fc.constantFrom("public" as const, "private" as const),
  theme: fc.constantFrom("system" as const, "light" as const, "dark" as const),
  accent: fc.constantFrom(null, "#0b6b53", "#123456"),
  history_days: fc.constantFrom(30, 90, 365),
  join_minutes: fc.constantFrom(0, 10, 1_440),
  custom_domains: fc.oneof(
    fc.constant<string[]>([]),
    fc.subarray(["Status.Example.com", "münchen.example", "up.example"]),
  ),
  compat: fc.subarray(["uptime-kuma", "gatus"] as const),
  report: fc.constantFrom("off" as const, "team" as const, "public" as const),
  mail: fc.record(
    {
      subscriptions: fc.boolean(),
      from_name: fc.constantFrom(null, "Acme Operations"),
      reply_to: fc.constantFrom(null, "Help@EXAMPLE.com"),
      subject: fc.constantFrom("thread" as const, "status" as const),
      footer: fc.constantFrom(null, "Acme\nTown"),
    },
    { requiredKeys: [] },
  ),
});

const groupFields = fc.record({
  name,
  description,
  collapse: fc.constantFrom(
    "expanded" as const,
    "collapsed" as const,
    "collapsed_unless_incident" as const,
  ),
});

const componentFields = fc.record({
  name,
  description,
  showcase: fc.boolean(),
  start_date: fc.constantFrom(null, "2025-02-28", "1999-12-31"),
  only_show_if_degraded: fc.boolean(),
  show_latency: fc.boolean(),
  uptime_goal: fc.constantFrom(null, 99.95, 100),
  tags: arbitraryTags,
});

const ACTS = [
  "add page",
  "edit page",
  "change slug",
  "make default",
  "delete page",
  "add group",
  "add group",
  "edit group",
  "delete group",
  "add component",
  "add component",
  "add component",
  "add component",
  "add component",
  "add component",
  "edit component",
  "delete component",
  "turn the order round",
  "set component status",
  "add monitor",
  "add monitor",
  "add monitor",
  "add monitor",
  "edit monitor",
  "pause monitor",
  "delete monitor",
  "add template",
  "add template",
  "edit template",
  "delete template",
  "add schedule",
  "add schedule",
  "add schedule",
  "add schedule",
  "edit schedule",
  "delete schedule",
  ...WEBHOOK_ACTS,
] as const;

/**
 * An action in an installation. Its object is selected by an index modulo the number of objects.
 */
const act = fc.record({
  what: fc.constantFrom(...ACTS),
  which: fc.nat({ max: 9 }),
  group: fc.nat({ max: 9 }),
  // Few positions, so that they collide.
  position: fc.nat({ max: 3 }),
  word: fc.constantFrom("a", "b", "123", "null", "1e3", "-"),
  pageFields,
  groupFields,
  componentFields,
  monitorFields: arbitraryMonitor,
  webhookFields: arbitraryWebhook,
  templateFields: arbitraryTemplate,
  scheduleFields: arbitrarySchedule,
  /** Indexes of components of any page. */
  scheduled: fc.array(fc.nat({ max: 9 }), { maxLength: 3, size: "max" }),
});
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** Sequence of actions that fill an empty installation. */
export const arbitraryActions: fc.Arbitrary<Act[]> = fc.array(act, { maxLength: 40, size: "max" });

/**
 * Deletes everything and performs the actions. Those that a rule forbids, such as a used slug, are
 * skipped.
 */
export async function createArbitraryInstallation(
  app: TestApp,
  acts: readonly Act[],
): Promise<void> {
  const { ctx } = app;
  const empty = ctx.db.write((tx) => {
    for (const { id } of listAllPages(tx, {})) deletePage(ctx, tx, id, CLI_ACTOR);
    for (const { row } of listStoredMonitors(tx)) deleteMonitor(ctx, tx, row.id, CLI_ACTOR);
    for (const { row } of listStoredWebhooks(tx)) deleteWebhook(ctx, tx, row.id, CLI_ACTOR);
    for (const { row } of listAllTemplates(tx)) deleteTemplate(ctx, tx, row.id, CLI_ACTOR);
  });
  // All are requested at once and run in order, so each rejected one is rolled back by itself.
  const attempts = acts.map((one) =>
    ctx.db
      .write((tx) => perform(app, tx, one))
      .catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
      }),
  );
  await Promise.all([empty, ...attempts]);
}

function perform(app: TestApp, tx: Tx, one: Act): void {
  const { ctx } = app;
  const { what, which, position, word } = one;
  if (what.endsWith("monitor")) return performOnMonitor(app, tx, one);
  if (what.endsWith("template")) return performOnTemplate(app, tx, one);
  if (what.endsWith("schedule")) return performOnSchedule(app, tx, one);
  if (what.endsWith("webhook")) return performOnWebhook(app, tx, one);
  const page = pick(listAllPages(tx, {}), which);
  if (what === "add page" || !page) {
    createPage(ctx, tx, { slug: `page-${which}`, ...one.pageFields }, CLI_ACTOR);
    return;
  }
  const groups = listGroups(tx, { pageId: page.id });
  const components = listComponentsOfPage(tx, { pageId: page.id });
  const group = pick(groups, one.group);
  const component = pick(components, which);
  const groupId = one.group % 2 === 0 ? null : (group?.id ?? null);
  switch (what) {
    case "edit page":
      updatePage(ctx, tx, page.id, { ...one.pageFields, ref: word }, CLI_ACTOR);
      return;
    case "change slug":
      updatePage(ctx, tx, page.id, { slug: `page-${one.group}` }, CLI_ACTOR);
      return;
    case "make default":
      updatePage(ctx, tx, page.id, { default: true }, CLI_ACTOR);
      return;
    case "delete page":
      deletePage(ctx, tx, page.id, CLI_ACTOR);
      return;
    case "add group":
      createGroup(ctx, tx, page, one.groupFields, { position, managedBy: null }, CLI_ACTOR);
      return;
    case "add component": {
      const placement = { position, groupId, managedBy: null };
      createComponent(ctx, tx, page, one.componentFields, placement, CLI_ACTOR);
      return;
    }
    case "turn the order round":
      orderComponents(
        ctx,
        tx,
        page.id,
        { groups: groups.map(({ id }) => id).toReversed(), components: components.toReversed() },
        CLI_ACTOR,
      );
      return;
  }
  if (group && what === "edit group") {
    updateGroup(ctx, tx, group.id, { ...one.groupFields, ref: word }, CLI_ACTOR, { position });
  }
  if (group && what === "delete group") deleteGroup(ctx, tx, group.id, CLI_ACTOR);
  if (component && what === "edit component") {
    const fields = { ...one.componentFields, ref: word };
    updateComponent(ctx, tx, component.id, fields, CLI_ACTOR, { position, groupId });
  }
  if (component && what === "delete component") deleteComponent(ctx, tx, component.id, CLI_ACTOR);
  if (component && what === "set component status") {
    const how = { source: "manual" as const, actor: CLI_ACTOR, reason: null };
    setManualStatuses(ctx, tx, new Map([[component.id, "major_outage"]]), how);
  }
}

function performOnMonitor({ ctx }: TestApp, tx: Tx, one: Act): void {
  const { what, which, word } = one;
  const { type, ...fields } = one.monitorFields;
  const components = listAllPages(tx, {}).flatMap(({ id: pageId }) =>
    listComponentsOfPage(tx, { pageId }),
  );
  const scheduled = new Set(one.scheduled.map((index) => pick(components, index)?.id ?? ""));
  const component_ids = [...scheduled].filter((id) => id !== "");
  const parent = one.group % 2 === 0 ? pick(listStoredMonitors(tx), one.position) : undefined;
  const references = { component_ids, depends_on: parent ? [parent.row.id] : [] };
  if (what === "add monitor") {
    createMonitor(ctx, tx, { type, ...fields, ...references }, CLI_ACTOR);
    return;
  }
  const row = pick(listStoredMonitors(tx), which)?.row;
  if (!row) return;
  if (what === "delete monitor") deleteMonitor(ctx, tx, row.id, CLI_ACTOR);
  if (what === "pause monitor") {
    (row.paused ? resumeMonitor : pauseMonitor)(ctx, tx, row.id, CLI_ACTOR);
  }
  if (what === "edit monitor") {
    const { config = {}, paused: _paused, ...settings } = fields;
    const change = { ...settings, ...references, ...(row.type === type && { config }) };
    updateMonitor(ctx, tx, row.id, change, CLI_ACTOR, { ref: word });
  }
}

function pick<T>(items: readonly T[], which: number): T | undefined {
  return items[which % items.length];
}
