import type {
  ForeignKey,
  ForeignObject,
  ImportChange,
  ImportKind,
  ImportReport,
} from "../base/import-report";
import type { Impact, IncidentStatus, MaintenanceStatus, NamedStatus } from "../base/status";
import type { ComponentInput, GroupInput } from "../features/components/wire";
import type { CreateScheduleBody } from "../features/maintenance/schedules/wire";
import type { PlanMaintenanceBody } from "../features/maintenance/wire";
import type { ImportedToken } from "../features/monitors/tokens";
import type { UnsupportedMonitor } from "../features/monitors/imported";
import type { CreateMonitorBody } from "../features/monitors/wire";
import type { PageInput } from "../features/pages/wire";
import type { CreateWebhookBody } from "../features/webhooks/wire";
/*
 * What an importer found in another product, before anything is decided. An importer does not read this
 * installation: identity, free slugs and refs, verdicts and writing are those of the import.
 */

export type { ForeignKey } from "../base/import-report";

/** Common fields of found objects. `body` has the words of the API. Times in it are ISO 8601 with a zone. */
export interface FoundObject<Body> {
  /**
   * An object that becomes several is found several times, with ids of their own, such as `12` and `12:status`. Each
   * id is found once.
   */
  foreign: ForeignObject;
  body: Body;
  changes: readonly ImportChange[];
}

interface Numbered {
  /** Number by which clients of Uptime Kuma know an object, to be kept. */
  number?: number | null;
}

/** Something that is switched off until something is done. */
interface Switchable {
  /** Reason, in one sentence. */
  disabled?: string | undefined;
}

/** A taken slug gets a number. Names may be too long, and have control characters: they are cut. */
export interface FoundPage
  extends FoundObject<Omit<PageInput, "ref" | "default" | "custom_domains">>, Numbered {
  /** True for the page at the root of the source. */
  isDefault?: boolean;
  /** Host names that serve the page. They are only listed unless they are to be taken over. */
  domains?: readonly string[];
  logo?: Uint8Array | null;
}

export interface FoundGroup extends FoundObject<Omit<GroupInput, "ref">>, Numbered {
  page: ForeignKey;
}

/** Its number is that of an object of the source that is on pages and becomes no monitor. */
export interface FoundComponent extends FoundObject<Omit<ComponentInput, "ref">>, Numbered {
  page: ForeignKey;
  group?: ForeignKey | null;
  /** Key by which clients of Gatus know it, to be kept. */
  key?: string | null;
  /** Status that people set, for the first import only; operational without one. */
  baseline?: NamedStatus | null;
}

type WithoutReferences<Body> = Omit<Body, "component_ids" | "depends_on">;

/** Groups are labels, in `body.group`. Values that the source does not have are those of all imports. */
export interface FoundMonitor
  extends
    FoundObject<
      | WithoutReferences<CreateMonitorBody>
      | WithoutReferences<UnsupportedMonitor & { type: "unsupported" }>
    >,
    Numbered,
    Switchable {
  /** Components that it watches, which may be none. `internal`: it gets one on the internal page. */
  components: readonly ForeignKey[] | "internal";
  /**
   * References of components of this installation that it watches besides, such as `acme:checkout-api`. Undefined for a
   * source that does not name any.
   */
  watches?: readonly string[];
  dependsOn?: readonly ForeignKey[];
  tokens?: readonly ImportedToken[];
  /** Reason, in one sentence, for which a monitor has the type `unsupported`. */
  held?: string | undefined;
}

/**
 * `body.settings` may hold secrets. `body.description` is its name. A receiver that this server must not call is
 * switched off, and team mail is created only where mail is set up: both are decided by the import.
 */
export interface FoundWebhook
  extends FoundObject<Omit<CreateWebhookBody, "page" | "monitors">>, Switchable {
  /** All pages without one. */
  page?: ForeignKey | null;
  monitors: "all" | readonly ForeignKey[];
}

/**
 * A maintenance, past or to come. One whose last update is `scheduled` and whose time is over becomes completed at
 * its planned times.
 */
export interface FoundMaintenance
  extends
    FoundObject<
      Omit<PlanMaintenanceBody, "page" | "components" | "body" | "notify"> & {
        /** At least one, in the order of their effect. Texts are Markdown. */
        updates: readonly {
          status: MaintenanceStatus;
          body: string;
          /** Without it, the time of the import, or the planned start if that is earlier. */
          display_at?: string;
        }[];
      }
    >,
    Numbered {
  page: ForeignKey;
  components: readonly ForeignKey[];
}

export interface FoundSchedule extends FoundObject<
  Omit<CreateScheduleBody, "page" | "components">
> {
  page: ForeignKey;
  components: readonly ForeignKey[];
}

/** An incident with its whole story. One whose last update is `resolved` is over. */
export interface FoundIncident
  extends
    FoundObject<{
      name: string;
      /** Null for what follows from the statuses of the components. */
      impact_override: Impact | null;
      /** From then on the statuses of the first update apply. */
      started_at: string;
      /** At least one, in the order of their effect. Texts are Markdown. */
      updates: readonly {
        status: IncidentStatus;
        body: string;
        display_at: string;
        components: Readonly<Record<ForeignKey, NamedStatus>>;
      }[];
      /** Markdown; null without one. It is published. */
      postmortem: { body: string; published_at: string } | null;
    }>,
    Numbered {
  page: ForeignKey;
  /** Last part of its `external_ref`, behind the kind and the name of the source, such as `incident:7`. */
  externalId: string;
}

