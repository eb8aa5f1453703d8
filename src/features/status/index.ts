/**
 * Everything that a status page shows: headline, status document, days, past entries, and the
 * snapshot in memory, which answers all reads. It reads pages, components, incidents and maintenance,
 * and writes nothing.
 */
export { type ComponentHistory, readComponentHistories, UPTIME_DAYS } from "./component-histories";
export {
  type HistoryEntry,
  historyStartOf,
  PAST_DAYS,
  readHistory,
  readOpenIncidents,
  readLatency,
  readPastEntries,
} from "./history";
export { type DayEntries } from "./day-entries";
export {
  createEntryNamesCache,
  type EntryNames,
  readEntryNames,
  type ReadEntryNames,
} from "./entry-names";
export { EMPTY_HEADLINE, type PageHeadline, readHeadlines } from "./headlines";
export { StatusDocument } from "./model";
export { buildSnapshot, readHeadline, type Snapshot } from "./snapshot";
export { headlineText, INDICATORS, toneOf } from "./rules";
export { createSnapshots, type Snapshots } from "./snapshots";
