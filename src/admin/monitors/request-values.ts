import type { Form } from "../../http";
import type { Complaints } from "../field-errors";
import { multilineText } from "../multiline-text";
import {
  type AssertionRow,
  readAssertions,
  toAssertion,
  toRow,
  withEmptyRows,
} from "./assertion-rows";
import type { Secrets } from "./typed-secrets";

/** Request header, as a row of the form. */
export interface HeaderRow {
  name: string;
  /** Value in this submission; never an earlier or a stored one, since header values are secret. */
  value: string;
  /** True if a value is held that an empty field keeps. */
  isSet: boolean;
  isRemoved: boolean;
}

/** Typed headers, body and assertions of an HTTP request. */
export interface RequestValues {
  headers: readonly HeaderRow[];
  /** Body in this submission; never an earlier or a stored one. */
  body: string;
  isBodySet: boolean;
  isBodyRemoved: boolean;
  assertions: readonly AssertionRow[];
}

/** Part of a presented configuration that describes the request. */
interface ShownRequest {
  header_names: readonly string[];
  has_body: boolean;
  assertions: readonly Readonly<Record<string, unknown>>[];
}

export const NO_REQUEST: RequestValues = {
  headers: [],
  body: "",
  isBodySet: false,
  isBodyRemoved: false,
  assertions: [],
};

const NO_SHOWN: ShownRequest = { header_names: [], has_body: false, assertions: [] };
const NEW_ROW: HeaderRow = { name: "", value: "", isSet: false, isRemoved: false };

/** Empty rows of a form, initially and after asking for more. */
export const EMPTY_ROWS = 1;
export const MORE_EMPTY_ROWS = 4;

/** Rows read: one more than the limit of 30 headers, so that the service rejects too many. */
const HEADERS_MAX = 31;

export function headerField(index: number, part: "name" | "value" | "set" | "remove"): string {
  return `header_${index}_${part}`;
}

export function storedRequest(shown: object): RequestValues {
  const { header_names: names, has_body: isBodySet, assertions } = shownRequest(shown);
  return {
    ...NO_REQUEST,
    headers: names.map((name) => ({ ...NEW_ROW, name, isSet: true })),
    isBodySet,
    assertions: assertions.map(toRow),
  };
}

export function readRequest(form: Form): RequestValues {
  const headers: HeaderRow[] = [];
  while (headers.length < HEADERS_MAX) {
    const text = (part: "name" | "value" | "set" | "remove") =>
      form.text(headerField(headers.length, part));
    if (form.all(headerField(headers.length, "name")).length === 0) break;
    headers.push({
      name: text("name").trim(),
      value: text("value"),
      isSet: text("set") === "yes",
      isRemoved: text("remove") === "yes",
    });
  }
  return {
    headers,
    body: multilineText(form, "config_body"),
    isBodySet: form.text("config_body_set") === "yes",
    isBodyRemoved: form.text("config_body_remove") === "yes",
    assertions: readAssertions(form),
  };
}

/**
 * Returns the secrets typed so far: those of this submission, and earlier ones whose fields are
 * empty now.
 */
export function typedSecrets({ headers, ...values }: RequestValues, before: Secrets): Secrets {
  const rows = headers.filter(({ name, isRemoved }) => name !== "" && !isRemoved);
  const kept = rows.map(({ name, value }) => [name, value || before.headers[name]] as const);
  return {
    headers: Object.fromEntries(
      kept.filter((pair): pair is [string, string] => pair[1] !== undefined),
    ),
    body: values.isBodyRemoved ? "" : values.body || before.body,
  };
}

/**
 * Returns the values for showing a form again, without secrets and with `emptyRows` empty rows.
 * `shown` is undefined for a new monitor.
 */
export function shownAgain(
  values: RequestValues,
  secrets: Secrets,
  shown: object | undefined,
  emptyRows: number,
): RequestValues {
  const stored = shownRequest(shown);
  const isStored = ({ name }: HeaderRow) => stored.header_names.includes(name);
  const headers = values.headers
    .filter((row) => row.name !== "" && (!row.isRemoved || isStored(row)))
    .map((row) => ({
      ...row,
      value: "",
      isSet: isStored(row) || Object.hasOwn(secrets.headers, row.name),
    }));
  return {
    headers: [...headers, ...Array.from({ length: emptyRows }, () => NEW_ROW)],
    body: "",
    isBodySet: stored.has_body || secrets.body !== "",
    isBodyRemoved: values.isBodyRemoved && stored.has_body,
    assertions: withEmptyRows(values.assertions, emptyRows),
  };
}

/**
 * Returns errors that a configuration cannot express: duplicate header names, and secrets that are
 * no longer held.
 */
export function requestComplaints(
  values: RequestValues,
  secrets: Secrets,
  shown: object | undefined,
): Complaints {
  const stored = shownRequest(shown);
  const complaints: Record<string, string> = {};
  const names = values.headers.map(({ name }) => name).filter((name) => name !== "");
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) complaints["config_headers"] = `“${double}” is named twice.`;
  const lost = values.headers.find(
    ({ name, isSet, isRemoved }) =>
      isSet && !isRemoved && !stored.header_names.includes(name) && !(name in secrets.headers),
  );
  if (lost) {
    complaints["config_headers"] =
      `The value of “${lost.name}” was typed too long ago and is no longer held. Type the value again.`;
  }
  const isBodyLost =
    values.isBodySet && !values.isBodyRemoved && !stored.has_body && secrets.body === "";
  if (isBodyLost) {
    complaints["config_body"] =
      "The body was typed too long ago and is no longer held. Type the body again, or remove it.";
  }
  return complaints;
}

/**
 * Returns the request part of a configuration as a patch of the shown one. Omitted values are kept
 * and null removes them; a new monitor has no shown configuration.
 */
export function requestChange(
  values: RequestValues,
  secrets: Secrets,
  shown: object | undefined,
): Record<string, unknown> {
  const stored = shownRequest(shown);
  const headers: Record<string, string | null> = {};
  for (const { name, isRemoved } of values.headers) {
    if (name === "") continue;
    const isStored = stored.header_names.includes(name);
    if (isRemoved) {
      if (isStored) headers[name] = null;
    } else if (!isStored || name in secrets.headers) {
      headers[name] = secrets.headers[name] ?? "";
    }
  }
  const rows = values.assertions.filter(({ source }) => source !== "");
  const isSame = Bun.deepEquals(rows, stored.assertions.map(toRow));
  return {
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...bodyChange(values, secrets, stored),
    ...(isSame ? {} : { assertions: rows.map(toAssertion) }),
  };
}

function bodyChange(values: RequestValues, { body }: Secrets, stored: ShownRequest) {
  if (values.isBodyRemoved) return stored.has_body ? { body: null } : {};
  return body === "" ? {} : { body };
}

function shownRequest(shown: object | undefined): ShownRequest {
  return { ...NO_SHOWN, ...shown };
}
