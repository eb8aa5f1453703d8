/* Parts of the documentation for people who come from another product. Texts may have `code`, and no other markup. */
import type { ImportKind } from "../base/import-report";

/** A name there, and what it is here. */
export type Row = readonly [there: string, here: string];

/** Table of what becomes of the objects or fields of one kind. */
export interface MappingTable {
  title: string;
  /** Names of the columns; the name of the product and “here” if omitted. */
  head?: Row;
  rows: readonly Row[];
}

/** One step, with the lines to type if there are any. */
interface Step {
  text: string;
  code?: string;
}

/** Chapter about one product. */
export interface Chapter {
  kind: ImportKind;
  /** Sentences about what moves. */
  summary: string;
  /** Concepts there and here. */
  concepts: readonly Row[];
  /** Step that makes a copy of the source. */
  copy: Step;
  /** The command without options of all imports. */
  command: string;
  /** True if the import creates monitors or webhooks, which `--paused` leaves switched off. */
  canPause: boolean;
  /** Sentences about what to compare before the move. */
  compare: string;
  /** Step that leads clients to this server, with lines for Caddy. */
  move: Step;
  stop: string;
  differences: readonly string[];
  tables: readonly MappingTable[];
}
