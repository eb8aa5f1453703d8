import type * as ScureBase from "@scure/base";
import { parsePlace, type S3Address, type StoreAddress } from "../store-address";
import { parseCredential } from "./mail";
import { isWithin } from "./mirror";
import { option, parseInteger } from "./parse";

/** Most backups that are kept. */
const KEEP_MAX = 3_650;

/** Options of scheduled backups. */
export const BACKUP_OPTIONS = {
  backupTo: option<StoreAddress>({
    flag: "backup-to",
    env: "ALLCLEAR_BACKUP_TO",
    parse: parsePlace,
    default: undefined,
    placeholder: "PLACE",
    help: "Folder, or bucket such as s3://bucket/path?endpoint=https://…&region=…, that gets a backup of the database every day.",
    scope: "serve",
    isHidden: true,
  }),
  backupAt: option({
    flag: "backup-at",
    env: "ALLCLEAR_BACKUP_AT",
    parse: parseTimeOfDay,
    default: "03:00",
    placeholder: "HH:MM",
    help: "Time of the daily backup, in UTC.",
    scope: "serve",
  }),
  backupKeep: option({
    flag: "backup-keep",
    env: "ALLCLEAR_BACKUP_KEEP",
    parse: parseInteger(0, KEEP_MAX),
    default: "14",
    placeholder: "N",
    help: "Number of daily backups that are kept in their place; 0 keeps all.",
    scope: "serve",
  }),
  backupAgeRecipient: option({
    flag: "backup-age-recipient",
    env: "ALLCLEAR_BACKUP_AGE_RECIPIENT",
    parse: parseRecipients,
    default: "",
    placeholder: "AGE1…,…",
    help: "Public keys of age, such as age1…, for which daily backups are encrypted. Restoring one needs the identity of one of them.",
    scope: "serve",
    // Somebody may put the identity here instead.
    isHidden: true,
  }),
  backupStoreKeyId: option({
    flag: undefined,
    env: "ALLCLEAR_BACKUP_STORE_KEY_ID",
    fileEnv: "ALLCLEAR_BACKUP_STORE_KEY_ID_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "ID",
    help: "Id of the access key for the bucket of backups, or a file that contains it.",
    scope: "serve",
  }),
  backupStoreSecret: option({
    flag: undefined,
    env: "ALLCLEAR_BACKUP_STORE_SECRET",
    fileEnv: "ALLCLEAR_BACKUP_STORE_SECRET_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "SECRET",
    help: "Secret of that access key, or a file that contains it.",
    scope: "serve",
  }),
} as const;

type BackupOptionName = keyof typeof BACKUP_OPTIONS;

/** Options with which a command reads the bucket of backups. */
export const BACKUP_STORE_OPTION_NAMES = ["backupStoreKeyId", "backupStoreSecret"] as const;

/** Options of scheduled backups without a default. */
export type OptionalBackupName = "backupTo" | (typeof BACKUP_STORE_OPTION_NAMES)[number];

/** Parses a time of day, such as 03:00. Returns minutes since midnight. */
function parseTimeOfDay(text: string): number {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours === undefined) throw new Error("must be a time of day in UTC, such as 03:00");
  return Number(hours) * 60 + Number(minutes);
}

/** Prefixes of recipients: X25519, and the same with ML-KEM. */
const RECIPIENT_PREFIXES: ReadonlySet<string | undefined> = new Set(["age", "age1pq"]);

/** Parses a list of recipients, separated by commas or spaces. No message contains one. */
function parseRecipients(text: string): string[] {
  const recipients = text.split(/[\s,]+/).filter((part) => part !== "");
  if (recipients.length === 0) return recipients;
  // Required here, since few starts need it.
  const { bech32 } = require("@scure/base") as typeof ScureBase;
  for (const recipient of recipients) {
    if (/^AGE-SECRET-KEY-/i.test(recipient)) {
      throw new Error("must be the public key, which begins with age1, and not the identity");
    }
    // Bech32 can be upper case, in which age takes none.
    const isUpper = recipient !== recipient.toLowerCase();
    if (isUpper || !RECIPIENT_PREFIXES.has(bech32.decodeUnsafe(recipient, false)?.prefix)) {
      throw new Error("must list public keys as age-keygen prints them, which begin with age1");
    }
  }
  return recipients;
}

/** Returns the contradictions between options as sentences. */
export function backupProblems(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: BackupOptionName) => boolean,
  nameOf: (name: BackupOptionName) => string,
): string[] {
  const place = values["backupTo"] as StoreAddress | undefined;
  if (place === undefined) {
    if (isGiven("backupTo")) return [];
    return (["backupAt", "backupKeep", "backupAgeRecipient"] as const)
      .filter(isGiven)
      .map((name) => `${nameOf(name)} requires ${nameOf("backupTo")}.`);
  }
  const problems: string[] = [];
  if (place.kind === "s3") {
    for (const name of BACKUP_STORE_OPTION_NAMES) {
      if (!isGiven(name)) problems.push(`${nameOf(name)} is required for backups in a bucket.`);
    }
  }
  if (isInMirror(place, values["mirror"] as StoreAddress | undefined)) {
    problems.push(`${nameOf("backupTo")} must not be in the mirror, which everybody can read.`);
  }
  return problems;
}

/** Returns the server of a bucket. Amazon's, where a name is that of one bucket, has several addresses. */
function serverOf({ endpoint }: S3Address): string | undefined {
  const isAmazon = endpoint !== undefined && /\.amazonaws\.com(?::\d+)?$/.test(endpoint);
  return isAmazon ? undefined : endpoint;
}

/** Returns true if backups would be among the files of the mirror. */
function isInMirror(place: StoreAddress, mirror: StoreAddress | undefined): boolean {
  if (place.kind === "folder")
    return mirror?.kind === "folder" && isWithin(mirror.path, place.path);
  if (mirror?.kind !== "s3" || mirror.bucket !== place.bucket) return false;
  return (
    serverOf(mirror) === serverOf(place) &&
    `${place.path}/`.startsWith(mirror.path && `${mirror.path}/`)
  );
}
