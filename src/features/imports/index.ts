/**
 * Imports from other products. Importers (`importers.ts`) read a source into one form (`source.ts`); the import decides
 * what each object becomes, writes it, and reports it. Both are loaded when an import runs.
 */
export { type ReadContext, readSource, validateOptions } from "./importers";
export type { HistoryStep } from "./history/write";
export { parseOptions } from "./options";
export { performHistory, performImport } from "./perform";
export type { ImportOptions } from "./run";
export { type Started, startedInWords, startImport } from "./start";
export type { Found } from "./source";
export { findImport, findSourceOf, listImports } from "./store";
export { verdictsInWords } from "./words";
