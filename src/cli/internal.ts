import { rmSync } from "node:fs";
import { COPY_COMMAND, ENCRYPTED, EXAMINE_COMMAND } from "../base/own-program";
import { copyDatabase } from "../db/copies";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, openSqlite } from "../db/open";
import { examineDatabase } from "../db/orphans";
import type { Command } from "./command";
import { printJson } from "./print";

/** Mode of a file that is sent and then removed: only its owner can open it. */
const PRIVATE_MODE = 0o600;

/**
 * Copies a database for its server, which runs this command for a backup in the dashboard and for scheduled ones. With
 * recipients, separated by commas, FILE is replaced by the encrypted FILE.age.
 */
export const copyDatabaseCommand: Command = {
  name: COPY_COMMAND,
  summary: "Copy the file DATABASE, which a server uses, to FILE.",
  isInternal: true,
  positionals: ["DATABASE", "FILE"],
  optionalPositionals: ["RECIPIENTS"],
  options: [],
  async run({ positionals }) {
    const [database = "", file = "", recipients] = positionals;
    const sqlite = openSqlite(database, COMMAND_BUSY_TIMEOUT_MS, { canCreate: false });
    try {
      copyDatabase(sqlite, file, PRIVATE_MODE);
    } finally {
      closeSqlite(sqlite);
    }
    if (recipients !== undefined) {
      const { encryptFile } = await import("../features/backups/age");
      await encryptFile(file, file + ENCRYPTED, recipients.split(","));
      rmSync(file);
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
