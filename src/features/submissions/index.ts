/**
 * Forms that have made something: sending one twice, by a double click or by a reload, makes one
 * thing. Remembered for a day, in the transaction of what was made.
 */
export { makeOnce, type MadeOnce, sweepSubmissions } from "./service";
