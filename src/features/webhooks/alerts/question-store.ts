import { and, desc, eq, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../../db/statements";
import { mails } from "../../../db/tables/mail";

/** Columns of a mail that asks an address to confirm alerts. `dueAt` is when it could be sent first (unix ms). */
const QUESTION = {
  recipient: mails.recipient,
  status: mails.status,
  reply: mails.reply,
  dueAt: sql<number>`coalesce(json_extract(${mails.params}, '$.due_at'), ${mails.createdAt})`,
  finishedAt: mails.finishedAt,
};

/** Lists the newest mails that ask addresses to confirm alerts, newest first. `subjectId` is the one of all. */
export const listQuestions = selectMany((orm, $: { subjectId: string; limit: number }) =>
  orm
    .select(QUESTION)
    .from(mails)
    .where(and(eq(mails.subjectId, $.subjectId), sql`${mails.mailingId} IS NULL`))
    .orderBy(desc(mails.id))
    .limit($.limit),
);

/** Finds the newest mail that asks an address, in lower case, to confirm alerts. */
export const findNewestQuestion = selectOne((orm, $: { subjectId: string; recipient: string }) =>
  orm
    .select(QUESTION)
    .from(mails)
    .where(
      and(
        eq(mails.subjectId, $.subjectId),
        sql`${mails.mailingId} IS NULL`,
        sql`lower(${mails.recipient}) = ${$.recipient}`,
      ),
    )
    .orderBy(desc(mails.id))
    .limit(1),
);
