import { sha256Hex } from "./hash";
import { spaced } from "./text";

/** Names of products from which objects are imported. */
export const PRODUCTS = {
  "uptime-kuma": "Uptime Kuma",
  gatus: "Gatus",
  statuspage: "Statuspage",
  healthchecks: "Healthchecks",
  uptimerobot: "UptimeRobot",
  "better-stack": "Better Stack",
  csv: "CSV",
} as const;

export type ImportKind = keyof typeof PRODUCTS;

/** Kinds of objects that imports create, in the order in which they do. */
const IMPORTED = [
  "page",
  "group",
  "component",
  "monitor",
  "webhook",
  "schedule",
  "maintenance",
  "incident",
] as const;

export type Imported = (typeof IMPORTED)[number];

/**
 * Results of an import for one object of the source, in the order of reports. `changed`: created with
 * differences. `disabled`: created, and switched off until something is done. `held`: created with a type that
 * cannot be checked. `kept`: edited or deleted here, and left so.
 */
export const VERDICTS = [
  "created",
  "changed",
  "disabled",
  "held",
  "updated",
  "unchanged",
  "kept",
  "not_moved",
] as const;

export type Verdict = (typeof VERDICTS)[number];

/** Sentences about the objects with each verdict. */
export const VERDICT_MEANINGS: Readonly<Record<Verdict, string>> = {
  created: "Moved as it is.",
  changed: "Moved with differences, which are listed.",
  disabled: "Moved and switched off. The reason says what to do before it is switched on.",
  held: "Kept with all settings as a monitor that cannot run yet. A later version can convert it.",
  updated: "Imported before, and brought up to date with the source.",
  unchanged: "Imported before, and the same since.",
  kept: "Edited or deleted here after an earlier import, or no longer in the source, so left as it is.",
  not_moved: "Cannot be moved. The reason says why.",
};

/** Object of a source. Its type and id are unique in the source, and the same at the next import. */
export interface ForeignObject {
  /** Word of the source, such as `check`. */
  type: string;
  /** Never a secret, since reports show it. */
  id: string;
  name: string;
}

/** Names an object of a source by its `type:id`. */
export type ForeignKey = `${string}:${string}`;

/** Difference between an object of the source and what it becomes. Secrets are `set` or `none`. */
export interface ImportChange {
  field: string;
  from: unknown;
  to: unknown;
  /** One sentence. */
  reason: string;
}

/** Object here that an object of the source became. */
export interface ImportTarget {
  kind: Imported;
  /** Null in a dry run, for an object that it would create. */
  id: string | null;
  /** Null for maintenance and incidents, which have none. */
  ref: string | null;
  name: string;
}

export interface ImportItem {
  verdict: Verdict;
  foreign: ForeignObject;
  target: ImportTarget | null;
  changes: ImportChange[];
  reason: string | null;
}

/** History of an import, from the first to the last time. In a dry run it is an estimate. */
export interface ImportHistory {
  /** Results of checks, also those of which only sums are kept. */
  results: number;
  /** UTC days. */
  days: number;
  /** Null without a history, as the next one. */
  from: string | null;
  until: string | null;
  /** Numbers of rows that were not taken over, by reason. */
  skipped: Record<string, number>;
}

/** Report of an import, as JSON has it. */
export interface ImportReport {
  /** Null if nothing was written. */
  id: string | null;
  source: { kind: ImportKind; name: string };
  started_at: string;
  finished_at: string;
  dry_run: boolean;
  /** Numbers of items by verdict, without those of which there is none. */
  counts: Partial<Record<Verdict, number>>;
  items: ImportItem[];
  /** Null if no history is left to be written. */
  history: ImportHistory | null;
  /** Parts of the source that this version does not know. */
  not_read: string[];
  /** Instructions. */
  to_do: string[];
}

/** Words for types of objects whose names in the source are no words, in the singular and the plural. */
const TYPE_WORDS: Readonly<Partial<Record<string, readonly [one: string, many: string]>>> = {
  alerting: ["alerting provider", "alerting providers"],
  api_key: ["API key", "API keys"],
  domain_expiry: ["expiry of a domain", "expiry of domains"],
  history: ["history", "histories"],
  "internal page": ["internal page", "internal page"],
  maintenance: ["maintenance", "maintenance"],
  monitor_group: ["monitor on a status page", "monitors on status pages"],
  proxy: ["proxy server", "proxy servers"],
  subscribers: ["subscribers", "subscribers"],
};

/** Returns the type of objects of a source in words, such as "status page" and "status pages". */
export function typeInWords(type: string): readonly [one: string, many: string] {
  const word = type.replaceAll(/[_-]/g, " ");
  return TYPE_WORDS[type] ?? [word, `${word}s`];
}

/** Returns a value of a change as text. `set` and `none`, which replace secrets, are not quoted. */
export function changeValueInWords(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value !== "string") return JSON.stringify(value);
  return value === "set" || value === "none" ? value : `“${value}”`;
}

/** Returns the numbers of verdicts as a phrase, such as "3 created, 1 not moved". */
export function verdictsInWords(counts: ImportReport["counts"]): string {
  const parts = VERDICTS.flatMap((verdict) => {
    const count = counts[verdict];
    return count === undefined ? [] : [`${count.toLocaleString("en")} ${spaced(verdict)}`];
  });
  return parts.join(", ") || "no objects";
}

/** Verdicts of objects that an import does not change. */
const IDLE: ReadonlySet<string> = new Set(["unchanged", "kept", "not_moved"] satisfies Verdict[]);

/** Returns true if an import changes something. */
export function hasWork({ counts, history }: Pick<ImportReport, "counts" | "history">): boolean {
  return history !== null || Object.keys(counts).some((verdict) => !IDLE.has(verdict));
}

/** Returns the digest of what a plan or a report says of each object. */
export function digestOf({ items }: Pick<ImportReport, "items">): string {
  const verdicts = items.map(({ verdict, foreign: { type, id } }) => [verdict, type, id]);
  return sha256Hex(JSON.stringify(verdicts));
}
