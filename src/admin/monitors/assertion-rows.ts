import type { Form } from "../../http";

/** Assertion about a response, as a row of the form. */
export interface AssertionRow {
  /** Checked part of the response; empty for an unused row. */
  source: string;
  /** Name of the header, or path of the JSON value. */
  property: string;
  op: string;
  value: string;
}

/**
 * Assertions that a monitor may have. One more row is read, so that the service rejects too many.
 */
const ASSERTIONS_MAX = 30;

export const SOURCES = [
  { value: "status", label: "Status" },
  { value: "latency", label: "Response time (ms)" },
  { value: "body", label: "Body" },
  { value: "header", label: "Header" },
  { value: "json", label: "JSON value" },
  { value: "certificate_days", label: "Certificate days left" },
] as const;

export const OPS = [
  { value: "eq", label: "is" },
  { value: "ne", label: "is not" },
  { value: "lt", label: "is below" },
  { value: "lte", label: "is at most" },
  { value: "gt", label: "is above" },
  { value: "gte", label: "is at least" },
  { value: "contains", label: "contains" },
  { value: "not_contains", label: "does not contain" },
  { value: "matches", label: "matches" },
  { value: "exists", label: "exists" },
] as const;

const EMPTY: AssertionRow = { source: "", property: "", op: "eq", value: "" };

export function assertionField(index: number, part: keyof AssertionRow): string {
  return `assertion_${index}_${part}`;
}

/** Reads the rows of a form, including empty ones, so that errors refer to the right row. */
export function readAssertions(form: Form): AssertionRow[] {
  const rows: AssertionRow[] = [];
  while (rows.length <= ASSERTIONS_MAX) {
    const part = (name: keyof AssertionRow) => form.text(assertionField(rows.length, name));
    if (part("op") === "") break;
    rows.push({
      source: part("source"),
      property: part("property").trim(),
      op: part("op"),
      value: part("value"),
    });
  }
  return rows;
}

/** Returns the used rows, followed by up to `empty` empty ones within the limit. */
export function withEmptyRows(rows: readonly AssertionRow[], empty: number): AssertionRow[] {
  const said = rows.filter(({ source }) => source !== "");
  const more = Math.max(0, Math.min(empty, ASSERTIONS_MAX - said.length));
  return [...said, ...Array.from({ length: more }, () => EMPTY)];
}

/** Converts a stored assertion to a row. */
export function toRow(assertion: Readonly<Record<string, unknown>>): AssertionRow {
  const { source, property, op, value } = assertion;
  return {
    source: String(source),
    property: typeof property === "string" ? property : "",
    op: String(op),
    value: value === undefined ? "" : String(value),
  };
}

/** Converts a row to an assertion. The service validates it. */
export function toAssertion(row: AssertionRow): Record<string, unknown> {
  const { source, property, op } = row;
  const hasProperty = source === "header" || source === "json";
  const value = valueOf(row);
  return {
    source,
    ...(hasProperty || property !== "" ? { property } : {}),
    op,
    ...(value === undefined ? {} : { value }),
  };
}

function valueOf({ source, op, value }: AssertionRow): unknown {
  const text = value.trim();
  if (op === "exists") return existence(text);
  if (["status", "latency", "certificate_days"].includes(source))
    return numberOf(text) ?? Number.NaN;
  if (["lt", "lte", "gt", "gte"].includes(op)) return numberOf(text) ?? value;
  return source === "json" && (op === "eq" || op === "ne") ? scalar(text, value) : value;
}

function numberOf(text: string): number | undefined {
  return text === "" || Number.isNaN(Number(text)) ? undefined : Number(text);
}

/** Converts the value of `exists`; an empty field means true. */
function existence(text: string): unknown {
  if (text === "") return undefined;
  return text === "true" || text === "false" ? text === "true" : text;
}

/** Converts text to a number, true, false or null if it is one, otherwise returns the text. */
function scalar(text: string, typed: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  if (text === "null") return null;
  return text !== "" && String(Number(text)) === text ? Number(text) : typed;
}
