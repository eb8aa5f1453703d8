/**
 * What a page shows as a whole: its headline, its document, its days and what is past, and the snapshot
 * in memory that reads are served from. Made from pages, components, incidents and maintenance; writes
 * nothing.
 */
export { StatusDocument } from "./model";
export { readHeadline } from "./page-headline";
export { type Headline, headlineOf, type Indicator, INDICATORS } from "./rules";
export { PAST_DAYS, type Snapshot, UPTIME_DAYS } from "./snapshot";
export { createSnapshots, type Snapshots } from "./snapshots";
