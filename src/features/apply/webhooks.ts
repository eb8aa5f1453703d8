import { FieldErrors } from "../../base/validation";
import { ANY_MONITOR } from "../../base/webhook";
import type { Tx } from "../../db/statements";
import { type PageRow } from "../pages/store";
import { findQuestion } from "../webhooks/alerts/confirmation";
import { planWebhook, type StoredWebhook } from "../webhooks/declared";
import { findWebhook } from "../webhooks/store";
import { deleteWebhook, readMonitors } from "../webhooks/webhooks";
import { type ApplyRun, type Entry, pageOfEntry, RowsByRef } from "./run";
import type { FileWebhook } from "./schema";

type WebhookWithRef = StoredWebhook & { ref: string };

type WebhookEntry = Entry<FileWebhook, WebhookWithRef>;

/** Applies webhooks, after the pages and monitors. `before` are those before monitors were deleted. */
export function applyWebhooks(
  run: ApplyRun,
  webhooks: readonly FileWebhook[],
  before: readonly StoredWebhook[],
): void {
  const stored = before.map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<WebhookWithRef>(stored);
  const entries = webhooks.map((item, index) => rows.match(item, ["webhooks", index]));
  // First, so that entries can take the refs of deleted ones.
  run.handleLeftovers("webhook", stored, entries, (id) =>
    deleteWebhook(run.ctx, run.tx, id, run.options.actor),
  );
  const known = new Set(entries.map(({ row }) => row?.row.id));
  for (const { row, ref } of stored) {
    if (known.has(row.id) || !findWebhook(run.tx, row)) continue;
    run.noteLostMonitors("webhook", ref, "monitors", row.monitors);
  }
  for (const entry of entries) applyWebhook(run, entry);
}

function applyWebhook(run: ApplyRun, { item, ref, path, row: stored }: WebhookEntry): void {
  const { ctx, tx, options } = run;
  const plan = run.locatingErrors(path, () => {
    const page = pageOf(tx, item, stored);
    const errors = new FieldErrors();
    const monitorIds = readMonitors(tx, errors, item.monitors ?? [ANY_MONITOR]);
    errors.throwIfAny();
    const refsOf = (ids: readonly string[]) => run.refsOfMonitors(ids);
    return planWebhook(item, { ref, page, monitorIds, refsOf }, stored);
  });
  const row = run.apply({
    noun: "webhook",
    label: stored?.ref ?? ref,
    address: ref,
    path,
    row: stored?.row,
    current: () => plan.current,
    desired: plan.desired,
    create: () => plan.create(ctx, tx, options.actor),
    update: () => plan.update(ctx, tx, options.actor),
  });
  const question = row.enabled ? findQuestion(tx, row) : undefined;
  if (question) run.outcome.unconfirmed.push({ webhook: row.ref, question });
}

/** Returns the page of a webhook, also by an earlier slug; null for all pages. */
function pageOf(tx: Tx, { page: slug }: FileWebhook, stored?: WebhookWithRef): PageRow | null {
  if (slug === undefined || slug === null) return null;
  if (stored?.page?.slug === slug) return stored.page;
  return pageOfEntry(tx, slug);
}
