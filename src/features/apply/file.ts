import { type Document, LineCounter, parseDocument } from "yaml";
import { type FieldError, schemaErrors } from "../../errors";
import { mapDeclaredSecrets } from "../monitors";
import { mapWebhookSecrets } from "../webhooks";
import { nameOf, offsetOf, type Path, pathOf } from "./locate";
import { validateSemantics } from "./semantics";
import { ApplyFile } from "./model";
import { placed, withMonitors } from "./placed";

/** One broken bracket can make a parser complain of every line behind it. */
const SYNTAX_ERRORS_SHOWN = 10;

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

/**
 * Reads a declarative file; its secrets may refer to variables of `env`. Throws an ApplyFileError that lists
 * all that is wrong with it.
 */
export function readApplyFile(text: string, env: Environment = {}): ReadFile {
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
  const plain = toPlain(document);
  refuse(schemaErrors(ApplyFile, plain), lineOf);
  const errors: FieldError[] = [];
  const content = resolveReferences(plain as ApplyFile, env, errors);
  // Once more with the secrets, of which nothing is told but what is wrong.
  const validationErrors = [...schemaErrors(ApplyFile, content), ...validateSemantics(content)];
  const unresolved = new Set(errors.map(({ pointer }) => pointer));
  refuse(
    [...errors, ...validationErrors.filter(({ pointer }) => !unresolved.has(pointer))],
    lineOf,
  );
  return { content, lineOf };
}

function refuse(fields: readonly FieldError[], lineOf: ReadFile["lineOf"]): void {
  if (fields.length === 0) return;
  throw new ApplyFileError(
    fields.map(({ pointer, detail }) => {
      const path = pathOf(pointer);
      return { line: lineOf(path), detail: `${nameOf(path) || "the file"} ${detail}` };
    }),
  );
}

/** The document as plain values. An alias that leads nowhere, or to too much, is only found here. */
function toPlain(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new ApplyFileError([{ line: 1, detail: (error as Error).message }]);
  }
}

/** The variables that secrets in a file may refer to. */
type Environment = Readonly<Record<string, string | undefined>>;

// A second dollar sign before it makes it text.
const REFERENCE = /\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * A file with the values of variables in the places where its secrets say `${NAME}`; `$${NAME}` is that
 * text itself. Adds to `errors` each that is not set. One that is empty is no secret either: where secrets
 * come from a vault, that is what a missing one looks like.
 */
function resolveReferences(file: ApplyFile, env: Environment, errors: FieldError[]): ApplyFile {
  const resolve = (at: string) => (text: string, inner: string) =>
    text.replace(REFERENCE, (whole: string, isText: string | undefined, name: string) => {
      if (isText) return whole.slice(1);
      const value = env[name];
      if (value) return value;
      const detail = `refers to the variable ${name}, which is ${value === "" ? "empty" : "not set"}`;
      errors.push({ pointer: `${at}${inner.slice(1)}`, detail });
      return whole;
    });
  const resolved = withMonitors(file, ({ item, at }) => mapDeclaredSecrets(item, resolve(at)));
  if (!file.webhooks) return resolved;
  const webhooks = placed(file.webhooks, "#/webhooks").map(({ item, at }) =>
    mapWebhookSecrets(item, resolve(at)),
  );
  return { ...resolved, webhooks };
}
