/**
 * What a page shows as a whole: its headline, its document, and the snapshot in memory that reads are
 * served from. Made from pages and components; writes nothing.
 */
export { StatusDocument } from "./model";
export { type Headline, headlineOf, type Indicator } from "./rules";
export { createSnapshots, type Snapshot, type Snapshots } from "./snapshots";
