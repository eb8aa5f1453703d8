import { and, asc, desc, eq, gt, isNull, ne, or } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne, updateById } from "../../db/statements";
import { apiKeys } from "../../db/tables/keys";
import { users } from "../../db/tables/users";

export type UserRow = typeof users.$inferSelect;

export const insertUser = insertInto(users);
export const updateUserRow = updateById(users);

const isPresent = isNull(users.deletedAt);

export const findUser = selectOne((orm, $: { id: string }) =>
  orm
    .select()
    .from(users)
    .where(and(eq(users.id, $.id), isPresent)),
);

/** Finds a user by canonical email. */
export const findUserRowByEmail = selectOne((orm, $: { email: string }) =>
  orm
    .select()
    .from(users)
    .where(and(eq(users.email, $.email), isPresent)),
);

export const findAnyUser = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ id: users.id }).from(users).where(isPresent).limit(1),
);

/** Lists all users, newest first, including disabled ones. */
export const listUserRows = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(users).where(isPresent).orderBy(desc(users.id)),
);

/** Lists the enabled owners except one user. */
export const listOtherLiveOwners = selectMany((orm, $: { exceptId: string }) =>
  orm
    .select({ passwordHash: users.passwordHash })
    .from(users)
    .where(
      and(eq(users.role, "owner"), isNull(users.disabledAt), isPresent, ne(users.id, $.exceptId)),
    ),
);

export const setLastLogin = mutate((orm, $: { id: string; at: number }) =>
  orm.update(users).set({ lastLoginAt: $.at }).where(eq(users.id, $.id)),
);

/** Keys that a user created and that still work at `now`, oldest first. */
export const listLiveKeyRows = selectMany((orm, $: { userId: string; now: number }) =>
  orm
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.createdByKind, "user"),
        eq(apiKeys.createdById, $.userId),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, $.now)),
      ),
    )
    .orderBy(asc(apiKeys.id)),
);
