import type { Form as SentForm } from "../../http";
import { Checkbox, FieldRows, HiddenFields, type RowControl, TextArea } from "../../ui";
import { type Field, InvalidInput } from "../forms/field";
import { MoreRows, type RowsContext } from "./rows";
import type { Secrets } from "./typed-secrets";

/** Screen data of the secret parts of a request. */
export interface SecretsContext {
  stored: {
    /** Names of the headers whose values are stored. */
    headers: readonly string[];
    hasBody: boolean;
  };
  /** Secrets typed since the form was opened, in this submission or an earlier one. */
  secrets: Secrets;
}

/** Request header, as a row of the form. */
interface HeaderRow {
  name: string;
  /**
   * Value in this submission; never an earlier or a stored one, since header values are secret.
   * Undefined in a form that was not submitted.
   */
  value: string | undefined;
  /** True if the form said that a value is held, which an empty input keeps. */
  isSet: boolean;
  isRemoved: boolean;
}

interface TypedBody {
  /** Body in this submission; undefined in a form that was not submitted. */
  text: string | undefined;
  isSet: boolean;
  isRemoved: boolean;
}

const KEPT = "Set. Leave empty to keep it";
const NEW_HEADER: HeaderRow = { name: "", value: undefined, isSet: false, isRemoved: false };

/** Rows read: one more than the limit of 30 headers, so that the service rejects too many. */
const HEADERS_MAX = 31;

/**
 * Field for headers with secret values. Its body has the values to change by name, and null for
 * headers to remove; omitted ones are kept.
 */
export function headersField(): Field<
  readonly HeaderRow[],
  Record<string, string | null>,
  SecretsContext & RowsContext
> {
  return {
    label: "Headers",
    initial: [],
    read: readHeaders,
    toBody(rows, { stored, secrets }) {
      const names = rows.map(({ name }) => name);
      const repeated = names.find((name, index) => names.indexOf(name) !== index);
      if (repeated !== undefined) return new InvalidInput(`“${repeated}” is named twice.`);
      const isStored = ({ name }: HeaderRow) => stored.headers.includes(name);
      const lost = rows.find(
        (row) => row.isSet && !row.isRemoved && !isStored(row) && !secrets.headers.has(row.name),
      );
      if (lost) {
        return new InvalidInput(
          `The value of “${lost.name}” was typed too long ago and is no longer held. Type the value again.`,
        );
      }
      const changes = rows.flatMap((row): [string, string | null][] => {
        const { name, isRemoved } = row;
        const value = secrets.headers.get(name);
        if (row.value === undefined) return [];
        if (isRemoved) return isStored(row) ? [[name, null]] : [];
        return isStored(row) && value === undefined ? [] : [[name, value ?? ""]];
      });
      return changes.length === 0 ? undefined : Object.fromEntries(changes);
    },
    fromStored: (headers) =>
      Object.keys(headers).map((name) => ({ ...NEW_HEADER, name, isSet: true })),
    showError({ pointer, detail }) {
      const name = pointer.split("/")[3]?.replaceAll("~1", "/").replaceAll("~0", "~");
      if (name !== undefined) return { detail: `“${name}” ${detail}.` };
      return {
        detail: isOfOtherServer(detail)
          ? "The stored values belong to another server. Type them again, or remove the headers."
          : detail,
      };
    },
    Input: ({ name, value, errors, context }) => (
      <div class="field">
        <FieldRows
          legend="Headers"
          name={name}
          hint="Sent with each request, such as Authorization. Values are secrets: they are never shown again."
          error={errors[name]}
          rows={shownHeaders(value, context).map((row, index) => ({
            label: `Header ${index + 1}`,
            isWrong: row.name !== "" && (errors[name]?.includes(`“${row.name}”`) ?? false),
            controls: controlsOf(row, index),
          }))}
        />
        <MoreRows />
      </div>
    ),
  };
}

