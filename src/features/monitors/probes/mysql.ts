import type { Probe } from "../monitoring";
import { type DatabaseConfig, databaseParts } from "./databases";

const { completed, parts } = databaseParts(3306);

/** Checks that a MySQL or MariaDB database answers a query. */
export const mysqlProbe = {
  type: "mysql",
  label: "MySQL or MariaDB",
  ...parts,
  run: async (config, context) =>
    (await import("./checks/mysql")).checkMysql(completed(config), context),
} satisfies Probe<"mysql", DatabaseConfig>;
