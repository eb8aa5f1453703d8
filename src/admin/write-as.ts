import type { AppContext } from "../context";
import type { Tx } from "../db";
import type { Admission } from "../http";

/**
 * Changes something for the user whose request this is. Between the front door and the transaction
 * others may have ended the session, disabled the user or taken the role away; so it is judged once
 * more, inside. Rejects with that refusal, nothing written.
 */
export type WriteAs = <T>(admission: Admission, change: (tx: Tx) => T) => Promise<T>;

export function createWriteAs({ db }: Pick<AppContext, "db">): WriteAs {
  return (admission, change) =>
    db.write((tx) => {
      // It reads through the same connection, and so what this batch has changed before.
      admission.confirm();
      return change(tx);
    });
}
