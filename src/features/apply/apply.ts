import { lazy } from "../../base/lazy";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { applyComponents } from "../components/file";
import { applyTemplates } from "../incident-templates/file";
import type { TemplateRow } from "../incident-templates/store";
import { listAllTemplates } from "../incident-templates/templates";
import { applySchedules } from "../maintenance/schedules/file";
import { listSchedules, type ScheduleRow } from "../maintenance/schedules/store";
import { listStoredMonitors } from "../monitors/declared";
import { applyMonitors } from "../monitors/file";
import type { MonitorRow } from "../monitors/store";
import { deletePage, type Exemptions } from "../pages/deletion";
import { applyPage, findDesiredPage, freeMovedDomains } from "../pages/file";
import { listAllPages } from "../pages/store";
import { applyWebhooks, listStoredWebhooks } from "../webhooks/file";
import type { WebhookRow } from "../webhooks/store";
import { monitorsIn, type ReadFile } from "./read";
import { type ApplyOptions, type ApplyOutcome, ApplyRun, type Named, RowsByRef } from "./run";
import type { ApplyFile } from "./schema";

/**
 * Applies a file: creates and changes pages, groups, components, monitors, webhooks, incident templates and
 * maintenance schedules, inside one transaction. Fields that the file leaves out get their defaults. Statuses
 * are never changed, and objects that were not created by `apply` stay if the file lacks them. Applying it again
 * changes nothing.
 *
 * Throws an ApplyFileError with the line of an entry that cannot be applied.
 */
export function applyFile(ctx: Ctx, tx: Tx, file: ReadFile, options: ApplyOptions): ApplyOutcome {
  const run = new ApplyRun(ctx, tx, file.lineOf, options);
  const { content } = file;
  // First, so that entries can take the slugs and refs of deleted pages.
  handleLeftoverPages(run, content);
  freeMovedDomains(run, content.pages);
  const matched = new Set<string>();
  const { pages, monitors = [], webhooks = [], incident_templates = [] } = content;
  const { maintenance_schedules: schedules = [] } = content;
  const monitorLists = pages.flatMap((desired, index) => {
    const path = ["pages", index];
    const page = applyPage(run, desired, matched, path);
    return applyComponents(run, page, desired, path);
  });
  const storedWebhooks = listStoredWebhooks(tx);
  applyMonitors(run, [...monitorLists, { monitors, path: ["monitors"], componentId: null }]);
  applyWebhooks(run, webhooks, storedWebhooks);
  applyTemplates(run, incident_templates);
  applySchedules(run, schedules);
  return run.outcome;
}

function handleLeftoverPages(run: ApplyRun, content: ApplyFile): void {
  const { tx } = run;
  const none = new Set<string>();
  const exemptions = exemptionsOf(run, content);
  const desired = new Set(content.pages.map((page) => findDesiredPage(tx, page, none)?.id));
  for (const { id, slug, managedBy } of listAllPages(tx, {})) {
    if (managedBy !== "apply" || desired.has(id)) continue;
    run.handleLeftover("page", slug, () => deleteLeftoverPage(run, id, exemptions));
  }
}

/** Deletes a page that the file no longer has, and records the objects that end with it. */
function deleteLeftoverPage(run: ApplyRun, id: string, exemptions: Exemptions): void {
  const { ctx, tx, options } = run;
  const effects = deletePage(ctx, tx, id, options.actor, exemptions);
  const { paused, webhooks, templates, schedules } = effects;
  for (const { ref: label } of paused) {
    const fields = [{ field: "paused", from: false, to: true }];
    run.note({ kind: "update", noun: "monitor", label, fields });
  }
  for (const { ref: label } of webhooks) {
    run.note({ kind: "delete", noun: "webhook", label, fields: [] });
  }
  for (const { ref: label } of templates) {
    run.note({ kind: "delete", noun: "incident template", label, fields: [] });
  }
  for (const { ref: label } of schedules) {
    run.note({ kind: "delete", noun: "maintenance schedule", label, fields: [] });
  }
}

/**
 * Matches objects that the file declares or that an earlier apply created, since
 * later steps change or prune them. Rows are read once, before the first deletion.
 */
function exemptionsOf({ tx }: ApplyRun, content: ApplyFile): Exemptions {
  const matcherOf = (items: () => readonly Named[], list: () => readonly { row: Exemptible }[]) => {
    const declared = lazy(() => {
      const rows = new RowsByRef(list().map(({ row }) => row));
      return new Set(items().map((item) => rows.match(item, []).row?.id));
    });
    return ({ managedBy, id }: Exemptible) => managedBy === "apply" || declared().has(id);
  };
  return {
    monitor: matcherOf(
      () => monitorsIn(content).map(({ item }) => item),
      () => listStoredMonitors(tx),
    ),
    webhook: matcherOf(
      () => content.webhooks ?? [],
      () => listStoredWebhooks(tx),
    ),
    template: matcherOf(
      () => content.incident_templates ?? [],
      () => listAllTemplates(tx),
    ),
    schedule: matcherOf(
      () => content.maintenance_schedules ?? [],
      () => listSchedules(tx),
    ),
  };
}

type Exemptible = Pick<
  WebhookRow | MonitorRow | TemplateRow | ScheduleRow,
  "id" | "ref" | "managedBy"
>;
