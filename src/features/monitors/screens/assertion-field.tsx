import type { Form as SentForm } from "../../../http/form-body";
import { FieldRows, type RowControl } from "../../../ui/form";
import type { Field } from "../../../ui/forms/form";
import { EMPTY_ROWS, MoreRows, type RowsContext } from "./rows";

/** Assertion about a response, as a row of the form. */
interface AssertionRow {
  /** Checked part of the response; empty for an unused row. */
  source: string;
  /** Name of the header, or path of the JSON value. */
  property: string;
  op: string;
  value: string;
}

type Assertion = Readonly<Record<string, unknown>>;

/** Screen data of the field for assertions. */
export interface AssertionsContext extends RowsContext {
  stored: { assertions: readonly Assertion[] };
}

/**
 * Assertions that a monitor may have. One more row is read, so that the service rejects too many.
 */
const ASSERTIONS_MAX = 30;

const SOURCES = [
  { value: "", label: "Nothing" },
  { value: "status", label: "Status" },
  { value: "latency", label: "Response time (ms)" },
  { value: "body", label: "Body" },
  { value: "header", label: "Header" },
  { value: "json", label: "JSON value" },
  { value: "certificate_days", label: "Certificate days left" },
];

const OPS = [
  { value: "eq", label: "is" },
  { value: "ne", label: "is not" },
  { value: "lt", label: "is below" },
  { value: "lte", label: "is at most" },
  { value: "gt", label: "is above" },
  { value: "gte", label: "is at least" },
  { value: "in", label: "is one of" },
  { value: "contains", label: "contains" },
  { value: "not_contains", label: "does not contain" },
  { value: "matches", label: "matches" },
  { value: "exists", label: "exists" },
  { value: "length_eq", label: "has length" },
  { value: "length_lt", label: "has length below" },
  { value: "length_lte", label: "has length at most" },
  { value: "length_gt", label: "has length above" },
  { value: "length_gte", label: "has length at least" },
];

/** Parts of an assertion as its errors name them. */
const PART_WORDS: Readonly<Record<string, string>> = {
  source: "the checked part",
  property: "the name or path",
  op: "the comparison",
  value: "the value",
};

const EMPTY: AssertionRow = { source: "", property: "", op: "eq", value: "" };

interface AssertionsOptions {
  /** Parts that can be checked; all of a response if omitted. */
  sources?: readonly string[];
  hint: string;
}

/** Field for conditions on a response, one a row. */
export function assertionsField({
  sources,
  hint,
}: AssertionsOptions): Field<
  readonly AssertionRow[],
  readonly Assertion[] | null,
  AssertionsContext
> {
  const label = "Conditions";
  const options = SOURCES.filter(
    ({ value }) => value === "" || sources === undefined || sources.includes(value),
  );
  return {
    label,
    initial: [],
    isUnfolded: ({ emptyRows }) => emptyRows > EMPTY_ROWS,
    read: (sent) => readRows(sent).filter(({ source }) => source !== ""),
    toBody(rows, { stored }) {
      // A row cannot tell the text "5" from the number 5, so an unedited assertion is kept.
      const storedOf = (row: AssertionRow) =>
        stored.assertions.find((assertion) => Bun.deepEquals(toRow(assertion), row));
      const assertions = rows.map((row) => storedOf(row) ?? toAssertion(row));
      return assertions.length === 0 ? null : assertions;
    },
    fromStored: (assertions) => (assertions ?? []).map(toRow),
    showError({ pointer, detail }) {
      const [index, part] = pointer.split("/").slice(3);
      if (index === undefined) return { detail };
      const words = part === undefined ? "" : `${PART_WORDS[part] ?? part} `;
      return { detail: `Condition ${Number(index) + 1}: ${words}${detail}.` };
    },
    Input: ({ name, value, errors, context: { emptyRows } }) => (
      <div class="field">
        <FieldRows
          legend={label}
          name={name}
          hint={hint}
          error={errors[name]}
          rows={withEmptyRows(value, emptyRows).map((row, index) => ({
            label: `Condition ${index + 1}`,
            isWrong: errors[name]?.startsWith(`Condition ${index + 1}:`) ?? false,
            controls: controlsOf(row, index, options),
          }))}
        />
        <MoreRows />
      </div>
    ),
  };
}

function inputOf(index: number, part: keyof AssertionRow): string {
  return `assertion_${index}_${part}`;
}

function readRows(sent: SentForm): AssertionRow[] {
  const rows: AssertionRow[] = [];
  while (rows.length <= ASSERTIONS_MAX) {
    const part = (name: keyof AssertionRow) => sent.text(inputOf(rows.length, name));
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

/** Returns the rows, followed by up to `empty` empty ones within the limit. */
function withEmptyRows(rows: readonly AssertionRow[], empty: number): AssertionRow[] {
  const more = Math.max(0, Math.min(empty, ASSERTIONS_MAX - rows.length));
  return [...rows, ...Array.from({ length: more }, () => EMPTY)];
}

function controlsOf(
  { source, property, op, value }: AssertionRow,
  index: number,
  options: typeof SOURCES,
): RowControl[] {
  const name = (part: keyof AssertionRow) => inputOf(index, part);
  return [
    {
      kind: "select",
      name: name("source"),
      label: "Checked part",
      options,
      value: source,
    },
    {
      kind: "text",
      name: name("property"),
      label: "Name or path",
      value: property,
      maxlength: 255,
    },
    { kind: "select", name: name("op"), label: "Comparison", options: OPS, value: op },
    { kind: "text", name: name("value"), label: "Value", value, maxlength: 1_000 },
  ];
}

/** Converts a stored assertion to a row. Its value has no line breaks, which browsers drop. */
function toRow({ source, property = "", op, value = "" }: Assertion): AssertionRow {
  return {
    source: String(source),
    property: String(property).trim(),
    op: String(op),
    value: (Array.isArray(value) ? value.map(String).join(", ") : String(value)).replaceAll(
      /[\r\n]/g,
      "",
    ),
  };
}

/** Converts a row to an assertion. The service validates it. */
function toAssertion(row: AssertionRow): Assertion {
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
  if (op === "in") return text.split(",").map((entry) => entryOf(source, entry.trim()));
  if (["status", "latency", "certificate_days"].includes(source))
    return numberOf(text) ?? Number.NaN;
  if (["lt", "lte", "gt", "gte"].includes(op) || op.startsWith("length_"))
    return numberOf(text) ?? value;
  return source === "json" && (op === "eq" || op === "ne") ? scalar(text, value) : value;
}

/** Converts an entry of “is one of”. */
function entryOf(source: string, entry: string): unknown {
  if (source === "json") return scalar(entry, entry);
  return source === "status" ? (numberOf(entry) ?? entry) : entry;
}

function numberOf(text: string): number | undefined {
  return text === "" || Number.isNaN(Number(text)) ? undefined : Number(text);
}

/** Converts the value of `exists`; an empty input means true. */
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
