/**
 * Pages as clients of other products read them: numbers and keys of their entries, and their results.
 */
export {
  BEAT,
  type Beat,
  type CompatEntry,
  findCompatPage,
  findEntry,
  keysOf,
  numbersOf,
  readBeats,
  readEntries,
  whenCompatReady,
  whenEntryReady,
} from "./entries";
export { findKeptKey, findNumber, keepKey, keepNumber, listKeptKeys, listNumbers } from "./store";
