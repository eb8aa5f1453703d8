/**
 * The declarative file: read with the line of every mistake, and made true in one transaction.
 * Knows what a file says and how to bring about the difference; the verbs belong to other rooms.
 */
export { type Change, describeChange } from "./difference";
export { ApplyFileError, readApplyFile, type ReadFile } from "./file";
export { applyFile, type ApplyOptions, type ApplyOutcome } from "./reconcile";
