import type { AppContext } from "../context";
import type { Tx } from "../db";
import { type MadeOnce, makeOnce } from "../features/submissions";
import { type RequestContext, type Form, sessionOf } from "../http";

/**
 * Changes something for the user whose request this is. Between the front door and the transaction
 * others may have ended the session, disabled the user or taken the role away; so it is judged once
 * more, inside. Rejects with that refusal, nothing written.
 */
export type WriteAs = <T>(requestContext: RequestContext, change: (tx: Tx) => T) => Promise<T>;

/**
 * The same for what can be done only once, such as creating, telling or deleting something: where the
 * same session sent the same form before, nothing is done again and `made` is null. `subjectId` is the
 * id that `make` gave the first time.
 */
export type WriteOnceAs = <Made>(
  requestContext: RequestContext,
  form: Form,
  make: (tx: Tx) => { made: Made; subjectId: string },
) => Promise<MadeOnce<Made>>;

export function createWriteAs({ db }: Pick<AppContext, "db">): WriteAs {
  return (requestContext, change) =>
    db.write((tx) => {
      // It reads through the same connection, and so what this batch has changed before.
      requestContext.confirm();
      return change(tx);
    });
}

export function createWriteOnceAs(ctx: Pick<AppContext, "clock">, writeAs: WriteAs): WriteOnceAs {
  return (requestContext, { digest }, make) =>
    writeAs(requestContext, (tx) =>
      makeOnce(ctx, tx, { sessionId: sessionOf(requestContext).id, digest }, () => make(tx)),
    );
}
