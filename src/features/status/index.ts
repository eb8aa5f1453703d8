/**
 * Status of a page as a whole: headline, document, days, past entries, and the snapshot in memory
 * that reads are served from. Made from pages, components, incidents and maintenance; writes
 * nothing.
 */
export { UPTIME_DAYS } from "./component-histories";
export {
  type Entry,
  firstDayStart,
  PAST_DAYS,
  readHistory,
  readLatency,
  readPast,
} from "./history";
export { StatusDocument } from "./model";
export { buildSnapshot, readHeadline, type Snapshot } from "./snapshot";
export { type Headline, headlineOf, type Indicator, INDICATORS } from "./rules";
export { createSnapshots, type Snapshots } from "./snapshots";
