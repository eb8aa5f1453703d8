import { eq, sql } from "drizzle-orm";
import { mutate, selectOne } from "../../db/statements";
import { suppressionUndos } from "../../db/tables/mail";

/** Finds the time at which an admin last ended the suppression of an address to which mails had failed. */
export const findUndo = selectOne((orm, $: { addressHmac: string }) =>
  orm
    .select({ at: suppressionUndos.at })
    .from(suppressionUndos)
    .where(eq(suppressionUndos.addressHmac, $.addressHmac)),
);

/** Notes that an admin ended the suppression of an address to which mails had failed. */
export const putUndo = mutate((orm, $: { addressHmac: string; at: number }) =>
  orm
    .insert(suppressionUndos)
    .values({ addressHmac: $.addressHmac, at: $.at })
    .onConflictDoUpdate({ target: suppressionUndos.addressHmac, set: { at: sql`excluded.at` } }),
);

/** Deletes at most `limit` notes from before `before` (unix ms). */
export const deleteUndosBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm
    .delete(suppressionUndos)
    .where(
      sql`${suppressionUndos.addressHmac} IN (SELECT address_hmac FROM suppression_undos WHERE at < ${$.before} LIMIT ${$.limit})`,
    ),
);
