/**
 * Submitted forms: repeating one, by a double click or a reload, has one effect. They are stored
 * for a day, in the transaction of their change.
 */
export { makeOnce, type MadeOnce, sweepSubmissions } from "./service";
