import type { ForeignObject, ImportChange, ImportKind } from "../../domain/import-report";
import type { CheckOutcome, MonitorState } from "../../domain/monitor-state";
import type { ComponentInput, GroupInput } from "../components";
import type { CreateIncidentBody } from "../incidents";
import type { CreateScheduleBody, PlanMaintenanceBody } from "../maintenance";
import type { CreateMonitorBody, ImportedToken, UnsupportedMonitor } from "../monitors";
import type { PageInput } from "../pages";
import type { CreateWebhookBody } from "../webhooks";

/*
 * What an importer found in another product, before anything is decided. An importer does not read this
 * installation: identity, free slugs and refs, verdicts and writing are those of the import.
 */

/** Names another found object by `type:id` of its `foreign`. */
export type ForeignKey = `${string}:${string}`;

/** Common fields of found objects. `body` has the words of the API. */
export interface FoundObject<Body> {
  foreign: ForeignObject;
  body: Body;
  changes: readonly ImportChange[];
  /** Reason, in one sentence, for which it is switched off until something is done. */
  disabled?: string | undefined;
}

export type FoundPage = FoundObject<Omit<PageInput, "ref" | "default">>;

export interface FoundGroup extends FoundObject<Omit<GroupInput, "ref">> {
  page: ForeignKey;
}

export interface FoundComponent extends FoundObject<Omit<ComponentInput, "ref">> {
  page: ForeignKey;
  /** Null without a group. */
  group: ForeignKey | null;
}

type WithoutReferences<Body> = Omit<Body, "component_ids" | "depends_on">;

export interface FoundMonitor extends FoundObject<
  | WithoutReferences<CreateMonitorBody>
  | WithoutReferences<UnsupportedMonitor & { type: "unsupported" }>
> {
  /** Without any, the monitor is on no page of the source. */
  components: readonly ForeignKey[];
  dependsOn: readonly ForeignKey[];
  tokens: readonly ImportedToken[];
  /** Reason, in one sentence, for which a monitor has the type `unsupported`. */
  held?: string | undefined;
}

export interface FoundWebhook extends FoundObject<Omit<CreateWebhookBody, "page" | "monitors">> {
  /** Null for all pages. */
  page: ForeignKey | null;
  monitors: "all" | readonly ForeignKey[];
}

export interface FoundMaintenance extends FoundObject<
  Omit<PlanMaintenanceBody, "page" | "components">
> {
  page: ForeignKey;
  components: readonly ForeignKey[];
}

export interface FoundSchedule extends FoundObject<
  Omit<CreateScheduleBody, "page" | "components">
> {
  page: ForeignKey;
  components: readonly ForeignKey[];
}

export interface FoundIncident extends FoundObject<
  Omit<CreateIncidentBody, "page" | "components">
> {
  page: ForeignKey;
}

/** Object of the source that is not moved. */
export interface LeftOut {
  foreign: ForeignObject;
  /** One sentence. */
  reason: string;
}

/** Part of the history of one monitor. Times in unix ms, latencies in ms. */
export interface HistoryChunk {
  monitor: ForeignKey;
  /** Place behind the chunk, from which an interrupted import goes on. */
  next: string;
  results: readonly { at: number; outcome: CheckOutcome; latencyMs: number | null }[];
  /** Sums by minute, hour and day. `size` in ms. */
  sums: readonly {
    size: number;
    at: number;
    checks: number;
    failures: number;
    answers: number;
    latencySum: number | null;
    latencyMin: number | null;
    latencyMax: number | null;
  }[];
  spans: readonly { startedAt: number; endedAt: number | null; state: MonitorState }[];
  /** Numbers of rows that were not read, by reason. */
  skipped: Readonly<Record<string, number>>;
}

/** Everything that an importer found. Lists are in the order in which the source shows them. */
export interface Found {
  kind: ImportKind;
  /** Identity of the installation of the source, as SHA-256 in hexadecimal; null if it has none. */
  fingerprint: string | null;
  pages: readonly FoundPage[];
  groups: readonly FoundGroup[];
  components: readonly FoundComponent[];
  monitors: readonly FoundMonitor[];
  webhooks: readonly FoundWebhook[];
  maintenance: readonly FoundMaintenance[];
  schedules: readonly FoundSchedule[];
  incidents: readonly FoundIncident[];
  /** Reads the history in bounded chunks, from the place of an earlier one; absent without a history. */
  history?: (after: string | null) => Iterable<HistoryChunk> | AsyncIterable<HistoryChunk>;
  leftOut: readonly LeftOut[];
  /** Fields and files of the source that this version does not know. */
  notRead: readonly string[];
  /** Exact instructions to people. */
  toDo: readonly string[];
}

/** Returns the key of an object of the source. */
export function keyOf({ type, id }: Pick<ForeignObject, "type" | "id">): ForeignKey {
  return `${type}:${id}`;
}
