import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const formSubmissions = sqliteTable("form_submissions", {
  hash: blob({ mode: "buffer" }).primaryKey(),
  subjectId: text("subject_id").notNull(),
  at: integer().notNull(),
});

export const idempotentAnswers = sqliteTable(
  "idempotent_answers",
  {
    keyId: text("key_id").notNull(),
    path: text().notNull(),
    idempotencyHash: blob("idempotency_hash", { mode: "buffer" }).notNull(),
    bodyHash: blob("body_hash", { mode: "buffer" }).notNull(),
    status: integer().notNull(),
    location: text(),
    body: text().notNull(),
    at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.path, table.idempotencyHash] })],
);
