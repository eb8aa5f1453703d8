import { Document, isMap, isPair, isScalar, isSeq, type Pair, Scalar, visit } from "yaml";
import type { Reader } from "../../db/statements";
import { exportTemplates } from "../incident-templates/file";
import { exportSchedules } from "../maintenance/schedules/file";
import { exportMonitors } from "../monitors/file";
import { exportPage } from "../pages/file";
import { listAllPages, type PageRow } from "../pages/store";
import { exportWebhooks } from "../webhooks/file";
import type { ApplyFile } from "./schema";

/**
 * Exports the current state as a configuration file: objects in their order with refs, oldest page
 * first, without default values, with null for secrets. Applying it to the same state changes nothing. The
 * sample page is left out, and so are monitors that this version cannot check. `page` limits the export to one
 * page, without a word on the default page, so that the first page of another server becomes it. Everything is
 * read from `reader`, which should be a transaction, so that no change comes in between.
 */
export function exportFile(
  reader: Reader,
  { page }: { page?: PageRow | undefined } = {},
): ApplyFile {
  const rows = (page ? [page] : listAllPages(reader, {}).toReversed()).filter(
    (row) => !row.isSample,
  );
  const monitors = exportMonitors(reader, rows);
  const webhooks = exportWebhooks(reader, rows, { every: !page });
  const templates = exportTemplates(reader, rows, { every: !page });
  const schedules = exportSchedules(reader, rows);
  return {
    pages: rows.map((row) =>
      exportPage(reader, page ? { ...row, isDefault: false } : row, monitors),
    ),
    ...(page || monitors.alone.length === 0 ? {} : { monitors: monitors.alone }),
    ...(webhooks.length > 0 && { webhooks }),
    ...(templates.length > 0 && { incident_templates: templates }),
    ...(schedules.length > 0 && { maintenance_schedules: schedules }),
  };
}

/** Writes a file as YAML that `readApplyFile` reads back, under lines of comment. */
export function writeApplyFile(file: ApplyFile, comment: readonly string[]): string {
  const document = new Document(file, {
    aliasDuplicateObjects: false,
    // Quotes texts that YAML 1.1 reads as dates or booleans, such as 2026-01-01 and yes.
    compat: "yaml-1.1",
  });
  // A space before each line, as in handwritten comments.
  document.commentBefore = comment.map((line) => ` ${line}`).join("\n");
  visit(document, {
    Pair: (_key, pair) => setApart(pair),
    Scalar(key, scalar, path) {
      quoteBlank(scalar);
      const field = path.findLast(isPair)?.key;
      const isOneLine = key !== "key" && isScalar(field) && ONE_LINE.has(field.value);
      settleSeparators(scalar, isOneLine);
    },
  });
  const text = document.toString({
    // Lines are not folded, so that editing a text changes one line.
    lineWidth: 0,
    // Quoted texts are not broken either, since the writer loses a line of a single space.
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
  return text.replace(SEPARATORS, (separator) => ESCAPES[separator] ?? separator);
}

/** Characters that end a line of YAML 1.1 and not of 1.2, and their escapes in double quotes. */
const SEPARATORS = /[\u0085\u2028\u2029]/g;

const ESCAPES: Readonly<Record<string, string>> = {
  "\u0085": "\\N",
  "\u2028": "\\L",
  "\u2029": "\\P",
};

/** Fields whose texts are on one line. Earlier versions accepted separators of lines in them. */
const ONE_LINE: ReadonlySet<unknown> = new Set(["name", "title", "from_name", "group", "tags"]);

/** Adds an empty line before each page and group except the first. */
function setApart({ key, value }: Pair): void {
  const isList = isScalar(key) && (key.value === "pages" || key.value === "groups") && isSeq(value);
  for (const item of isList ? value.items.slice(1) : []) if (isMap(item)) item.spaceBefore = true;
}

/** Quotes texts of white space only, since a reader cannot see their indentation. */
function quoteBlank(scalar: Scalar): void {
  const { value } = scalar;
  if (typeof value === "string" && value.trim() === "") scalar.type = Scalar.QUOTE_DOUBLE;
}

/** Replaces separators of lines in a text on one line, and quotes other texts that contain any. */
function settleSeparators(scalar: Scalar, isOneLine: boolean): void {
  const { value } = scalar;
  if (typeof value !== "string" || value.search(SEPARATORS) < 0) return;
  if (isOneLine) scalar.value = value.replace(SEPARATORS, " ");
  else scalar.type = Scalar.QUOTE_DOUBLE;
}
