/*
 * The configuration file as a whole: `applyFile` brings the installation into the state of a file, `exportFile` writes the
 * file of an installation. `features/<noun>/file.ts` has the part of each noun.
 */
import { Document, isMap, isPair, isScalar, isSeq, type Pair, Scalar, visit } from "yaml";
import { lazy } from "../../base/lazy";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { applyComponents } from "../components/file";
import { applyTemplates, exportTemplates } from "../incident-templates/file";
import type { TemplateRow } from "../incident-templates/store";
import { listAllTemplates } from "../incident-templates/templates";
import { applyLocations, exportLocations, pruneLocations } from "../locations/file";
import { applySchedules, exportSchedules } from "../maintenance/schedules/file";
import { listSchedules, type ScheduleRow } from "../maintenance/schedules/store";
import { listStoredMonitors } from "../monitors/declared";
import { applyMonitors, exportMonitors } from "../monitors/file";
import type { MonitorRow } from "../monitors/store";
import { deletePage, type Exemptions } from "../pages/deletion";
import { applyPage, exportPage, findDesiredPage, freeMovedDomains } from "../pages/file";
import { listAllPages, type PageRow } from "../pages/store";
import { applyWebhooks, exportWebhooks, listStoredWebhooks } from "../webhooks/file";
import type { WebhookRow } from "../webhooks/store";
import { monitorsIn, type ReadFile } from "./read";
import { type ApplyOptions, type ApplyOutcome, ApplyRun, type Named, RowsByRef } from "./run";
import type { ApplyFile } from "./schema";

/**
 * Applies a file: creates and changes pages, groups, components, locations, monitors, webhooks, incident templates and
 * maintenance schedules, inside one transaction. Fields that the file leaves out get their defaults. Statuses
 * are never changed, and objects that were not created by `apply` stay if the file lacks them. Applying it again
 * changes nothing.
 *
 * Throws an ApplyFileError with the line of an entry that cannot be applied.
 */
export function applyFile(ctx: Ctx, tx: Tx, file: ReadFile, options: ApplyOptions): ApplyOutcome {
  const run = new ApplyRun(ctx, tx, file.lineOf, options);
  const { content } = file;
  // First, so that entries can take the slugs and refs of deleted pages.
  handleLeftoverPages(run, content);
  freeMovedDomains(run, content.pages);
  const matched = new Set<string>();
  const { pages, monitors = [], webhooks = [], incident_templates = [] } = content;
  const { maintenance_schedules: schedules = [] } = content;
  const monitorLists = pages.flatMap((desired, index) => {
    const path = ["pages", index];
    const page = applyPage(run, desired, matched, path);
    return applyComponents(run, page, desired, path);
  });
  const storedWebhooks = listStoredWebhooks(tx);
  const locations = applyLocations(run, content.locations ?? []);
  applyMonitors(run, [...monitorLists, { monitors, path: ["monitors"], componentId: null }]);
  pruneLocations(run, locations);
  applyWebhooks(run, webhooks, storedWebhooks);
  applyTemplates(run, incident_templates);
  applySchedules(run, schedules);
  return run.outcome;
}

function handleLeftoverPages(run: ApplyRun, content: ApplyFile): void {
  const { tx } = run;
  const none = new Set<string>();
  const exemptions = exemptionsOf(run, content);
  const desired = new Set(content.pages.map((page) => findDesiredPage(tx, page, none)?.id));
  for (const { id, slug, managedBy } of listAllPages(tx, {})) {
    if (managedBy !== "apply" || desired.has(id)) continue;
    run.handleLeftover("page", slug, () => deleteLeftoverPage(run, id, exemptions));
  }
}

/** Deletes a page that the file no longer has, and records the objects that end with it. */
function deleteLeftoverPage(run: ApplyRun, id: string, exemptions: Exemptions): void {
  const { ctx, tx, options } = run;
  const effects = deletePage(ctx, tx, id, options.actor, exemptions);
  const { paused, webhooks, templates, schedules } = effects;
  for (const { ref: label } of paused) {
    const fields = [{ field: "paused", from: false, to: true }];
    run.note({ kind: "update", noun: "monitor", label, fields });
  }
  for (const { ref: label } of webhooks) {
    run.note({ kind: "delete", noun: "webhook", label, fields: [] });
  }
  for (const { ref: label } of templates) {
    run.note({ kind: "delete", noun: "incident template", label, fields: [] });
  }
  for (const { ref: label } of schedules) {
    run.note({ kind: "delete", noun: "maintenance schedule", label, fields: [] });
  }
}

/**
 * Matches objects that the file declares or that an earlier apply created, since
 * later steps change or prune them. Rows are read once, before the first deletion.
 */
function exemptionsOf({ tx }: ApplyRun, content: ApplyFile): Exemptions {
  const matcherOf = (items: () => readonly Named[], list: () => readonly { row: Exemptible }[]) => {
    const declared = lazy(() => {
      const rows = new RowsByRef(list().map(({ row }) => row));
      return new Set(items().map((item) => rows.match(item, []).row?.id));
    });
    return ({ managedBy, id }: Exemptible) => managedBy === "apply" || declared().has(id);
  };
  return {
    monitor: matcherOf(
      () => monitorsIn(content).map(({ item }) => item),
      () => listStoredMonitors(tx),
    ),
    webhook: matcherOf(
      () => content.webhooks ?? [],
      () => listStoredWebhooks(tx),
    ),
    template: matcherOf(
      () => content.incident_templates ?? [],
      () => listAllTemplates(tx),
    ),
    schedule: matcherOf(
      () => content.maintenance_schedules ?? [],
      () => listSchedules(tx),
    ),
  };
}

type Exemptible = Pick<
  WebhookRow | MonitorRow | TemplateRow | ScheduleRow,
  "id" | "ref" | "managedBy"
>;

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
  const locations = page ? [] : exportLocations(reader);
  return {
    pages: rows.map((row) =>
      exportPage(reader, page ? { ...row, isDefault: false } : row, monitors),
    ),
    ...(locations.length > 0 && { locations }),
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
