import { eq, lt } from "drizzle-orm";
import { insertInto, mutate, selectOne } from "../../db";
import { formSubmissions } from "../../db/tables/settings";

export const insertSubmission = insertInto(formSubmissions);

export const findSubmission = selectOne((orm, $: { hash: Buffer }) =>
  orm.select().from(formSubmissions).where(eq(formSubmissions.hash, $.hash)),
);

export const deleteSubmissionsBefore = mutate((orm, $: { at: number }) =>
  orm.delete(formSubmissions).where(lt(formSubmissions.at, $.at)),
);
