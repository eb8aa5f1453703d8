import { eq, sql } from "drizzle-orm";
import { mutate, selectOne } from "../../db/statements";
import { settings } from "../../db/tables/settings";

export const findSetting = selectOne((orm, $: { name: string }) =>
  orm.select().from(settings).where(eq(settings.name, $.name)),
);

/** Stores a setting. `value` is any JSON value. */
export const putSetting = mutate((orm, $: { name: string; value: unknown; now: number }) =>
  orm
    .insert(settings)
    .values({ name: $.name, value: $.value, updatedAt: $.now })
    .onConflictDoUpdate({
      target: settings.name,
      set: { value: sql`excluded.value`, updatedAt: sql`excluded.updated_at` },
    }),
);

export const deleteSetting = mutate((orm, $: { name: string }) =>
  orm.delete(settings).where(eq(settings.name, $.name)),
);
