/**
 * Imports from other products. Importers (`importers.ts`) read a source into one form (`source.ts`); the import decides
 * what each object becomes, writes it, and reports it. Both are loaded when an import runs. The dashboard imports by
 * another process (`jobs.ts`).
 */
export { type OfferedFile, withPlaceName } from "./files";
export type { Block } from "./coming-from/blocks";
export { readComingFrom } from "./coming-from/load";
export { type ReadContext, readSource, validateOptions } from "./importers";
export type { HistoryStep } from "./history/write";
export {
  createImportJobs,
  type ImportJob,
  type ImportJobs,
  type JobPlace,
  type JobRequest,
  type JobState,
} from "./jobs";
export { parseOptions } from "./options";
export { performHistory, performImport } from "./perform";
export type {
  ImportFailure,
  ImportMessage,
  ImportRequest,
  ImportResult,
  RunImport,
} from "./request";
export { IMPORT_PARTS, type ImportOptions } from "./run";
export { countPaused, type Started, startedInWords, startImport } from "./start";
export type { Found, OutputFile } from "./source";
export { findImport, findSourceOf, listImports } from "./store";
export { hasWork, IMPORT_RUNS, verdictsInWords } from "./words";
