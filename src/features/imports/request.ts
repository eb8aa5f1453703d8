import type { Actor } from "../../base/actor";
import type { ImportReport } from "../../base/import-report";
import type { OptionValues, SourceKind } from "../../base/import-sources";
import type { FieldError } from "../../base/errors";
import type { ImportOptions } from "./run";

/** Import that the server asks another process for. It holds secrets. */
export interface ImportRequest {
  kind: SourceKind;
  /** Path, or URL. */
  place: string;
  /** Name of the place as people know it. */
  placeName: string;
  values: OptionValues;
  options: ImportOptions;
  author: Actor;
}

/** Reason for which an import wrote nothing. */
export interface ImportFailure {
  /** One or more sentences. */
  message: string;
  /** Errors of options. */
  fields: readonly FieldError[];
}

/** Line of the answer: the progress of an import, in words, or its end. */
export type ImportMessage =
  { progress: string } | { report: ImportReport } | { failure: ImportFailure };

/** End of an import. */
export type ImportResult = Exclude<ImportMessage, { progress: string }>;

/** Runs an import until the signal aborts. Never rejects. */
export type RunImport = (
  request: ImportRequest,
  progress: (text: string) => void,
  signal: AbortSignal,
) => Promise<ImportResult>;