/** Field for the body of a request, which is secret. Null removes it; an omitted one is kept. */
export function bodyField(): Field<TypedBody, string | null, SecretsContext> {
  const label = "Body";
  const initial: TypedBody = { text: "", isSet: false, isRemoved: false };
  return {
    label,
    initial,
    read: readBody,
    toBody({ text, isSet, isRemoved }, { stored, secrets }) {
      if (isRemoved) return stored.hasBody ? null : undefined;
      // The form was not submitted, or no body was typed.
      if (text === undefined || (text === "" && !isSet)) return undefined;
      if (secrets.body !== "") return secrets.body;
      return isSet && !stored.hasBody
        ? new InvalidInput(
            "The body was typed too long ago and is no longer held. Type the body again, or remove it.",
          )
        : undefined;
    },
    fromStored: (body) => (body === null ? initial : { ...initial, text: undefined, isSet: true }),
    showError: ({ detail }) => ({
      detail: isOfOtherServer(detail)
        ? "The stored body belongs to another server. Type it again, or remove it."
        : detail,
    }),
    Input({ name, value, errors, context: { stored, secrets } }) {
      const isSet = stored.hasBody || secrets.body !== "";
      return (
        <>
          <TextArea
            label={label}
            name={name}
            hint={
              isSet
                ? `${KEPT}. The body is secret and never shown.`
                : "Optional. Sent with each request except GET and HEAD. The body is secret and never shown again."
            }
            error={errors[name]}
            rows={3}
            maxlength={64_000}
          />
          {isSet ? (
            <>
              <HiddenFields values={{ [`${name}_set`]: "yes" }} />
              <Checkbox
                label="Remove the body"
                name={`${name}_remove`}
                isChecked={value.isRemoved && stored.hasBody}
              />
            </>
          ) : null}
        </>
      );
    },
  };
}

/**
 * Returns the secrets typed so far: those of a submitted form, and earlier ones whose inputs are
 * empty now.
 */
export function secretsIn(sent: SentForm, before: Secrets): Secrets {
  const headers = readHeaders(sent)
    .filter(({ isRemoved }) => !isRemoved)
    .map(({ name, value }) => [name, value || before.headers.get(name)] as const)
    .filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { text, isRemoved } = readBody(sent, "config_body");
  return { headers: new Map(headers), body: isRemoved ? "" : text || before.body };
}

function readBody(sent: SentForm, name: string) {
  const text = sent.text(name).replaceAll("\r\n", "\n");
  return {
    text: text.trim() === "" ? "" : text,
    isSet: sent.text(`${name}_set`) === "yes",
    isRemoved: sent.text(`${name}_remove`) === "yes",
  };
}

function inputOf(index: number, part: "name" | "value" | "set" | "remove"): string {
  return `header_${index}_${part}`;
}

/** Reads the rows that have a name. */
function readHeaders(sent: SentForm): HeaderRow[] {
  const rows: HeaderRow[] = [];
  for (let index = 0; index < HEADERS_MAX; index += 1) {
    if (sent.all(inputOf(index, "name")).length === 0) break;
    rows.push({
      name: sent.text(inputOf(index, "name")).trim(),
      value: sent.text(inputOf(index, "value")),
      isSet: sent.text(inputOf(index, "set")) === "yes",
      isRemoved: sent.text(inputOf(index, "remove")) === "yes",
    });
  }
  return rows.filter(({ name }) => name !== "");
}

/** Returns the rows to show, and empty ones. Headers that were only typed disappear if removed. */
function shownHeaders(
  rows: readonly HeaderRow[],
  { stored, secrets, emptyRows }: SecretsContext & RowsContext,
): HeaderRow[] {
  const isStored = ({ name }: HeaderRow) => stored.headers.includes(name);
  const shown = rows
    .filter((row) => !row.isRemoved || isStored(row))
    .map((row) => ({ ...row, isSet: isStored(row) || secrets.headers.has(row.name) }));
  return [...shown, ...Array.from({ length: emptyRows }, () => NEW_HEADER)];
}

function controlsOf({ name, isSet, isRemoved }: HeaderRow, index: number): RowControl[] {
  const value = { kind: "text", name: inputOf(index, "value"), label: "Value", value: "" } as const;
  if (!isSet) {
    return [
      { kind: "text", name: inputOf(index, "name"), label: "Name", value: name, maxlength: 255 },
      { ...value, maxlength: 4_000 },
    ];
  }
  return [
    {
      kind: "fixed",
      name: inputOf(index, "name"),
      value: name,
      label: "Name",
      sends: { [inputOf(index, "set")]: "yes" },
    },
    { ...value, placeholder: KEPT, maxlength: 4_000 },
    { kind: "check", name: inputOf(index, "remove"), label: "Remove", isChecked: isRemoved },
  ];
}

/** Returns true for the error of a secret that would be sent to another server than before. */
function isOfOtherServer(detail: string): boolean {
  return detail.startsWith("is a secret");
}
