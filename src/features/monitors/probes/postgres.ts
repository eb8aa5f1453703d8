import type { Probe } from "../monitoring";
import { type DatabaseConfig, databaseParts } from "./databases";

const { completed, parts } = databaseParts(5432);

/** Checks that a PostgreSQL database answers a query. */
export const postgresProbe = {
  type: "postgres",
  label: "PostgreSQL database",
  ...parts,
  run: async (config, context) =>
    (await import("./checks/postgres")).checkPostgres(completed(config), context),
} satisfies Probe<"postgres", DatabaseConfig>;
