import { Document, isMap, isScalar, isSeq, type Pair, Scalar, visit } from "yaml";
import type { Reader } from "../../db";
import { type ComponentRow, listComponentsOfPage, listGroups } from "../components";
import { listAllPages, type PageRow } from "../pages";
import { declareMonitor, listStoredMonitors, type StoredMonitor } from "../monitors";
import { declareWebhook, listStoredWebhooks } from "../webhooks";
import { changedOnly, differences } from "./difference";
import {
  presentComponentFields,
  presentGroupFields,
  presentPageFields,
  desiredComponent,
  desiredGroup,
  desiredPage,
} from "./fields";
import type { ApplyFile, FileComponent, FilePage, FileMonitor, FileWebhook } from "./model";
import { readComponentRefs } from "./component-refs";

/**
 * Exports the current state as a declarative file: objects in their order and with refs, oldest
 * page first, without default values, with null for secrets. Applied to the same state it changes
 * nothing. The sample page of a first run is left out. * `page` narrows it to one page. Everything
 * is read from `reader`, which should be a transaction, so that no change comes in between.
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
  return {
    pages: rows.map((row) => exportPage(reader, row, monitors)),
    ...(page || monitors.alone.length === 0 ? {} : { monitors: monitors.alone }),
    ...(webhooks.length > 0 && { webhooks }),
  };
}

function exportPage(reader: Reader, row: PageRow, monitors: ExportedMonitors): FilePage {
  const present = presentPageFields(row);
  const { slug, name, ref } = present;
  const least = desiredPage({ slug, name }, { ref, isDefault: false });
  const byGroup = Map.groupBy(
    listComponentsOfPage(reader, { pageId: row.id }),
    ({ groupId }) => groupId,
  );
  const componentsIn = (groupId: string | null) => {
    const components = byGroup.get(groupId) ?? [];
    return components.length > 0
      ? { components: components.map((one) => exportComponent(one, monitors)) }
      : {};
  };
  const groups = listGroups(reader, { pageId: row.id }).map((group) => {
    const fields = presentGroupFields(group);
    const own = saying(fields, desiredGroup({ name: group.name }, group.ref));
    return { name: group.name, ref: group.ref, ...own, ...componentsIn(group.id) };
  });
  return {
    slug,
    name,
    ref,
    ...saying(present, least),
    ...componentsIn(null),
    ...(groups.length > 0 ? { groups } : {}),
  };
}

function exportComponent(row: ComponentRow, { below }: ExportedMonitors): FileComponent {
  const { id, name, ref } = row;
  const monitors = below.get(id);
  return {
    name,
    ref,
    ...saying(presentComponentFields(row), desiredComponent({ name }, ref)),
    ...(monitors ? { monitors } : {}),
  };
}

/** The fields that a file has to say, since leaving them out would make them something else. */
function saying<Fields extends object>(present: Fields, least: Fields): Partial<Fields> {
  return changedOnly(present, differences(least, present));
}

/** A declarative file as YAML that `readApplyFile` reads as the same, under lines of comment. */
export function writeApplyFile(file: ApplyFile, comment: readonly string[]): string {
  const document = new Document(file, {
    aliasDuplicateObjects: false,
    // Quotes what a reader of YAML 1.1 would take for a date or a truth, such as 2026-01-01 and yes.
    compat: "yaml-1.1",
  });
  // A space before each line, as in a comment that a person writes.
  document.commentBefore = comment.map((line) => ` ${line}`).join("\n");
  visit(document, {
    Pair: (_key, pair) => setApart(pair),
    Scalar: (_key, scalar) => quoteBlank(scalar),
  });
  return document.toString({
    // Lines are not folded: a text that is edited should differ in the line that was edited.
    lineWidth: 0,
    // Nor is a quoted text broken at its line ends, where the writer loses a line of one blank.
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
}

/** An empty line before each page and each group but the first. */
function setApart({ key, value }: Pair): void {
  const isList = isScalar(key) && (key.value === "pages" || key.value === "groups") && isSeq(value);
  for (const item of isList ? value.items.slice(1) : []) if (isMap(item)) item.spaceBefore = true;
}

/** Without a line that holds more than blanks a reader cannot tell which of them only indent. */
function quoteBlank(scalar: Scalar): void {
  const { value } = scalar;
  if (typeof value === "string" && value.trim() === "") scalar.type = Scalar.QUOTE_DOUBLE;
}

/** Monitors as a file has them. */
interface ExportedMonitors {
  /** By the id of the component that they stand below: the first in the file of those that they watch. */
  below: ReadonlyMap<string, FileMonitor[]>;
  /** Those that watch none. */
  alone: FileMonitor[];
}

/** The monitors that watch components of these pages, in the pages' order, and those that watch none. */
function exportMonitors(reader: Reader, pages: readonly PageRow[]): ExportedMonitors {
  const monitors = listStoredMonitors(reader);
  const refs = monitors.length > 0 ? readComponentRefs(reader) : undefined;
  const order = pages.flatMap((page) => componentsInOrder(reader, page));
  const places = new Map(order.map((id, place) => [id, place]));
  const placeOf = (id: string) => places.get(id) ?? order.length;
  const below = new Map<string, FileMonitor[]>();
  const alone: FileMonitor[] = [];
  for (const monitor of monitors) {
    const [first, ...others] = monitor.componentIds.toSorted((a, b) => placeOf(a) - placeOf(b));
    const exported = exportMonitor(
      monitor,
      others.map((id) => refs?.nameOf(id) ?? id),
    );
    if (first === undefined) alone.push(exported);
    else if (places.has(first)) below.set(first, [...(below.get(first) ?? []), exported]);
  }
  return { below, alone };
}

function exportMonitor({ row }: StoredMonitor, components: string[]): FileMonitor {
  const { name, ...declared } = declareMonitor(row);
  return { name, ref: row.ref, ...declared, ...(components.length > 0 && { components }) };
}

/** The ids of a page's components as a file has them: those without a group first. */
function componentsInOrder(reader: Reader, { id: pageId }: PageRow): string[] {
  const byGroup = Map.groupBy(listComponentsOfPage(reader, { pageId }), ({ groupId }) => groupId);
  const groups = [null, ...listGroups(reader, { pageId }).map(({ id }) => id)];
  return groups.flatMap((group) => (byGroup.get(group) ?? []).map(({ id }) => id));
}

/**
 * The webhooks of these pages as a file has them, oldest first, and with `every` those that are for every
 * page. A webhook of a page that is not in the file is left out.
 */
function exportWebhooks(
  reader: Reader,
  pages: readonly PageRow[],
  { every }: { every: boolean },
): FileWebhook[] {
  const slugs = new Map(pages.map(({ id, slug }) => [id, slug]));
  return listStoredWebhooks(reader).flatMap(({ row }) => {
    const slug = row.pageId === null ? null : slugs.get(row.pageId);
    if (slug === undefined || (slug === null && !every)) return [];
    return [{ ref: row.ref, ...declareWebhook(row, slug) }];
  });
}
