import { BACKUP_STORE_OPTION_NAMES } from "../base/config/backups";
import { FLEET_STORE_OPTION_NAMES } from "../base/config/fleet";
import { optionNames } from "../base/config/options";
import { parseInstant } from "../base/time";

import { lockOrExplain, openDataDirectory, shellWord } from "../db/data-directory";
import { describeCarried, restoreDatabase, type RestoreReport } from "../db/restore";
import type { CredentialKind } from "../db/restore-rules";
import { PROGRAM } from "../version";
import { type Command, type ExitCode, type Invocation, type Output, UsageError } from "./command";

export const restoreCommand: Command = {
  name: "restore",
  summary:
    "Replace the database with a backup and keep the replaced file. The server must be stopped.",
  positionals: ["FILE"],
  insteadOfPositionals: ["from", "from-store"],
  flags: [
    {
      name: "from",
      placeholder: "ADDRESS",
      help: "Restore from a folder, s3://bucket/path?endpoint=…&region=… or an object there, without FILE; of several backups, the newest.",
    },
    {
      name: "identity",
      placeholder: "FILE",
      help: "File with the identity of age that decrypts the backup.",
    },
    { name: "from-store", help: "Restore from --fleet-store, without FILE." },
    {
      name: "at",
      placeholder: "TIME",
      help: "With --from-store: restore the state of a moment, such as 2026-03-10T12:00:00Z.",
    },
  ],
  options: [...optionNames("restore"), ...BACKUP_STORE_OPTION_NAMES, ...FLEET_STORE_OPTION_NAMES],
  run: runRestore,
};

async function runRestore(invocation: Invocation): Promise<ExitCode> {
  const { config, positionals, isSet, value, output } = invocation;
  const isFromStore = isSet("from-store");
  const at = momentOf(value("at"), isFromStore);
  if (isFromStore && !config.fleetStore) throw new UsageError(["--fleet-store is missing."]);
  const [from, identityFile] = [value("from"), value("identity")];
  for (const name of ["from", "identity"]) {
    if (isFromStore && isSet(name)) {
      throw new UsageError([`--${name} cannot be used with --from-store.`]);
    }
  }
  let restored = "";
  const directory = openDataDirectory(config.dataDir);
  const lock = lockOrExplain(directory, "restore");
  let report: RestoreReport;
  try {
    if (isFromStore) {
      const { withDownloadedDatabase } = await import("../fleet/commands");
      const { noteRestored } = await import("../fleet/log/restore");
      report = await withDownloadedDatabase(
        config,
        directory,
        at,
        (file, { prefix, txid, end }) => {
          restored = `transaction ${txid} of ${prefix} from the fleet store`;
          const done = restoreDatabase(directory, file);
          noteRestored(directory, end);
          return done;
        },
      );
    } else {
      const { withBackup, withPlainFile } = await import("../features/backups/find");
      const deps = { config, database: directory.database, identityFile };
      const restore = (file: string, name: string) => {
        restored = name;
        return restoreDatabase(directory, file);
      };
      report =
        from === undefined
          ? await withPlainFile(positionals[0] ?? "", deps, restore)
          : await withBackup(from, deps, restore);
    }
  } finally {
    lock.release();
  }
  output.err(`Restored ${restored}. All sessions have ended, and one-time links no longer work.`);
  if (!isFromStore && !report.isVerified) {
    output.err(
      `${restored} has no digest, so it could not be verified: SQLite found no damage in it, but does not notice all.`,
    );
  }
  if (report.kept) output.err(`The replaced database is kept in ${report.kept}.`);
  describeCredentials(output, report, directory.path);
  return 0;
}

