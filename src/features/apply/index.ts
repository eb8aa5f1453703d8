/**
 * Configuration file: read with the line of every error, applied in one transaction, and exported.
 * The services of other modules make the changes.
 */
export { describeChange } from "./difference";
export { exportFile, writeApplyFile } from "./export";
export { omitForeignRefs } from "./foreign-refs";
export { ApplyFileError, readApplyFile, type ReadFile } from "./file";
export type { ApplyFile } from "./model";
export { monitorsIn } from "./pointers";
export { applyFile } from "./reconcile";
export type { ApplyOutcome } from "./run";
export { configFileSchema } from "./schema";
