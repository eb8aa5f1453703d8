import { encodeBase62 } from "../../base/hash";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { type MadeOnce, makeOnce } from "../../features/submissions/store";
import type { Form } from "../../http/form-body";
import { type RequestContext, sessionOf } from "../../http/request-context";

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
