import type { AppContext } from "../context";
import type { Tx } from "../db";
import { type MadeOnce, makeOnce } from "../features/submissions";
import { type Admission, type Form, sessionOf } from "../http";

/**
 * Changes something for the user whose request this is. Between the front door and the transaction
 * others may have ended the session, disabled the user or taken the role away; so it is judged once
 * more, inside. Rejects with that refusal, nothing written.
 */
export type WriteAs = <T>(admission: Admission, change: (tx: Tx) => T) => Promise<T>;

/**
 * The same for what can be done only once, such as creating, telling or deleting something: where the
 * same session sent the same form before, nothing is done again and `made` is null. `subjectId` is the
 * id that `make` gave the first time.
 */
export type WriteOnceAs = <Made>(
  admission: Admission,
  form: Form,
  make: (tx: Tx) => { made: Made; subjectId: string },
) => Promise<MadeOnce<Made>>;

export function createWriteAs({ db }: Pick<AppContext, "db">): WriteAs {
  return (admission, change) =>
    db.write((tx) => {
      // It reads through the same connection, and so what this batch has changed before.
      admission.confirm();
      return change(tx);
    });
}

export function createWriteOnceAs(ctx: Pick<AppContext, "clock">, writeAs: WriteAs): WriteOnceAs {
  return (admission, { digest }, make) =>
    writeAs(admission, (tx) =>
      makeOnce(ctx, tx, { sessionId: sessionOf(admission).id, digest }, () => make(tx)),
    );
}
