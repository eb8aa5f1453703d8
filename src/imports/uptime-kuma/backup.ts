/*
 * The JSON backup of 1.x, which its dashboard writes: monitors with their tags and notifications. It has no status
 * pages, Docker hosts and history.
 */

import { Type } from "@sinclair/typebox";
import { schemaErrors } from "../../base/validation";
import { OperatorError } from "../../db/errors";
import { listUnknown, parseModestJson } from "../kit";
import { type KumaValue, type ReadRows, textOf } from "./database";
import { MONITOR_COLUMNS } from "./tables";

type Fields = Readonly<Record<string, unknown>>;

const Objects = Type.Array(Type.Object({ id: Type.Integer() }));

const Backup = Type.Object({
  version: Type.String(),
  notificationList: Objects,
  proxyList: Type.Optional(Objects),
  monitorList: Objects,
});

/** Columns whose fields have a name of their own. Those of others are in camel case, or the same. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  accepted_statuscodes_json: "accepted_statuscodes",
};

/** Fields of a monitor that follow from others, or tell the state of a moment. */
const DERIVED: ReadonlySet<string> = new Set([
  "childrenIDs",
  "forceInactive",
  "includeSensitiveData",
  "maintenance",
  "notificationIDList",
  "pathName",
  "screenshot",
  "tags",
]);

/** Columns by the fields of a monitor. */
const COLUMNS: ReadonlyMap<string, string> = new Map(
  Object.keys(MONITOR_COLUMNS).flatMap((column) => {
    const camel = column.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
    return [FIELD_NAMES[column] ?? column, camel].map((field) => [field, column] as const);
  }),
);

interface BackupRows {
  rows: ReadRows;
  /** Fields that this version does not know. */
  notRead: readonly string[];
}

/** Reads the text of a backup. Throws an OperatorError that begins with `path` for any other text. */
export function readBackup(path: string, written: string): BackupRows {
  const document = parseModestJson(written, path);
  const [error] = schemaErrors(Backup, document);
  if (error) {
    const field = error.pointer.slice(2);
    const fault = field === "" ? "it is no JSON object" : `its field ${field} ${error.detail}`;
    throw new OperatorError(`${path} is no backup of Uptime Kuma: ${fault}.`);
  }
  const { notificationList, proxyList = [], monitorList } = document as Record<string, Fields[]>;
  const monitors = monitorList ?? [];
  const tables = new Map<string, readonly Record<string, KumaValue>[]>([
    ["monitor", monitors.map((monitor) => monitorRow(monitor))],
    ["notification", (notificationList ?? []).map((each) => rowOf(each))],
    ["proxy", proxyList.map((each) => rowOf(each))],
    ["monitor_notification", monitors.flatMap((monitor) => notificationRows(monitor))],
    ["tag", tagRows(monitors)],
    [
      "monitor_tag",
      monitors.flatMap((monitor) =>
        entriesOf(monitor["tags"]).map((tag) => ({
          monitor_id: valueOf(monitor["id"]),
          tag_id: valueOf(tag["tag_id"]),
          value: valueOf(tag["value"]),
        })),
      ),
    ],
  ]);
  return {
    rows: (table, columns) =>
      (tables.get(table) ?? []).map((row) =>
        Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
      ),
    notRead: unknownFields(document as Fields, monitors),
  };
}

function monitorRow(monitor: Fields): Record<string, KumaValue> {
  return Object.fromEntries(
    Object.entries(monitor).flatMap(([field, value]) => {
      const column = COLUMNS.get(field);
      return column === undefined ? [] : [[column, valueOf(value)]];
    }),
  );
}

/** Returns a row of another table, whose columns are few. */
function rowOf(fields: Fields): Record<string, KumaValue> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      valueOf(value),
    ]),
  );
}

function notificationRows(monitor: Fields): Record<string, KumaValue>[] {
  const list = monitor["notificationIDList"];
  if (typeof list !== "object" || list === null) return [];
  return Object.entries(list).flatMap(([id, isOn]) =>
    isOn === true ? [{ monitor_id: valueOf(monitor["id"]), notification_id: Number(id) }] : [],
  );
}

/** Returns each tag once. Every monitor that has it names it. */
function tagRows(monitors: readonly Fields[]): Record<string, KumaValue>[] {
  const tags = monitors.flatMap((monitor) => entriesOf(monitor["tags"]));
  const names = new Map(tags.map((tag) => [valueOf(tag["tag_id"]), valueOf(tag["name"])]));
  return [...names].map(([id, name]) => ({ id, name }));
}

function entriesOf(value: unknown): Fields[] {
  return Array.isArray(value)
    ? (value as unknown[]).filter(
        (each): each is Fields => typeof each === "object" && each !== null,
      )
    : [];
}

/** Returns a value as the database has it: flags as numbers, lists and objects as JSON. */
function valueOf(value: unknown): KumaValue {
  switch (typeof value) {
    case "string":
    case "number":
      return value;
    case "boolean":
      return Number(value);
    case "object":
      return value === null ? null : textOf(value);
    default:
      return null;
  }
}

function unknownFields(document: Fields, monitors: readonly Fields[]): string[] {
  const unknown = new Set<string>();
  for (const field of Object.keys(document)) {
    if (!Object.hasOwn(Backup.properties, field)) unknown.add(field);
  }
  for (const field of monitors.flatMap((monitor) => Object.keys(monitor))) {
    if (!COLUMNS.has(field) && !DERIVED.has(field)) unknown.add(`monitorList[].${field}`);
  }
  return listUnknown([...unknown].sort());
}

/** Returns true if a text begins as a backup does. */
export function isBackup(start: string): boolean {
  return /^\uFEFF?\s*\{/.test(start);
}
