import { text } from "drizzle-orm/sqlite-core";
import type { ActorKind } from "../../domain/actor";

/** The three columns that say who did something, with the names that every table gives them. */
export const actorColumns = {
  actorKind: text("actor_kind").$type<ActorKind>().notNull(),
  actorId: text("actor_id"),
  actorLabel: text("actor_label").notNull(),
};
