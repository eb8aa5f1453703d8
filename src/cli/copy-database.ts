import { copyDatabase } from "../db/backup";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, openSqlite } from "../db/open";
import { COPY_COMMAND } from "../features/backups/copy-process";
import type { Command } from "./command";

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
