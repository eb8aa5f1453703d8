import type { Tx } from "../../db/statements";
import { getPage } from "../../features/pages/pages";
import { buildSnapshot, type Snapshot } from "../../features/status/snapshots";
import { sendHtml } from "../../http/answers";
import { asPreview } from "../../public/page-document";
import { type PageExtras, readPageExtras, renderStatusPage } from "../../public/status-page";
import type { HtmlDocument } from "../documents";
import type { AdminDependencies } from "./dependencies";
import type { ScreenRequest } from "./render";

/** Result of a previewed change: the page to show. */
export interface Previewed {
  pageId: string;
  /**
   * Renders another page than the status page, such as the incident's page. Runs after the
   * rollback, so it must use the snapshot or data read before.
   */
  render?: (snapshot: Snapshot) => HtmlDocument;
}

/**
 * Responds with the public page as it would be after a change. The change runs in a transaction
 * that is rolled back, so no row, event, audit entry or signal remains. Rejects with the errors of
 * the change, such as `validation_failed`.
 */
type Preview = (at: ScreenRequest, change: (tx: Tx) => Previewed) => Promise<Response>;

/** Thrown to roll back the transaction; carries its result. */
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
