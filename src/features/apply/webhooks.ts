import type { Tx } from "../../db";
import { invalidFields, pointer } from "../../errors";
import { findPageBySlug, type PageRow } from "../pages";
import { deleteWebhook, listStoredWebhooks, type StoredWebhook, planWebhook } from "../webhooks";
import { type Entry, RowsByRef } from "./entries";
import type { FileWebhook } from "./model";
import type { ApplyRun } from "./run";

type KnownWebhook = StoredWebhook & { ref: string };
type WebhookEntry = Entry<FileWebhook, KnownWebhook>;

/** Applies webhooks, after the pages. */
export function applyWebhooks(run: ApplyRun, webhooks: readonly FileWebhook[]): void {
  const known = listStoredWebhooks(run.tx).map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<KnownWebhook>(known);
  const entries = webhooks.map((item, index) => rows.match(item, ["webhooks", index]));
  // First, so that the refs of deleted ones are free.
  run.leaveRest("webhook", known, entries, (id) =>
    deleteWebhook(run.ctx, run.tx, id, run.options.actor),
  );
  for (const entry of entries) applyWebhook(run, entry);
}

function applyWebhook(run: ApplyRun, { item, ref, path, row: known }: WebhookEntry): void {
  const { ctx, tx, options } = run;
  const plan = run.at(path, () => {
    const page = pageOf(tx, item, known);
    return planWebhook(item, { ref, page }, known);
  });
  run.apply({
    noun: "webhook",
    label: known?.ref ?? ref,
    address: ref,
    path,
    row: known?.row,
    present: () => plan.present,
    desired: plan.desired,
    create: () => plan.create(ctx, tx, options.actor),
    update: () => plan.update(ctx, tx, options.actor),
  });
}

/** Returns the page of a webhook, also by an earlier slug; null for all pages. */
function pageOf(tx: Tx, { page: slug }: FileWebhook, known?: KnownWebhook): PageRow | null {
  if (slug === undefined || slug === null) return null;
  if (known?.page?.slug === slug) return known.page;
  const page = findPageBySlug(tx, { slug });
  if (page) return page;
  throw invalidFields([{ pointer: pointer("page"), detail: `is not the slug of a page: ${slug}` }]);
}
