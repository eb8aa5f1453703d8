/*
 * Secrets in the form of a monitor. A stored one is shown as set and never loaded: an empty input keeps it, and a checkbox
 * removes it. A typed one is held on the server while the form is shown again, and never sent back either.
 */
import { LRUCache } from "lru-cache";
import { secretFields, secretsShown } from "../../../base/secrets";
import type { MonitorType } from "../../../base/status";
import { MINUTE_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { Form as SentForm } from "../../../http/form-body";
import { Checkbox } from "../../../ui/choices";
import { FieldRows, HiddenFields, type RowControl, TextArea, TextField } from "../../../ui/form";
import { type Field, InvalidInput } from "../../../ui/forms/form";
import { probeOf } from "../probes";
import { EMPTY_ROWS, inputOf, MoreRows, type RowsContext } from "./rows";

/** Screen data of the secrets of a configuration. */
export interface SecretsContext {
  stored: {
    /** Names in the record whose values are stored, such as those of headers. */
    names: readonly string[];
    /** Fields and parts whose texts are stored, named as in `Secrets`. */
    texts: readonly string[];
  };
  /** Secrets typed since the form was opened, in this submission or an earlier one. */
  secrets: Secrets;
}

/** Typed secrets, which no page shows again. */
interface Secrets {
  /** Values by typed name, of the record that the type has, such as headers. */
  values: ReadonlyMap<string, string>;
  /** Texts by field of the configuration, such as `password`, or by field and part: `proxy_password`. */
  texts: ReadonlyMap<string, string>;
}

interface TypedText {
  /** Text in this submission; undefined in a form that was not submitted. */
  text: string | undefined;
  isSet: boolean;
  isRemoved: boolean;
}

interface TextOptions {
  /** Name of the field in the configuration, or of field and part: `proxy_password`. */
  field: string;
  /** Name of the secret in the middle of a sentence, such as "body". */
  noun: string;
  label: string;
  /** Hint while nothing is set, without the sentence about secrets. */
  hint: string;
  /** Number of lines of the input; one line for a password if omitted. */
  rows?: number;
  /** True for a text that people paste, such as a key. */
  isPasted?: boolean;
  maxlength: number;
  /** True if the secret cannot be removed alone. */
  isRequired?: boolean;
}

/** Field for a secret text. Null removes it; an omitted one is kept. */
export function secretTextField(
  options: TextOptions,
): Field<TypedText, string | null, SecretsContext> {
  const { field, noun, label, hint, rows, isPasted, maxlength, isRequired = false } = options;
  const initial: TypedText = { text: "", isSet: false, isRemoved: false };
  return {
    label,
    initial,
    read: readText,
    toBody({ text, isSet, isRemoved }, { stored, secrets }) {
      const isStored = stored.texts.includes(field);
      if (isRemoved) return isStored ? null : undefined;
      // The form was not submitted, or nothing was typed.
      if (text === undefined || (text === "" && !isSet)) return undefined;
      const typed = secrets.texts.get(field);
      if (typed !== undefined) return typed;
      return isSet && !isStored
        ? new InvalidInput(
            `The ${noun} was typed too long ago and is no longer held. Type the ${noun} again, or remove it.`,
          )
        : undefined;
    },
    fromStored: (text) => (text === null ? initial : { ...initial, text: undefined, isSet: true }),
    showError: ({ detail }) => ({
      detail: isOfOtherUse(detail)
        ? `The stored ${noun} belongs to another server or request. Type it again, or remove it.`
        : detail,
    }),
    Input({ name, value, errors, context: { stored, secrets } }) {
      const isStored = stored.texts.includes(field);
      const isSet = isStored || secrets.texts.has(field);
      const input = {
        label,
        name,
        hint: isSet
          ? `${KEPT}. The ${noun} is secret and never shown.`
          : `${hint} It is secret and never shown again.`,
        error: errors[name],
        maxlength,
      };
      return (
        <>
          {rows === undefined ? (
            <TextField {...input} type="password" autocomplete="off" />
          ) : (
            <TextArea {...input} rows={rows} isPasted={isPasted ?? false} />
          )}
          {isSet ? (
            <>
              <HiddenFields values={{ [`${name}_set`]: "yes" }} />
              {isRequired ? null : (
                <Checkbox
                  label={`Remove the ${noun}`}
                  name={`${name}_remove`}
                  isChecked={value.isRemoved && isStored}
                />
              )}
            </>
          ) : null}
        </>
      );
    },
  };
}

/** Placeholder and hint of an input whose secret is set. */
const KEPT = "Set. Leave empty to keep it";

/** Returns true for the error of a stored secret that would be used in another way than before. */
function isOfOtherUse(detail: string): boolean {
  return detail.startsWith("is a secret");
}

/** Field for the password of a server. */
export function passwordField(): Field<TypedText, string | null, SecretsContext> {
  const maxlength = 1_000;
  return secretTextField({
    field: "password",
    noun: "password",
    label: "Password",
    hint: "Optional.",
    maxlength,
  });
}

/** Reads the inputs of a secret text. */
function readText(sent: SentForm, name: string) {
  const text = sent.text(name).replaceAll("\r\n", "\n");
  return {
    text: text.trim() === "" ? "" : text,
    isSet: sent.text(`${name}_set`) === "yes",
    isRemoved: sent.text(`${name}_remove`) === "yes",
  };
}

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
    isUnfolded: ({ emptyRows }) => emptyRows > EMPTY_ROWS,
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
function readRows(sent: SentForm): ValueRow[] {
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

/** Returns which secrets of a shown configuration are stored. */
export function storedSecrets(type: MonitorType, config: object): SecretsContext["stored"] {
  const stored = secretsShown(probeOf(type).config, config);
  return {
    names: stored.flatMap(({ kind, path: [, ...names] }) => (kind === "values" ? names : [])),
    texts: stored.flatMap(({ kind, path }) => (kind === "values" ? [] : [path.join("_")])),
  };
}

/** Returns the fields and parts of a configuration that are secret texts, named as in `Secrets`. */
export function secretTextsOf(type: MonitorType): string[] {
  return secretFields(probeOf(type).config).flatMap(({ field, kind, parts }) =>
    kind === "text" ? [field] : parts.map((part) => `${field}_${part}`),
  );
}

/**
 * Returns the secrets typed so far: those of a submitted form, and earlier ones whose inputs are
 * empty now.
 */
export function secretsIn(type: MonitorType, sent: SentForm, before: Secrets): Secrets {
  const values = readRows(sent)
    .filter(({ isRemoved }) => !isRemoved)
    .map(({ name, value }) => [name, value || before.values.get(name)] as const)
    .filter((entry): entry is [string, string] => entry[1] !== undefined);
  const texts = secretTextsOf(type).flatMap((field): [string, string][] => {
    const { text, isRemoved } = readText(sent, inputOf(field));
    const held = text || before.texts.get(field);
    return isRemoved || held === undefined ? [] : [[field, held]];
  });
  return { values: new Map(values), texts: new Map(texts) };
}

export const NO_SECRETS: Secrets = { values: new Map(), texts: new Map() };

/**
 * Holds typed secrets while a form is shown again with errors or a check result. In memory, per
 * session, for half an hour.
 */
interface TypedSecrets {
  /** `draft` identifies one filling in of a form. */
  hold(sessionId: number, draft: string, secrets: Secrets): void;
  find(sessionId: number, draft: string): Secrets;
  forget(sessionId: number, draft: string): void;
}

const HELD_MS = 30 * MINUTE_MS;
/** Drafts held at most, since a text has up to 64,000 characters. */
const DRAFTS_MAX = 100;

export function createTypedSecrets({ clock }: Ctx): TypedSecrets {
  const held = new LRUCache<string, { secrets: Secrets; until: number }>({ max: DRAFTS_MAX });
  const keyOf = (sessionId: number, draft: string) => `${sessionId} ${draft}`;
  return {
    hold(sessionId, draft, secrets) {
      const isEmpty = secrets.texts.size + secrets.values.size === 0;
      if (isEmpty) held.delete(keyOf(sessionId, draft));
      else held.set(keyOf(sessionId, draft), { secrets, until: clock.monotonic() + HELD_MS });
    },
    find(sessionId, draft) {
      const entry = held.get(keyOf(sessionId, draft));
      return entry && clock.monotonic() < entry.until ? entry.secrets : NO_SECRETS;
    },
    forget: (sessionId, draft) => void held.delete(keyOf(sessionId, draft)),
  };
}
