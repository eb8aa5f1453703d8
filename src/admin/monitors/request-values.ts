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

/** A header that is sent, as a row of the form has it. */
export interface HeaderRow {
  name: string;
  /** What was typed now; never what was typed or stored before. */
  value: string;
  /** Whether it has a value that an empty field keeps. */
  isSet: boolean;
  isRemoved: boolean;
}

/** What an HTTP request is made with, and what must be true of its answer, as the form has it. */
export interface RequestValues {
  headers: readonly HeaderRow[];
  /** What was typed now. */
  body: string;
  isBodySet: boolean;
  isBodyRemoved: boolean;
  assertions: readonly AssertionRow[];
}

/** The part of a config's answer that is about these. */
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

/** How many empty rows a form has, and how many once more are asked for. */
export const EMPTY_ROWS = 1;
export const MORE_EMPTY_ROWS = 4;

/** A monitor may have 30; one more is read, so that too many are complained of. */
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

/** What is typed by now: what the form brings, and what it brought before and says nothing of. */
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

/** The form once more, without a secret in it, with so many empty rows. `shown` is undefined for a new one. */
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

/** What cannot be told by a config: a name that stands twice, and values that are held no longer. */
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
      `The value of “${lost.name}” was typed too long ago and is held no longer. Type it again.`;
  }
  const isBodyLost =
    values.isBodySet && !values.isBodyRemoved && !stored.has_body && secrets.body === "";
  if (isBodyLost) {
    complaints["config_body"] =
      "What was typed too long ago is held no longer. Type it again, or remove it.";
  }
  return complaints;
}

/**
 * The part of a config that the values ask for, as a change of what is shown: what it leaves out stays,
 * null takes away. Of a new monitor all is a change of nothing.
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
