/**
 * The declarative file: read with the line of every mistake, made true in one transaction, and written.
 * Knows what a file says and how to bring about the difference; the verbs belong to other rooms.
 */
export { type Change, describeChange } from "./difference";
export { exportFile, writeApplyFile } from "./export";
export { ApplyFileError, readApplyFile, type ReadFile } from "./file";
export { monitorsIn } from "./placed";
export { applyFile } from "./reconcile";
export type { ApplyOutcome } from "./run";
