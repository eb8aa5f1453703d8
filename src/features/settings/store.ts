import { sql } from "drizzle-orm";
import { deleteBy, findBy } from "../../db/rows";
import { mutate } from "../../db/statements";
import { settings } from "../../db/tables/settings";

export const findSetting = findBy(settings, ["name"]);

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

export const deleteSetting = deleteBy(settings, ["name"]);
