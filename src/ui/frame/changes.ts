/*
 * Changes that a form makes: in a transaction as its user (`writeAs`), once however often it is sent (`writeOnceAs`), with a
 * secret that is shown once (`reveal`), or rolled back for a preview.
 */
import { encodeBase62 } from "../../base/hash";
import { MINUTE_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { getPage } from "../../features/pages/pages";
import { buildSnapshot, type Snapshot } from "../../features/status/snapshots";
import { type MadeOnce, makeOnce } from "../../features/repeats/store";
import { sendHtml } from "../../http/answers";
import type { Form } from "../../http/form-body";
import { type RequestContext, sessionOf } from "../../http/request-context";
import { asPreview } from "../../public/page-document";
import { type PageExtras, readPageExtras, renderStatusPage } from "../../public/status-page";
import type { HtmlDocument } from "../documents";

/**
 * Runs a change for the user of a request in a transaction. Checks session, user and role again
 * inside, since they may have changed after the gateway's check. Rejects without writing if access
 * was lost.
 */
export type WriteAs = <T>(requestContext: RequestContext, change: (tx: Tx) => T) => Promise<T>;

/**
 * Runs a change once per submitted form, such as creating or deleting an object. If the same
 * session repeats the form, `made` is null and `subjectId` is the id returned the first time.
 */
export type WriteOnceAs = <Made>(
  requestContext: RequestContext,
  form: Form,
  make: (tx: Tx) => { made: Made; subjectId: string },
) => Promise<MadeOnce<Made>>;

export function createWriteAs({ db }: Ctx): WriteAs {
  return (requestContext, change) =>
    db.write((tx) => {
      // The check uses the same connection, so it also sees earlier changes of this batch.
      requestContext.confirm();
      return change(tx);
    });
}

export function createWriteOnceAs(ctx: Ctx, writeAs: WriteAs): WriteOnceAs {
  return (requestContext, { digest }, make) =>
    writeAs(requestContext, (tx) =>
      makeOnce(ctx, tx, { sessionId: sessionOf(requestContext).id, digest }, () => make(tx)),
    );
}

const FORM_TOKEN_BYTES = 16;
const FORM_TOKEN_LENGTH = 22;

/**
 * Returns a random value that identifies one rendering of a form, so that a repeated submission is
 * recognised.
 */
export function newFormToken({ random }: Ctx): string {
  return encodeBase62(random(FORM_TOKEN_BYTES), FORM_TOKEN_LENGTH);
}

/** New secret to show, or the id of its object if the secret was already shown. */
export type Reveal<Made> = { revealed: Made } | { shownBefore: string };

/**
 * Shows secrets once, such as a key's value or a one-time link. The same form submitted again
 * within a minute gets the same secret from memory, in case the first response was lost.
 */
export interface Reveals {
  /**
   * Runs `make`, which creates the secret in the given transaction and returns it with the id of
   * its object.
   */
  reveal<Made>(
    requestContext: RequestContext,
    form: Form,
    make: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>>;
}

export function createReveals(ctx: Ctx, writeOnceAs: WriteOnceAs): Reveals {
  const held = new Map<string, Promise<Reveal<unknown>>>();

  async function revealOnce<Made>(
    requestContext: RequestContext,
    form: Form,
    make: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>> {
    const { made, subjectId } = await writeOnceAs(requestContext, form, make);
    return made === null ? { shownBefore: subjectId } : { revealed: made };
  }

  return {
    reveal<Made>(
      requestContext: RequestContext,
      form: Form,
      make: (tx: Tx) => { made: Made; subjectId: string },
    ) {
      const id = `${sessionOf(requestContext).id} ${form.digest}`;
      const before = held.get(id) as Promise<Reveal<Made>> | undefined;
      if (before) return before;
      const reveal = revealOnce(requestContext, form, make);
      held.set(id, reveal);
      const drop = () => held.delete(id);
      // A failed form can be submitted again at once.
      void reveal.then(() => ctx.clock.after(MINUTE_MS, drop), drop);
      return reveal;
    },
  };
}

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
type Preview = (
  at: { request: Request; requestContext: RequestContext },
  change: (tx: Tx) => Previewed,
) => Promise<Response>;

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

export function createPreview(ctx: Ctx, writeAs: WriteAs): Preview {
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
