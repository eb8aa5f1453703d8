import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { type FieldError, fieldErrors } from "../../errors";
import { toRef } from "../../kernel/text";
import { judgePageInput, type PageInput } from "../pages";
import { ApplyFile, type FilePage } from "./model";

/** One broken bracket can make a parser complain of every line behind it. */
const SYNTAX_ERRORS_SHOWN = 10;

/** Where something stands in a file: keys and indexes from its root. */
export type Path = readonly (string | number)[];

/** A file that was read and found whole, and the line that each of its parts stands on. */
export interface ReadFile {
  content: ApplyFile;
  lineOf(path: Path): number;
}

/** A file with something wrong in it: each problem with its line, counted from 1. */
export class ApplyFileError extends Error {
  readonly problems: readonly { line: number; detail: string }[];

  constructor(problems: readonly { line: number; detail: string }[]) {
    const sorted = [...problems].sort((a, b) => a.line - b.line);
    super(sorted.map(({ line, detail }) => `line ${line}: ${detail}`).join("\n"));
    this.name = "ApplyFileError";
    this.problems = sorted;
  }
}

/** Reads a declarative file. Throws an ApplyFileError that lists all that is wrong with it. */
export function readApplyFile(text: string): ReadFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0) {
    throw new ApplyFileError(
      broken
        .slice(0, SYNTAX_ERRORS_SHOWN)
        .map((error) => ({ line: lines.linePos(error.pos[0]).line, detail: error.message })),
    );
  }
  const lineOf = (path: Path) => lines.linePos(offsetOf(document, path)).line;
  const content = toPlain(document);
  const fields = [...fieldErrors(ApplyFile, content)];
  if (fields.length === 0) fields.push(...judgeMeaning(content as ApplyFile));
  if (fields.length > 0) {
    throw new ApplyFileError(
      fields.map(({ pointer, detail }) => {
        const path = pathOf(pointer);
        return { line: lineOf(path), detail: `${nameOf(path)} ${detail}` };
      }),
    );
  }
  return { content: content as ApplyFile, lineOf };
}

/** The document as plain values. An alias that leads nowhere, or to too much, is only found here. */
function toPlain(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new ApplyFileError([{ line: 1, detail: (error as Error).message }]);
  }
}

/** The ref of something in a file: the one that it gives, or one made from its name. */
export function refOf(item: { ref?: string; name: string }): string {
  return item.ref ?? toRef(item.name);
}

/** What the schema cannot see: reserved slugs, unknown zones, names without a ref, doubles. */
function judgeMeaning(content: ApplyFile): FieldError[] {
  const fields: FieldError[] = [];
  for (const [index, page] of content.pages.entries()) {
    const at = `#/pages/${index}`;
    for (const { pointer, detail } of judgePageInput(pageFields(page))) {
      fields.push({ pointer: at + pointer.slice(1), detail });
    }
    const components = [
      ...(page.components ?? []).map((item, i) => ({ item, at: `${at}/components/${i}` })),
      ...(page.groups ?? []).flatMap((group, g) =>
        (group.components ?? []).map((item, i) => ({
          item,
          at: `${at}/groups/${g}/components/${i}`,
        })),
      ),
    ];
    const groups = (page.groups ?? []).map((item, i) => ({ item, at: `${at}/groups/${i}` }));
    fields.push(...judgeRefs(groups), ...judgeRefs(components));
  }
  const pages = content.pages.map((item, i) => ({ item, at: `#/pages/${i}` }));
  fields.push(...judgeRefs(pages));
  fields.push(...judgeDoubles(pages, ({ slug }) => slug, "slug"));
  for (const { at } of pages.filter(({ item }) => item.default === true).slice(1)) {
    fields.push({ pointer: `${at}/default`, detail: "is true for another page above already" });
  }
  return fields;
}

/** A ref that something in the file has cannot be the old one of something else in it. */
function judgeRenames(
  items: readonly { item: { ref?: string; name: string; previous_refs?: string[] }; at: string }[],
): FieldError[] {
  const present = new Set(items.map(({ item }) => refOf(item)));
  return items.flatMap(({ item, at }) =>
    (item.previous_refs ?? [])
      .filter((ref) => ref !== refOf(item) && present.has(ref))
      .map((ref) => ({
        pointer: `${at}/previous_refs`,
        detail: `names ${ref}, which is the ref of something else in the file`,
      })),
  );
}

function judgeRefs<T extends { ref?: string; name: string; previous_refs?: string[] }>(
  items: readonly { item: T; at: string }[],
): FieldError[] {
  const nameless = items
    .filter(({ item }) => refOf(item) === "")
    .map(({ at }) => ({
      pointer: `${at}/name`,
      detail: "has no letter a to z and no digit to make a ref from: give it a ref",
    }));
  return [...nameless, ...judgeDoubles(items, refOf, "ref"), ...judgeRenames(items)];
}

function judgeDoubles<T>(
  items: readonly { item: T; at: string }[],
  nameIn: (item: T) => string,
  what: string,
): FieldError[] {
  const seen = new Set<string>();
  return items.flatMap(({ item, at }) => {
    const name = nameIn(item);
    if (name === "" || !seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ pointer: at, detail: `has the ${what} ${name}, which another above it has` }];
  });
}

/** The fields of a page in a file that are the page's own. */
export function pageFields(page: FilePage): PageInput {
  const { groups: _g, components: _c, previous_refs: _r, previous_slugs: _s, ...fields } = page;
  return fields;
}

function pathOf(pointer: string): (string | number)[] {
  return pointer
    .slice(1)
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function nameOf(path: Path): string {
  const text = path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
  return text === "" ? "the file" : text;
}

/** Where a part begins: its key if it has one, and what stands around it if it is not there. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = document.getIn(path.slice(0, length - 1), true);
    const step = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => isScalar(key) && key.value === step);
      if (pair && isNode(pair.key)) return pair.key.range?.[0] ?? 0;
    }
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isNode(node)) return node.range?.[0] ?? 0;
  }
  return document.contents?.range?.[0] ?? 0;
}
