import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type Node,
} from "yaml";
import type { FieldError } from "../../base/errors";
import { schemaErrors } from "../../base/validation";
import { ANY_MONITOR } from "../../base/webhook";
import { parseYamlText, YamlTooLarge } from "../../base/yaml";
import type { FileComponent } from "../components/file";
import { mapLocationToken, validateLocationToken } from "../locations/file";
import { mapDeclaredSecrets, validateDeclaredMonitor } from "../monitors/declared";
import type { FileMonitor } from "../monitors/file";
import { type FilePage, mapPagePassword, pageFields, validatePagePassword } from "../pages/file";
import { validatePageInput } from "../pages/pages";
import { mapWebhookSecrets, validateDeclaredWebhook } from "../webhooks/file";
import { ApplyFileError, type Named, nameOf, type Path, pathOf, refOf } from "./run";
import { ApplyFile, EXTENSION } from "./schema";

/**
 * Maximum number of syntax errors shown, since one broken bracket can cause one per following line.
 */
const SYNTAX_ERRORS_SHOWN = 10;

/** A valid file, and the lines of its parts. */
export interface ReadFile {
  content: ApplyFile;
  lineOf(path: Path): number;
}

/**
 * Reads a configuration file, whose secrets may refer to variables of `env`. Throws an
 * ApplyFileError with all errors.
 */
export function readApplyFile(text: string, env: Environment = {}): ReadFile {
  const lines = new LineCounter();
  const document = parse(text, lines);
  throwIfUnreadable(document, text, (offset) => lines.linePos(offset).line);
  const lineOf = (path: Path) => lines.linePos(offsetOf(document, path)).line;
  const plain = withoutExtensions(toPlain(document));
  if (plain === null) {
    throw new ApplyFileError([
      { line: 1, detail: "the file is empty: it needs at least pages: []" },
    ]);
  }
  throwIfInvalid(schemaErrors(ApplyFile, plain), lineOf);
  const errors: FieldError[] = [];
  const content = resolveReferences(plain as ApplyFile, env, errors);
  // Validated again with the secrets, which errors never contain.
  const validationErrors = [...schemaErrors(ApplyFile, content), ...validateSemantics(content)];
  const unresolved = new Set(errors.map(({ pointer }) => pointer));
  throwIfInvalid(
    [...errors, ...validationErrors.filter(({ pointer }) => !unresolved.has(pointer))],
    lineOf,
  );
  return { content, lineOf };
}

function parse(text: string, lineCounter: LineCounter): Document.Parsed {
  try {
    return parseYamlText(text, { lineCounter, prettyErrors: false, merge: true });
  } catch (error) {
    if (!(error instanceof YamlTooLarge)) throw error;
    const { line, message: detail } = error;
    throw new ApplyFileError([{ line, detail }]);
  }
}

/** Throws the syntax errors of a document. `lineAt` returns the line at an offset. */
function throwIfUnreadable(
  document: Document,
  text: string,
  lineAt: (offset: number) => number,
): void {
  const errors = [...document.errors, ...document.warnings].map(({ pos, message: detail }) => ({
    line: lineAt(pos[0]),
    detail,
  }));
  const [first] = errors;
  if (!first) return;
  // The brace of a variable in a map or list between brackets causes many errors.
  const [variable] = UNQUOTED.exec(text.split("\n")[first.line - 1] ?? "") ?? [];
  if (variable !== undefined && first.detail.includes("flow-map-start")) {
    const detail = `${variable} needs quotes between { and } or [ and ]: "${variable}"`;
    throw new ApplyFileError([{ line: first.line, detail }]);
  }
  throw new ApplyFileError(errors.slice(0, SYNTAX_ERRORS_SHOWN));
}

function throwIfInvalid(fields: readonly FieldError[], lineOf: ReadFile["lineOf"]): void {
  if (fields.length === 0) return;
  throw new ApplyFileError(
    fields.map(({ pointer, detail }) => {
      const path = pathOf(pointer);
      return { line: lineOf(path), detail: `${nameOf(path) || "the file"} ${detail}` };
    }),
  );
}

/**
 * Returns the document as plain values. Aliases that lead nowhere or to too much data fail only
 * here.
 */
