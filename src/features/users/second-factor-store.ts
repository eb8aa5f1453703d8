import { sql } from "drizzle-orm";
import { deleteBy, findBy, setBy } from "../../db/rows";
import { insertAllInto, insertInto, selectMany, selectOne } from "../../db/statements";
import { recoveryCodes, secondFactors } from "../../db/tables/second-factors";

export const findSecondFactor = findBy(secondFactors, ["userId"]);

export type SecondFactorRow = NonNullable<ReturnType<typeof findSecondFactor>>;

export const insertSecondFactor = insertInto(secondFactors);

/** Deletes a second factor with its recovery codes. */
export const deleteSecondFactor = deleteBy(secondFactors, ["userId"]);

/** Lists the ids of all users with a second factor. */
export const listSecondFactorUsers = selectMany((orm, _$: Record<string, never>) =>
  orm.select({ userId: secondFactors.userId }).from(secondFactors),
);

/** Uses up the codes until a step. */
export const setLastPeriod = setBy(secondFactors, ["userId"], ["lastPeriod"]);

export const setWrongCodes = setBy(
  secondFactors,
  ["userId"],
  ["wrongCodes", "pauses", "pausedUntil"],
);

export const insertRecoveryCodes = insertAllInto(recoveryCodes);

export const deleteRecoveryCode = deleteBy(recoveryCodes, ["userId", "hash"]);

export const deleteRecoveryCodes = deleteBy(recoveryCodes, ["userId"]);

export const countRecoveryCodes = selectOne((orm, $: { userId: string }) =>
  orm
    .select({ count: sql<number>`count(*)` })
    .from(recoveryCodes)
    .where(sql`${recoveryCodes.userId} = ${$.userId}`),
);
