import { and, eq, lt, lte, sql } from "drizzle-orm";
import { insertInto, mutate, selectOne } from "../../db/statements";
import { mailWarnings } from "../../db/tables/mail";

export const insertCertificateWarning = insertInto(mailWarnings);

/** Finds a warning about a certificate for a recipient, at a step or a nearer one. */
export const findCertificateWarning = selectOne(
  (orm, $: { subject: string; step: number; recipient: string }) =>
    orm
      .select({ step: mailWarnings.step })
      .from(mailWarnings)
      .where(
        and(
          eq(mailWarnings.subject, $.subject),
          eq(mailWarnings.recipient, $.recipient),
          lte(mailWarnings.step, $.step),
        ),
      )
      .limit(1),
);

/** Deletes the warnings about certificates from before a time (unix ms). */
export const deleteCertificateWarnings = mutate((orm, $: { before: number }) =>
  orm
    .delete(mailWarnings)
    .where(
      and(
        sql`${mailWarnings.subject} BETWEEN 'certificate ' AND 'certificate~'`,
        lt(mailWarnings.at, $.before),
      ),
    ),
);
