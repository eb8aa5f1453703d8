import type { Impact } from "../../base/status";

/** Kinds of alarms, each with its name, its severity, and the condition under which it is raised. */
export const ALARMS = {
  mirror_stale: {
    name: "Mirror out of date",
    severity: "major",
    condition: "The mirror was last written more than 5 minutes ago.",
  },
  mirror_removal: {
    name: "Pages still in the mirror",
    severity: "critical",
    condition: "Files of a deleted or private page could not be removed from the mirror.",
  },
  untrusted_proxy: {
    name: "CDN not trusted",
    severity: "critical",
    condition:
      "With `--cdn`, a peer that is not a trusted proxy sends a forwarding header, so all visitors behind it share one rate limit.",
  },
  purge_failing: {
    name: "CDN not purged",
    severity: "minor",
    condition: "Two purges in a row failed.",
  },
  replica_lag: {
    name: "Replica behind",
    severity: "minor",
    condition:
      "A replica is more than 10 seconds behind the primary, or silent or without data for 30 seconds.",
  },
  lease_renewal: {
    name: "Lease not renewed",
    severity: "critical",
    condition: "The primary cannot renew its lease.",
  },
  upload_stalled: {
    name: "No upload",
    severity: "major",
    condition: "A change has not been uploaded to the fleet store for 30 seconds.",
  },
  log_hole: {
    name: "Hole in the log",
    severity: "major",
    condition: "The log in the fleet store lacks a file. It is repaired or begun again.",
  },
  durability_local: {
    name: "Writes on one machine only",
    severity: "major",
    condition: "A write was acknowledged before it was uploaded to the fleet store.",
  },
  valkey_unavailable: {
    name: "Valkey unavailable",
    severity: "minor",
    condition: "Valkey has not answered for 10 seconds. Each node applies rate limits by itself.",
  },
  orphans: {
    name: "Changes of an earlier primary",
    severity: "major",
    condition:
      "A database that was set aside has events that the present history lacks and no owner has dismissed.",
  },
  version_mismatch: {
    name: "Versions differ",
    severity: "minor",
    condition: "Nodes run different versions, or a schema that not all of them can read.",
  },
  clock_skew: {
    name: "Clock wrong",
    severity: "minor",
    condition: "The clock of a node is more than 2 seconds off.",
  },
  network_lost: {
    name: "Network lost",
    severity: "major",
    condition:
      "Monitors of three hosts in two networks fail without an answer, and nothing else outside answers.",
  },
  alerts_stale: {
    name: "Alerts not repeated",
    severity: "minor",
    condition:
      "The last open alert of a monitor of type `alert` was not reported for its `stale_after_seconds`.",
  },
  backup: {
    name: "Backup not complete",
    severity: "major",
    condition: "The last daily backup failed, or is not complete two hours after it became due.",
  },
  restore_test: {
    name: "Restore not verified",
    severity: "major",
    condition: "The nightly restore failed, or the last one that worked is older than 26 hours.",
  },
} as const satisfies Readonly<Record<string, AlarmText>>;

interface AlarmText {
  /** Name without an article, as in "Alarm: Mirror out of date". */
  name: string;
  severity: Exclude<Impact, "none">;
  /** Sentence in Markdown, for the documentation. */
  condition: string;
}

export type AlarmKind = keyof typeof ALARMS;

export const ALARM_KINDS = Object.keys(ALARMS) as AlarmKind[];

/** Returns true for the name of a kind. */
export function isAlarmKind(text: string): text is AlarmKind {
  return Object.hasOwn(ALARMS, text);
}