/** Object of the source that is not moved. */
export interface LeftOut {
  foreign: ForeignObject;
  /** One sentence. */
  reason: string;
}

/** File that is written beside an import, readable by its owner only. */
export interface OutputFile {
  path: string;
  text: string;
  /** Content and next step, as a sentence. */
  summary: string;
}

/** Everything that an importer found. Lists are in the order in which the source shows them. */
export interface Found {
  kind: ImportKind;
  /** Identity of the installation of the source, as SHA-256 in hexadecimal; null if it has none. */
  fingerprint: string | null;
  pages: FoundPage[];
  groups: FoundGroup[];
  components: FoundComponent[];
  monitors: FoundMonitor[];
  webhooks: FoundWebhook[];
  maintenance: FoundMaintenance[];
  schedules: FoundSchedule[];
  incidents: FoundIncident[];
  /** Absent without a history. */
  history?: FoundHistory;
  /** Returns files to write when the import is done, as the person asked; absent without any. */
  files?: (report: ImportReport) => readonly OutputFile[];
  leftOut: LeftOut[];
  /** Fields and files of the source that this version does not know. */
  notRead: string[];
  /** Exact instructions to people. */
  toDo: string[];
}

/** Returns the key of an object of the source. */
export function keyOf({ type, id }: Pick<ForeignObject, "type" | "id">): ForeignKey {
  return `${type}:${id}`;
}

/** Returns what was found in a source before anything of it is read, to be added to. */
export function emptyFound(kind: ImportKind, fingerprint: string | null = null): Found {
  return {
    kind,
    fingerprint,
    pages: [],
    groups: [],
    components: [],
    monitors: [],
    webhooks: [],
    maintenance: [],
    schedules: [],
    incidents: [],
    leftOut: [],
    notRead: [],
    toDo: [],
  };
}

/* History of a source. */

/** Time from `from` to before `until`, in unix ms. */
export interface HistoryRange {
  from: number;
  until: number;
}

/**
 * Kinds of beats. `pending`: a failure that does not make the monitor down yet. `downMark` and `upMark`: start of a
 * state at a time of which the source keeps no results. They are no results.
 */
export const BEAT = { down: 0, up: 1, pending: 2, maintenance: 3, downMark: 4, upMark: 5 } as const;
export type BeatKind = (typeof BEAT)[keyof typeof BEAT];

/**
 * Beats of one monitor by columns, oldest first. Only the first `count` entries are used, of several chunks at most
 * 4,096 each, since they are read in one turn of the event loop.
 */
export interface HistoryChunk {
  count: number;
  /** Unix ms. Of equal ones, the import moves the later ones on by 1 ms. */
  at: Float64Array;
  kind: Uint8Array;
  /** In ms; -1 without an answer. */
  latencyMs: Int32Array;
  /** Texts of beats that failed, by their entry, at most 300 characters each. May be left out. */
  messages?: ReadonlyMap<number, string>;
  /** Number of rows of the source that were read for it, for the progress. */
  rows: number;
  /** Numbers of rows that were skipped, by reason. They are among `rows`. */
  skipped?: Readonly<Record<string, number>>;
}

/** Sum of the results of a minute, an hour or a day (`size`, in ms) that begins at `at` (unix ms, UTC). */
export interface HistorySum {
  size: number;
  at: number;
  /** Results that are up, down or pending. */
  checks: number;
  failures: number;
  /** Results with a latency. */
  answers: number;
  /** In ms; null without answers. */
  latencySum: number | null;
  /** In ms, as `latencyMax`; null without answers, or if the source does not know it. */
  latencyMin: number | null;
  latencyMax: number | null;
  /** Results under maintenance, which are not among `checks`. */
  maintenance: number;
}

/** State of a monitor at its last beat. */
export interface LastState {
  state: "up" | "down";
  /** Start of the state, in unix ms: that of an outage is its first failure. */
  since: number;
  /** Last beat, in unix ms. */
  at: number;
  /** Text of the outage. */
  message: string | null;
}

/**
 * History of a source, which stays open until it is disposed of. Ranges begin and end at midnight UTC, but for the
 * end of the newest one. What they give may be reused for the next: a chunk is used up before the next one is read.
 */
export interface FoundHistory extends Disposable {
  /** Returns the number of rows, roughly, and the first and last time. Takes a second at most for any size. */
  estimate(): { rows: number; range: HistoryRange | null };
  /** Returns the state in which a monitor starts here; undefined without a beat. Called once for each monitor. */
  lastState(monitor: ForeignKey): LastState | undefined;
  /**
   * Reads all sums that begin in a range, in any order. One is used if it counts more results than there are beats in
   * its time; of different sizes, those of the same time count the same results.
   */
  sums(monitor: ForeignKey, range: HistoryRange): readonly HistorySum[];
  /** Reads the beats of a range. */
  beats(monitor: ForeignKey, range: HistoryRange): Iterable<HistoryChunk>;
  /** Counts rows that belong to no monitor that was found, or cannot be read, by reason. May read everything. */
  leftOut(): Readonly<Record<string, number>>;
}
