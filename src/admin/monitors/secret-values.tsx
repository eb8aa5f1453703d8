import type { Form as SentForm } from "../../http/form-body";
import { FieldRows, type RowControl } from "../../ui/form";
import { type Field, InvalidInput } from "../../ui/forms/form";
import { MoreRows, type RowsContext } from "./rows";
import { isOfOtherUse, KEPT, type SecretsContext } from "./typed-secrets";

/** Name with a secret value, such as a header, as a row of the form. */
interface ValueRow {
  name: string;
  /**
   * Value in this submission; never an earlier or a stored one, since values are secret. Undefined in a
   * form that was not submitted.
   */
  value: string | undefined;
  /** True if the form said that a value is held, which an empty input keeps. */
  isSet: boolean;
  isRemoved: boolean;
}

const NEW_ROW: ValueRow = { name: "", value: undefined, isSet: false, isRemoved: false };

/** Rows read: one more than the limit of 30 values, so that the service rejects too many. */
const VALUES_MAX = 31;

interface ValuesOptions {
  /** Name of the record in the middle of a sentence, such as "headers". */
  noun: string;
  label: string;
  /** Label of a row, without its number. */
  rowLabel: string;
  hint: string;
}

/**
 * Field for a record of secret values, of which a type has at most one. Its body has the values to change
 * by name, and null for those to remove; omitted ones are kept.
 */
export function secretValuesField({
  noun,
  label,
  rowLabel,
  hint,
}: ValuesOptions): Field<
  readonly ValueRow[],
  Record<string, string | null>,
  SecretsContext & RowsContext
> {
  return {
    label,
    initial: [],
    read: readRows,
    toBody(rows, { stored, secrets }) {
      const names = rows.map(({ name }) => name);
      const repeated = names.find((name, index) => names.indexOf(name) !== index);
      if (repeated !== undefined) return new InvalidInput(`“${repeated}” is named twice.`);
      const isStored = ({ name }: ValueRow) => stored.names.includes(name);
      const lost = rows.find(
        (row) => row.isSet && !row.isRemoved && !isStored(row) && !secrets.values.has(row.name),
      );
      if (lost) {
        return new InvalidInput(
          `The value of “${lost.name}” was typed too long ago and is no longer held. Type the value again.`,
        );
      }
      const changes = rows.flatMap((row): [string, string | null][] => {
        const { name, isRemoved } = row;
        const value = secrets.values.get(name);
        if (row.value === undefined) return [];
        if (isRemoved) return isStored(row) ? [[name, null]] : [];
        return isStored(row) && value === undefined ? [] : [[name, value ?? ""]];
      });
      return changes.length === 0 ? undefined : Object.fromEntries(changes);
    },
    fromStored: (headers) =>
      Object.keys(headers).map((name) => ({ ...NEW_ROW, name, isSet: true })),
    showError({ pointer, detail }) {
      const name = pointer.split("/")[3]?.replaceAll("~1", "/").replaceAll("~0", "~");
      if (name !== undefined) return { detail: `“${name}” ${detail}.` };
      return {
        detail: isOfOtherUse(detail)
          ? `The stored values belong to another server or request. Type them again, or remove the ${noun}.`
          : detail,
      };
    },
    Input: ({ name, value, errors, context }) => (
      <div class="field">
        <FieldRows
          legend={label}
          name={name}
          hint={`${hint} Values are secrets: they are never shown again.`}
          error={errors[name]}
          rows={shownRows(value, context).map((row, index) => ({
            label: `${rowLabel} ${index + 1}`,
            isWrong: row.name !== "" && (errors[name]?.includes(`“${row.name}”`) ?? false),
            controls: controlsOf(row, index),
          }))}
        />
        <MoreRows />
      </div>
    ),
  };
}

function secretInputOf(index: number, part: "name" | "value" | "set" | "remove"): string {
  return `header_${index}_${part}`;
}

/** Reads the rows that have a name. */
export function readRows(sent: SentForm): ValueRow[] {
  const rows: ValueRow[] = [];
  for (let index = 0; index < VALUES_MAX; index += 1) {
    if (sent.all(secretInputOf(index, "name")).length === 0) break;
    rows.push({
      name: sent.text(secretInputOf(index, "name")).trim(),
      value: sent.text(secretInputOf(index, "value")),
      isSet: sent.text(secretInputOf(index, "set")) === "yes",
      isRemoved: sent.text(secretInputOf(index, "remove")) === "yes",
    });
  }
  return rows.filter(({ name }) => name !== "");
}

/** Returns the rows to show, and empty ones. Values that were only typed disappear if removed. */
function shownRows(
  rows: readonly ValueRow[],
  { stored, secrets, emptyRows }: SecretsContext & RowsContext,
): ValueRow[] {
  const isStored = ({ name }: ValueRow) => stored.names.includes(name);
  const shown = rows
    .filter((row) => !row.isRemoved || isStored(row))
    .map((row) => ({ ...row, isSet: isStored(row) || secrets.values.has(row.name) }));
  return [...shown, ...Array.from({ length: emptyRows }, () => NEW_ROW)];
}

function controlsOf({ name, isSet, isRemoved }: ValueRow, index: number): RowControl[] {
  const value = {
    kind: "text",
    name: secretInputOf(index, "value"),
    label: "Value",
    value: "",
  } as const;
  if (!isSet) {
    return [
      {
        kind: "text",
        name: secretInputOf(index, "name"),
        label: "Name",
        value: name,
        maxlength: 255,
      },
      { ...value, maxlength: 4_000 },
    ];
  }
  return [
    {
      kind: "fixed",
      name: secretInputOf(index, "name"),
      value: name,
      label: "Name",
      sends: { [secretInputOf(index, "set")]: "yes" },
    },
    { ...value, placeholder: KEPT, maxlength: 4_000 },
    { kind: "check", name: secretInputOf(index, "remove"), label: "Remove", isChecked: isRemoved },
  ];
}