/** Returns the moment to restore, in unix ms. Throws a UsageError unless it is in the past. */
function momentOf(text: string | undefined, isFromStore: boolean): number | undefined {
  if (text === undefined) return undefined;
  if (!isFromStore) throw new UsageError(["--at is only for --from-store."]);
  const at = parseInstant(text);
  if (at === undefined) {
    throw new UsageError(["--at must be a time with its zone, such as 2026-03-10T12:00:00Z."]);
  }
  if (at > Date.now()) throw new UsageError(["--at must be in the past."]);
  return at;
}

/** Heading of each list of credentials, and the ways to revoke one of them: one line each. */
const KINDS: Record<CredentialKind, { heading: string; remedies(dataDir: string): string[] }> = {
  key: {
    heading: "API keys",
    remedies: (dataDir) => [`${PROGRAM} key revoke ID ${dataDir}`],
  },
  user: {
    heading: "Users, with their passwords at the time of the backup",
    remedies: (dataDir) => [
      `${PROGRAM} user disable EMAIL ${dataDir}`,
      `${PROGRAM} user reset-password EMAIL ${dataDir}`,
    ],
  },
  identity: {
    heading: "Identities at a provider, with which users sign in",
    remedies: (dataDir) => [
      "Disconnect it in the dashboard, under Settings → Users.",
      `${PROGRAM} user disable EMAIL ${dataDir}`,
    ],
  },
  webhook: {
    heading: "Webhooks, with their signing secrets at the time of the backup",
    remedies: () => [
      "POST /api/v1/webhooks/ID/rotate-secret",
      "Delete the webhook in the dashboard.",
    ],
  },
  page: {
    heading: "Pages, with their passwords at the time of the backup",
    remedies: (dataDir) => [`${PROGRAM} page access SLUG --set-password - ${dataDir}`],
  },
  link: {
    heading: "Links to private pages",
    remedies: () => ["Revoke the link in the dashboard."],
  },
  location: {
    heading: "Locations, with the tokens of their agents at the time of the backup",
    remedies: () => [
      "Rotate the token in the dashboard, under Settings → Locations.",
      "Delete the location there.",
    ],
  },
  monitor: {
    heading: "Push monitors, with their heartbeat tokens at the time of the backup",
    remedies: () => [
      "POST /api/v1/monitors/ID/rotate-token",
      "Delete the monitor in the dashboard.",
    ],
  },
};

/** Prints which credentials stay revoked, and which of them work again. */
function describeCredentials(output: Output, report: RestoreReport, dataDir: string): void {
  const { kept, carried, couldReadReplaced, revived, lacksOwner, holdsMailings } = report;
  const dataDirFlag = `--data-dir ${shellWord(dataDir)}`;
  if (kept === undefined) {
    output.err(
      "There was no database to replace, so credentials revoked since the backup are unknown.",
    );
  } else if (carried.length > 0 || !couldReadReplaced) {
    const list = describeCarried(carried) || "nothing";
    output.err(`Carried over from the replaced database: ${list}.`);
  }
  if (kept !== undefined && !couldReadReplaced) {
    output.err(
      "Some credentials in the replaced database cannot be read, so credentials revoked since the backup may be missing above.",
    );
  }
  if (holdsMailings) {
    output.err(
      "It is not known who unsubscribed since the backup, so mailings are held. Release them in the dashboard, under Mailings.",
    );
  }
  if (revived.length > 0) {
    output.err("These credentials work again. Revoke those that should not.");
  }
  for (const [kind, rows] of Map.groupBy(revived, (credential) => credential.kind)) {
    const { heading, remedies } = KINDS[kind];
    output.err(`${heading}:`);
    for (const { id, label } of rows) output.err(`  ${id}  ${label}`);
    const ways = remedies(dataDirFlag);
    output.err(ways.length > 1 ? "Ways to revoke one:" : "To revoke one:");
    for (const way of ways) output.err(`  ${way}`);
  }
  if (!lacksOwner) return;
  output.err(
    `No owner can sign in. Create one:  ${PROGRAM} user create --email EMAIL --role owner ${dataDirFlag}`,
  );
}
