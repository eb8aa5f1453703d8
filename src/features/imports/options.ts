import { RefText } from "../../domain/refs";
import { type FieldError, schemaErrors } from "../../errors";
import { IMPORT_PARTS, type ImportOptions } from "./run";

/** Options of every import as people type them; undefined for the default. */
export interface TypedOptions {
  source: string | undefined;
  only: string | undefined;
  /** Slug, or `none`. */
  internal_page: string | undefined;
  isPaused: boolean;
  isDryRun: boolean;
  takesDomains: boolean;
}

/** Returns the options of an import, and their errors by the names of the fields. */
export function parseOptions(typed: TypedOptions): {
  options: ImportOptions;
  errors: FieldError[];
} {
  const { source = "default", only, internal_page: page = "internal", ...switches } = typed;
  const [fault] = schemaErrors(RefText, source);
  const part = IMPORT_PARTS.find((each) => each === only);
  const errors = fault ? [{ pointer: "#/source", detail: fault.detail }] : [];
  if (only !== undefined && !part) {
    errors.push({ pointer: "#/only", detail: `is one of ${IMPORT_PARTS.join(", ")}` });
  }
  const internalPage = page === "none" ? null : page;
  return { options: { ...switches, source, only: part, internalPage }, errors };
}
