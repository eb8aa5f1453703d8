import foundation from "../../migrations/0001_foundation.sql" with { type: "text" };

export interface Migration {
  /** 1, 2, 3 …: the schema's version after it. */
  number: number;
  name: string;
  sql: string;
}

/** Every migration, oldest first. One that has landed in a release is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "foundation", sql: foundation },
];

/** The schema's version that this build reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;
