import type { Tx } from "../db";
import { getPage } from "../features/pages";
import { buildSnapshot, type Snapshot } from "../features/status";
import { sendHtml } from "../http";
import { asPreview } from "../public/preview-strip";
import { type PageExtras, readPageExtras, renderStatusPage } from "../public/status-page";
import type { HtmlDocument } from "../ui";
import type { AdminDependencies } from "./dependencies";
import type { ScreenRequest } from "./render";

/** What a change that is previewed says of what is to be shown. */
export interface Previewed {
  pageId: string;
  /**
   * Renders another page than the status page itself, such as the incident's own. It runs once the
   * change is taken back, so it reads nothing: what it shows is in the snapshot, or was read before.
   */
  render?: (snapshot: Snapshot) => HtmlDocument;
}

/**
 * Answers with the page that the public would see after a change. The change is the real one, made by
 * the real verbs in a transaction of its own and then taken back: no row, event, audit row or signal
 * stays of it. Rejects with whatever the change throws, such as `validation_failed`.
 */
export type Preview = (at: ScreenRequest, change: (tx: Tx) => Previewed) => Promise<Response>;

/** Undoes the transaction whose outcome was all that was wanted. */
class PreviewRollback extends Error {
  readonly snapshot: Snapshot;
  readonly extras: PageExtras;
  readonly previewed: Previewed;

  constructor(snapshot: Snapshot, extras: PageExtras, previewed: Previewed) {
    super("a preview is rolled back");
    this.snapshot = snapshot;
    this.extras = extras;
    this.previewed = previewed;
  }
}

export function createPreview({
  ctx,
  writeAs,
}: Pick<AdminDependencies, "ctx" | "writeAs">): Preview {
  return async ({ request, requestContext }, change) => {
    try {
      return await writeAs(requestContext, (tx): never => {
        const previewed = change(tx);
        const page = getPage(tx, previewed.pageId);
        const now = ctx.clock.now();
        const snapshot = buildSnapshot(tx, page, ctx.baseUrl, now);
        throw new PreviewRollback(snapshot, readPageExtras(tx, snapshot, now), previewed);
      });
    } catch (error) {
      if (!(error instanceof PreviewRollback)) throw error;
      const { snapshot, extras, previewed } = error;
      const page =
        previewed.render?.(snapshot) ?? renderStatusPage(snapshot, extras, ctx.clock.now());
      return sendHtml(request, asPreview(page));
    }
  };
}