function toPlain(document: Document): unknown {
  try {
    requireFewAliased(document);
    // The limit of the library is on the number of aliases, of which each monitor may have one.
    return document.toJS({ maxAliasCount: -1 });
  } catch (error) {
    throw new ApplyFileError([{ line: 1, detail: (error as Error).message }]);
  }
}

/** Maximum number of keys and values for which all aliases of a file stand. */
const ALIASED_MAX = 1_000_000;

/** Throws if the aliases of a document stand for too much, such as by aliases of aliases. */
function requireFewAliased({ contents }: Document): void {
  const sizes = new Map<string, number>();
  let aliased = 0;

  /** Returns the number of keys and values of a node. Aliases are those of the last anchor before them. */
  function sizeOf(node: unknown): number {
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value);
    if (isAlias(node)) {
      const size = sizes.get(node.source) ?? 1;
      aliased += size;
      return size;
    }
    const { anchor } = (node ?? {}) as Partial<Node>;
    // An alias within its own anchor stands for a value without an end.
    if (anchor !== undefined) sizes.set(anchor, Number.POSITIVE_INFINITY);
    const parts = isCollection(node) ? node.items : [];
    const size = parts.reduce((sum: number, part) => sum + sizeOf(part), 1);
    if (anchor !== undefined) sizes.set(anchor, size);
    return size;
  }

  sizeOf(contents);
  if (aliased > ALIASED_MAX) throw new Error("the aliases stand for too many values");
}

/** Keys of the lists of objects in a file. */
const LISTS: ReadonlySet<string> = new Set([
  "pages",
  "groups",
  "components",
  "locations",
  "monitors",
  "webhooks",
  "incident_templates",
  "maintenance_schedules",
]);

/** Returns the file without the `x-…` keys of its objects. Those in a config, such as headers, are not its own. */
function withoutExtensions(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !EXTENSION.test(key))
      .map(([key, part]) => [
        key,
        LISTS.has(key) && Array.isArray(part) ? part.map(withoutExtensions) : (part as unknown),
      ]),
  );
}

