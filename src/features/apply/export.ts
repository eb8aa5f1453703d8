import { Document, isMap, isScalar, isSeq, type Pair, Scalar, visit } from "yaml";
import type { Reader } from "../../db";
import { type ComponentRow, listComponentsOfPage, listGroups } from "../components";
import { listAllPages, type PageRow } from "../pages";
import { changedOnly, differences } from "./difference";
import { type ExportedMonitors, exportMonitors } from "./export-monitors";
import { exportWebhooks } from "./export-webhooks";
import {
  presentComponentFields,
  presentGroupFields,
  presentPageFields,
  wantedComponent,
  wantedGroup,
  wantedPage,
} from "./fields";
import type { ApplyFile, FileComponent, FilePage } from "./model";

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
  const least = wantedPage({ slug, name }, { ref, isDefault: false });
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
    const own = saying(fields, wantedGroup({ name: group.name }, group.ref));
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
    ...saying(presentComponentFields(row), wantedComponent({ name }, ref)),
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
