import { optionNames } from "../config";
import { describeCarried } from "../db/carry-over";
import { lockOrExplain, openDataDirectory } from "../db/data-directory";
import { shellWord } from "../db/file-access";
import type { CredentialKind } from "../db/live-credentials";
import { restoreDatabase, type RestoreReport } from "../db/restore";
import { PROGRAM } from "../version";
import type { Command, Output } from "./command";

/** Heading of each list of credentials, and how one of them is ended. */
const KINDS: Record<CredentialKind, { heading: string; remedy: (dataDir: string) => string }> = {
  key: {
    heading: "API keys",
    remedy: (dataDir) => `${PROGRAM} key revoke ID ${dataDir}`,
  },
  user: {
    heading: "Users, with the passwords from then",
    remedy: (dataDir) =>
      `${PROGRAM} user disable EMAIL ${dataDir}, or user reset-password instead of user disable`,
  },
  webhook: {
    heading: "Webhooks, with the signing secrets from then",
    remedy: () => "POST /api/v1/webhooks/ID/rotate-secret, or delete the webhook in the dashboard",
  },
  monitor: {
    heading: "Push monitors, with the heartbeat tokens from then",
    remedy: () => "POST /api/v1/monitors/ID/rotate-token, or delete the monitor in the dashboard",
  },
};

export const restoreCommand: Command = {
  name: "restore",
  summary:
    "Put a backup in the place of the database, whose file is kept. Not while a server runs.",
  positionals: ["FILE"],
  options: optionNames("restore"),
  async run({ config, positionals, output }) {
    const [file = ""] = positionals;
    const directory = openDataDirectory(config.dataDir);
    const lock = lockOrExplain(directory, "restore");
    let report: RestoreReport;
    try {
      report = restoreDatabase(directory, file);
    } finally {
      lock.release();
    }
    output.err(`Restored ${file}. Everybody signs in again, and links that were open are void.`);
    if (report.kept) output.err(`The database from before is kept in ${report.kept}.`);
    describeCredentials(output, report, directory.path);
    return 0;
  },
};

/** Says which credentials stay ended, and which of them work again. */
function describeCredentials(output: Output, report: RestoreReport, dataDir: string): void {
  const { kept, carried, couldReadReplaced, revived, lacksOwner } = report;
  const dataDirFlag = `--data-dir ${shellWord(dataDir)}`;
  if (carried.length > 0) output.err(`Carried over from it: ${describeCarried(carried)}.`);
  if (kept === undefined) {
    output.err("There was no database before, so what has been ended since the backup is unknown.");
  } else if (!couldReadReplaced) {
    output.err(
      "Not all credentials in it can be read, so what has been ended since the backup is unknown.",
    );
  }
  if (revived.length > 0) {
    output.err("These work again as they did when the backup was made. End those that should not.");
  }
  for (const [kind, rows] of Map.groupBy(revived, (credential) => credential.kind)) {
    const { heading, remedy } = KINDS[kind];
    output.err(`${heading} (to end one: ${remedy(dataDirFlag)}):`);
    for (const { id, label } of rows) output.err(`  ${id}  ${label}`);
  }
  if (!lacksOwner) return;
  output.err(
    `No owner can sign in. Create one:  ${PROGRAM} user create --email EMAIL --role owner ${dataDirFlag}`,
  );
}
