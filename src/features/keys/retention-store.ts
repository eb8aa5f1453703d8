/* Old counts of key usage. None is hot; each takes a range of one key's rows by its index. */
import { and, asc, eq, gt, isNotNull, lt, sql } from "drizzle-orm";
import { mutate, selectMany, selectOne } from "../../db/statements";
import { apiKeyHours, apiKeys, apiKeyValues } from "../../db/tables/keys";
import { DAY_MS } from "../../base/time";

const day = sql.raw(String(DAY_MS));

export const listKeyIdsAfter = selectMany((orm, $: { after: string; limit: number }) =>
  orm
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(gt(apiKeys.id, $.after))
    .orderBy(asc(apiKeys.id))
    .limit($.limit),
);

/** Finds the first of a key's hours that is not the first hour of its day. */
export const findFirstUnmerged = selectOne((orm, $: { keyId: string }) =>
  orm
    .select({ hour: apiKeyHours.hour })
    .from(apiKeyHours)
    .where(and(eq(apiKeyHours.keyId, $.keyId), sql`${apiKeyHours.hour} % ${day} <> 0`))
    .orderBy(asc(apiKeyHours.hour))
    .limit(1),
);

/** Adds a key's hours older than `before` (start of a day) to the first hour of their day. */
export const addHoursToDays = mutate((orm, $: { keyId: string; before: number }) =>
  orm
    .insert(apiKeyHours)
    .select(
      sql`SELECT key_id, hour - hour % ${day}, sum(ok), sum(client_error), sum(limited)
        FROM api_key_hours
        WHERE key_id = ${$.keyId} AND hour < ${$.before} AND hour % ${day} <> 0
        GROUP BY key_id, hour - hour % ${day}`,
    )
    .onConflictDoUpdate({
      target: [apiKeyHours.keyId, apiKeyHours.hour],
      set: {
        ok: sql`${apiKeyHours.ok} + excluded.ok`,
        clientError: sql`${apiKeyHours.clientError} + excluded.client_error`,
        limited: sql`${apiKeyHours.limited} + excluded.limited`,
      },
    }),
);

/** Deletes a key's hours older than `before`, except first hours of a day. */
export const deleteHoursOfDays = mutate((orm, $: { keyId: string; before: number }) =>
  orm
    .delete(apiKeyHours)
    .where(
      and(
        eq(apiKeyHours.keyId, $.keyId),
        lt(apiKeyHours.hour, $.before),
        sql`${apiKeyHours.hour} % ${day} <> 0`,
      ),
    ),
);

export const deleteHoursBefore = mutate((orm, $: { keyId: string; before: number }) =>
  orm
    .delete(apiKeyHours)
    .where(and(eq(apiKeyHours.keyId, $.keyId), lt(apiKeyHours.hour, $.before))),
);

/** Removes the addresses of a key's values that were last used before `before`. */
export const blankAddressesOfKey = mutate((orm, $: { keyId: string; before: number }) =>
  orm
    .update(apiKeyValues)
    .set({ lastUsedIp: null })
    .where(
      and(
        eq(apiKeyValues.keyId, $.keyId),
        lt(apiKeyValues.lastUsedAt, $.before),
        isNotNull(apiKeyValues.lastUsedIp),
      ),
    ),
);