/** Variables that secrets in a file may refer to. */
type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that is not directly between quotes. */
const UNQUOTED = /(?<!["'$])\$\{[A-Za-z_][A-Za-z0-9_]*\}/;

// A preceding second dollar sign makes it plain text.
const REFERENCE = /\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Returns a file in which secrets that contain `${NAME}` have the values of the variables;
 * `$${NAME}` stands for the text `${NAME}`. Adds an error to `errors` for each variable that is
 * unset or empty, as it is if a vault lacks the secret.
 */
function resolveReferences(file: ApplyFile, env: Environment, errors: FieldError[]): ApplyFile {
  const resolve = (ownerPointer: string) => (text: string, pointer: string) =>
    text.replace(REFERENCE, (whole: string, isText: string | undefined, name: string) => {
      if (isText) return whole.slice(1);
      const value = env[name];
      if (value) return value;
      const detail = `refers to the variable ${name}, which is ${value === "" ? "empty" : "not set"}`;
      errors.push({ pointer: ownerPointer + pointer.slice("#".length), detail });
      return whole;
    });
  const pages = withPointers(file.pages, "#/pages").map(({ item, pointer }) =>
    mapPagePassword(item, resolve(pointer)),
  );
  const locations = withPointers(file.locations, "#/locations").map(({ item, pointer }) =>
    mapLocationToken(item, resolve(pointer)),
  );
  const open = { ...file, pages, ...(file.locations && { locations }) };
  const resolved = withMonitors(open, ({ item, pointer }) =>
    mapDeclaredSecrets(item, resolve(pointer)),
  );
  if (!file.webhooks) return resolved;
  const webhooks = withPointers(file.webhooks, "#/webhooks").map(({ item, pointer }) =>
    mapWebhookSecrets(item, resolve(pointer)),
  );
  return { ...resolved, webhooks };
}

/**
 * Returns the offset of a part: of its key if it has one, or of the part around it if it is
 * missing.
 */
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

/** An item of the file with its JSON pointer, such as `#/pages/0`. */
interface WithPointer<Item> {
  item: Item;
  pointer: string;
}

/** Returns the items of a list with their pointers. */
function withPointers<Item>(
  items: readonly Item[] | undefined,
  pointer: string,
): WithPointer<Item>[] {
  return (items ?? []).map((item, index) => ({ item, pointer: `${pointer}/${index}` }));
}

/** Returns the components of a page, including those of its groups. */
function componentsIn({
  item: page,
  pointer,
}: WithPointer<FilePage>): WithPointer<FileComponent>[] {
  return [
    ...withPointers(page.components, `${pointer}/components`),
    ...withPointers(page.groups, `${pointer}/groups`).flatMap((group) =>
      withPointers(group.item.components, `${group.pointer}/components`),
    ),
  ];
}

/** Returns the monitors of a file: those of its components, then those without components. */
export function monitorsIn(file: ApplyFile): WithPointer<FileMonitor>[] {
  const components = withPointers(file.pages, "#/pages").flatMap(componentsIn);
  return [
    ...components.flatMap(({ item, pointer }) =>
      withPointers(item.monitors, `${pointer}/monitors`),
    ),
    ...withPointers(file.monitors, "#/monitors"),
  ];
}

/** Returns the file with each monitor replaced by what `change` returns. */
export function withMonitors(
  file: ApplyFile,
  change: (monitor: WithPointer<FileMonitor>) => FileMonitor,
): ApplyFile {
  const changed = new Map(monitorsIn(file).map((one) => [one.pointer, change(one)]));
  const monitorsOf = <Owner extends { monitors?: FileMonitor[] }>({
    item,
    pointer,
  }: WithPointer<Owner>) => {
    const own = withPointers(item.monitors, `${pointer}/monitors`);
    if (own.length === 0) return item;
    return { ...item, monitors: own.map((one) => changed.get(one.pointer) ?? one.item) };
  };
  const componentsOf = <Owner extends { components?: FileComponent[] }>(
    owner: WithPointer<Owner>,
  ) => {
    const own = withPointers(owner.item.components, `${owner.pointer}/components`);
    return own.length === 0 ? owner.item : { ...owner.item, components: own.map(monitorsOf) };
  };
  const pages = withPointers(file.pages, "#/pages").map((page) => {
    const groups = withPointers(page.item.groups, `${page.pointer}/groups`);
    const item = componentsOf(page);
    return groups.length === 0 ? item : { ...item, groups: groups.map(componentsOf) };
  });
  return monitorsOf({ item: { ...file, pages }, pointer: "#" });
}

/**
 * Returns errors that the schema cannot express: reserved slugs, unknown time zones, bad URLs,
 * names without a ref, duplicates.
 */
function validateSemantics(content: ApplyFile): FieldError[] {
  const pages = withPointers(content.pages, "#/pages");
  const monitors = monitorsIn(content);
  const webhooks = withPointers(content.webhooks, "#/webhooks");
  const locations = withPointers(content.locations, "#/locations");
  return [
    ...pages.flatMap(validatePage),
    ...validateRefs(pages),
    ...validateRefs(locations),
    ...locations.flatMap(({ item, pointer }) => withinItem(pointer, validateLocationToken(item))),
    ...validateRefs(monitors),
    ...monitors.flatMap(({ item, pointer }) => withinItem(pointer, validateDeclaredMonitor(item))),
    ...validateRefs(webhooks),
    ...webhooks.flatMap(({ item, pointer }) => withinItem(pointer, validateDeclaredWebhook(item))),
    ...validateRefs(withPointers(content.incident_templates, "#/incident_templates")),
    ...validateRefs(withPointers(content.maintenance_schedules, "#/maintenance_schedules")),
    ...validateUnique(pages, ({ slug }) => slug, "slug"),
    ...pages
      .filter(({ item }) => item.default === true)
      .slice(1)
      .map(({ pointer }) => ({
        pointer: `${pointer}/default`,
        detail: "is already true for an earlier page",
      })),
  ];
}

function validatePage({ item: page, pointer }: WithPointer<FilePage>): FieldError[] {
  return [
    ...withinItem(pointer, [...validatePageInput(pageFields(page)), ...validatePagePassword(page)]),
    ...validateRefs(withPointers(page.groups, `${pointer}/groups`)),
    ...validateRefs(componentsIn({ item: page, pointer })),
  ];
}

/** Makes the pointers of an item's errors, such as `#/name`, start at the root of the file. */
function withinItem(itemPointer: string, errors: readonly FieldError[]): FieldError[] {
  return errors.map(({ pointer, detail }) => ({
    pointer: itemPointer + pointer.slice("#".length),
    detail,
  }));
}

/** Returns errors of items without a ref, of refs that occur twice, and of wrong earlier refs. */
function validateRefs<Item extends Named>(items: readonly WithPointer<Item>[]): FieldError[] {
  const withoutRef = items
    .filter(({ item }) => refOf(item) === "")
    .map(({ item, pointer }) =>
      item.name === undefined
        ? { pointer, detail: "must have a ref, or a description to make one from" }
        : {
            pointer: `${pointer}/ref`,
            detail: "is required, such as api, since none can be made from the name",
          },
    );
  return [...withoutRef, ...validateUnique(items, refOf, "ref"), ...validateEarlierRefs(items)];
}

/** Returns errors of items whose `previous_refs` name the ref of another item. */
function validateEarlierRefs(items: readonly WithPointer<Named>[]): FieldError[] {
  const refs = new Set(items.map(({ item }) => refOf(item)));
  return items.flatMap(({ item, pointer }) =>
    (item.previous_refs ?? [])
      .filter((ref) => ref !== refOf(item) && refs.has(ref))
      .map((ref) => ({
        pointer: `${pointer}/previous_refs`,
        detail: `names ${ref}, which is the ref of another object in the file`,
      })),
  );
}

/** Returns an error for each item whose value an earlier item has. `noun` names the value. */
function validateUnique<Item>(
  items: readonly WithPointer<Item>[],
  valueOf: (item: Item) => string,
  noun: string,
): FieldError[] {
  const seen = new Set<string>();
  return items.flatMap(({ item, pointer }) => {
    const value = valueOf(item);
    // Missing refs have an error of their own.
    if (value === "" || !seen.has(value)) {
      seen.add(value);
      return [];
    }
    return [{ pointer, detail: `has the same ${noun} as an earlier one: ${value}` }];
  });
}

/** A file that can be applied to any server, and its difference from the file before. */
interface SelfContained {
  file: ApplyFile;
  /** Descriptions of the omitted references, one for each field. */
  omitted: string[];
}

/**
 * Omits references to monitors and components that a file does not contain, such as one of a single page. A
 * webhook for such monitors alone is then for none, since without the field it would be for all.
 */
export function omitForeignRefs(file: ApplyFile): SelfContained {
  const monitors = new Set(monitorsIn(file).map(({ item }) => refOf(item)));
  const components = new Set(
    withPointers(file.pages, "#/pages").flatMap((page) =>
      componentsIn(page).map(({ item }) => `${page.item.slug}/${refOf(item)}`),
    ),
  );
  const omitted: string[] = [];
  const keep = (names: readonly string[], known: ReadonlySet<string>, field: string) => {
    const foreign = names.filter((name) => !known.has(name));
    if (foreign.length > 0) omitted.push(`${field} ${foreign.join(", ")}`);
    return names.filter((name) => known.has(name));
  };
  const { webhooks, ...others } = withMonitors(file, ({ item }) => {
    const { components: watched = [], depends_on: parents = [], ...rest } = item;
    const owner = `monitor ${refOf(item)}:`;
    const keptComponents = keep(watched, components, `${owner} components`);
    const keptParents = keep(parents, monitors, `${owner} depends_on`);
    return {
      ...rest,
      ...(keptComponents.length > 0 && { components: keptComponents }),
      ...(keptParents.length > 0 && { depends_on: keptParents }),
    };
  });
  const kept = webhooks?.map((webhook) => {
    const { monitors: selected } = webhook;
    if (!selected || selected.includes(ANY_MONITOR)) return webhook;
    return {
      ...webhook,
      monitors: keep(selected, monitors, `webhook ${refOf(webhook)}: monitors`),
    };
  });
  return { file: { ...others, ...(kept && { webhooks: kept }) }, omitted };
}
