/**
 * Status of a page as a whole: headline, document, days, past entries, and the snapshot in memory
 * that reads are served from. Made from pages, components, incidents and maintenance; writes
 * nothing.
 */
export { UPTIME_DAYS } from "./component-histories";
export { type Entry, firstDayStart, PAST_DAYS, readHistory, readPast } from "./history";
export { readLatency } from "./latency";
export { StatusDocument } from "./model";
export { readHeadline } from "./page-headline";
export { type Headline, headlineOf, type Indicator, INDICATORS } from "./rules";
export { buildSnapshot, type Snapshot } from "./snapshot";
export { createSnapshots, type Snapshots } from "./snapshots";
