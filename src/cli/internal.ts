import { COPY_COMMAND, EXAMINE_COMMAND } from "../base/own-program";
import { copyDatabase } from "../db/database-files";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, openSqlite } from "../db/open";
import { examineDatabase } from "../db/orphans";
import type { Command } from "./command";
import { printJson } from "./print";

/** Mode of a file that is sent and then removed: only its owner can open it. */
const PRIVATE_MODE = 0o600;

/** Copies a database for its server, which runs this command for a backup in the dashboard. */
export const copyDatabaseCommand: Command = {
  name: COPY_COMMAND,
  summary: "Copy the file DATABASE, which a server uses, to FILE.",
  isInternal: true,
  positionals: ["DATABASE", "FILE"],
  options: [],
  async run({ positionals }) {
    const [database = "", file = ""] = positionals;
    const sqlite = openSqlite(database, COMMAND_BUSY_TIMEOUT_MS, { canCreate: false });
    try {
      copyDatabase(sqlite, file, PRIVATE_MODE);
    } finally {
      closeSqlite(sqlite);
    }
    return 0;
  },
};

/** Examines a restored database for its server, which would stand still meanwhile. */
export const examineDatabaseCommand: Command = {
  name: EXAMINE_COMMAND,
  summary: "Print the damage of the database FILE and the rows of its tables.",
  isInternal: true,
  positionals: ["FILE"],
  options: [],
  async run({ positionals, output }) {
    printJson(output, examineDatabase(positionals[0] ?? ""));
    return 0;
  },
};
