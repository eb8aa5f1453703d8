/**
 * Imports from other products. Importers read a source into one form (`source.ts`); the import decides what each
 * object becomes, writes it, and reports it.
 */
export { importFound } from "./import";
export { readHealthchecks } from "./healthchecks/read";
export { IMPORT_PARTS, type ImportOptions } from "./run";
export { type Started, startedInWords, startImport } from "./start";
export type { Found } from "./source";
export { findImport, findSourceOf, listImports } from "./store";
export { verdictsInWords } from "./words";
