import { type Document, isAlias, isCollection, isPair, LineCounter, type Node } from "yaml";
import type { FieldError } from "../../base/errors";
import { schemaErrors } from "../../base/validation";
import { parseYamlText, YamlTooLarge } from "../../base/yaml";
import { mapDeclaredSecrets } from "../monitors/declared";
import { mapWebhookSecrets } from "../webhooks/declared";
import { nameOf, offsetOf, type Path, pathOf } from "./locate";
import { validateSemantics } from "./semantics";
import { ApplyFile } from "./model";
import { withPointers, withMonitors } from "./pointers";
import { EXTENSION } from "./schema";

/**
 * Maximum number of syntax errors shown, since one broken bracket can cause one per following line.
 */
const SYNTAX_ERRORS_SHOWN = 10;

/** A valid file, and the lines of its parts. */
export interface ReadFile {
  content: ApplyFile;
  lineOf(path: Path): number;
}

/** Errors of a file, each with its line, counted from 1. */
export class ApplyFileError extends Error {
  readonly problems: readonly { line: number; detail: string }[];

  constructor(problems: readonly { line: number; detail: string }[]) {
    const sorted = [...problems].sort((a, b) => a.line - b.line);
    super(sorted.map(({ line, detail }) => `line ${line}: ${detail}`).join("\n"));
    this.name = "ApplyFileError";
    this.problems = sorted;
  }
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
  const resolved = withMonitors(file, ({ item, pointer }) =>
    mapDeclaredSecrets(item, resolve(pointer)),
  );
  if (!file.webhooks) return resolved;
  const webhooks = withPointers(file.webhooks, "#/webhooks").map(({ item, pointer }) =>
    mapWebhookSecrets(item, resolve(pointer)),
  );
  return { ...resolved, webhooks };
}
