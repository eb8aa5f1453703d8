/*
 * The JSON backup of 1.x, which its dashboard writes: monitors with their tags and notifications. It has no status
 * pages, Docker hosts and history.
 */
import { Type } from "@sinclair/typebox";
import { sha256Hex } from "../../base/hash";
import { oneLine, plural } from "../../base/text";
import { SECOND_MS } from "../../base/time";
import { schemaErrors } from "../../base/validation";
import { OperatorError } from "../../db/errors";
import { cutName, parseModestJson } from "../options";
import type { Found, HistoryRange, LeftOut } from "../source";
import { sumTablesOf } from "./beats";
import type { MonitorRow } from "./checked";
import { byId, groupedBy, idOf, type KumaData, type ReadRows, settingsOf } from "./data";
import {
  flag,
  INTERNAL_SETTINGS,
  type KumaDatabase,
  type KumaValue,
  number,
  type Row,
  SETTINGS,
  text,
  textOf,
} from "./database";
import { MONITOR_COLUMNS } from "./monitor-columns";
import { findMonitor, foreignMonitor, isGroup, MonitorTree, typeOf } from "./monitors";
import { findWebhooks } from "./notifications";
import {
  findDomains,
  findIncidents,
  findMaintenance,
  findPages,
  findPlaces,
  type ReadPicture,
} from "./pages";
import { FIRST_TIME, parseTime, textOfTime } from "./times";
import { dockerInstruction, dockerNames } from "./types";

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

/** Maximum number of unknown fields that are named, and of characters of each. */
const NAMED_MAX = 20;
const FIELD_NAME_MAX = 50;

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
  const names = [...unknown].sort();
  const named = names.slice(0, NAMED_MAX).map((name) => cutName(name, "a field", FIELD_NAME_MAX));
  return names.length > NAMED_MAX ? [...named, `${names.length - NAMED_MAX} more fields`] : named;
}

/** Returns true if a text begins as a backup does. */
export function isBackup(start: string): boolean {
  return /^\uFEFF?\s*\{/.test(start);
}

/** Days before an expiry, of an Uptime Kuma whose settings name none. */
const USUAL_DAYS = 21;
const DAYS_MAX = 365;

/** Places beside a database. */
interface Surroundings {
  readPicture: ReadPicture;
  /** Returns true for the name of a Docker host that is defined here. */
  isDefined(name: string): boolean;
}

/** Returns everything that an Uptime Kuma has, without its history. */
export function findInData(data: KumaData, { readPicture, isDefined }: Surroundings): Found {
  const settings = settingsOf(data);
  const tree = new MonitorTree(data.monitor);
  const places = findPlaces(data, tree);
  const dockerHosts = dockerNames(data.docker_host);
  const context = {
    proxies: byId(data.proxy),
    dockerHosts,
    isDefined,
    warningDays: largestOf(settings.get("tlsExpiryNotifyDays")),
  };
  const parts = {
    tree,
    context,
    tagsOf: tagsReader(data),
    componentsOf: places.componentsOf,
    ownsToken: tokenOwners(data.monitor),
  };
  const shown = new Set(places.components.map(({ foreign }) => foreign.id.split("/")[1]));
  const isShown = (monitor: MonitorRow) => shown.has(String(idOf(monitor)));
  const monitors = inListOrder(data.monitor)
    // On a page, a status that people set is that of a component.
    .filter((each) => !isGroup(each) && !(text(each.type) === "manual" && isShown(each)))
    .map((monitor) => findMonitor(monitor, parts));
  const domains = findDomains(data, tree, largestOf(settings.get("domainExpiryNotifyDays")));
  const webhooks = findWebhooks(data, tree, domains.domains);
  const maintenance = findMaintenance(data, settings, places);
  const incidents = findIncidents(data);
  const undefinedHosts = data.docker_host.filter(
    (host) => isUsed(host, data) && !isDefined(dockerHosts.get(idOf(host)) ?? ""),
  );
  const docker = dockerInstruction(undefinedHosts, dockerHosts);
  const secret = settings.get("jwtSecret");
  return {
    kind: "uptime-kuma",
    fingerprint: typeof secret === "string" ? sha256Hex(`allclear-import:${secret}`) : null,
    pages: findPages(data, settings, readPicture),
    groups: places.groups,
    components: places.components,
    monitors: [...monitors, ...domains.domains.map(({ monitor }) => monitor)],
    webhooks: webhooks.webhooks,
    maintenance: maintenance.maintenance,
    schedules: maintenance.schedules,
    incidents: incidents.incidents,
    leftOut: [
      ...places.leftOut,
      ...groupsLeftOut(data, tree, isShown),
      ...domains.leftOut,
      ...webhooks.leftOut,
      ...maintenance.leftOut,
      ...incidents.leftOut,
      ...othersLeftOut(data, settings),
    ],
    notRead: [],
    toDo: [...(docker === undefined ? [] : [docker]), ...jobsToMove(data, settings)],
  };
}

/** Returns the instruction for the addresses that jobs call. */
function jobsToMove({ monitor }: KumaData, settings: ReadonlyMap<string, unknown>): string[] {
  if (!monitor.some(({ type }) => text(type) === "push")) return [];
  const url = URL.parse(textOf(settings.get("primaryBaseURL")));
  const address = url?.host ? `${url.protocol}//${url.host}` : "the address of Uptime Kuma";
  return [
    `Let ${address} lead to this server, or replace it in the addresses that jobs call: their paths /api/push/… stay.`,
  ];
}

function isUsed(host: Row, { monitor }: KumaData): boolean {
  return monitor.some(
    (each) => text(each.type) === "docker" && idOf(each, "docker_host") === idOf(host),
  );
}

/** Returns monitors in the order of their list: heavy ones first, then by name. */
function inListOrder(monitors: readonly MonitorRow[]): MonitorRow[] {
  return monitors.toSorted(
    (first, second) =>
      number(second.weight, 0) - number(first.weight, 0) ||
      text(first.name).localeCompare(text(second.name), "en") ||
      idOf(first) - idOf(second),
  );
}

function largestOf(days: unknown): number {
  const found = Array.isArray(days) ? days.map(Number).filter((day) => day >= 0) : [];
  return found.length === 0 ? USUAL_DAYS : Math.min(DAYS_MAX, Math.round(Math.max(...found)));
}

/** Returns a function that tells if a monitor is the one that a call with its token finds: the first active one. */
function tokenOwners(monitors: readonly MonitorRow[]): (monitor: MonitorRow) => boolean {
  const owners = new Map<string, MonitorRow>();
  for (const monitor of monitors) {
    const token = text(monitor.push_token);
    const owner = owners.get(token);
    if (!owner || (!flag(owner.active) && flag(monitor.active))) owners.set(token, monitor);
  }
  return (monitor) => owners.get(text(monitor.push_token)) === monitor;
}

/** Returns a function that gives the tags of a monitor, each with its value. */
function tagsReader({ tag, monitor_tag }: KumaData): (monitor: MonitorRow) => string[] {
  const tags = byId(tag);
  const byMonitor = groupedBy(monitor_tag, "monitor_id");
  return (monitor) =>
    (byMonitor.get(idOf(monitor)) ?? []).flatMap((row) => {
      const name = text(tags.get(idOf(row, "tag_id"))?.["name"]);
      const value = text(row["value"]);
      return name === "" ? [] : [value === "" ? name : `${name}:${value}`];
    });
}

/** Lists groups that are on no page. Others become components. */
function groupsLeftOut(
  { monitor: rows }: KumaData,
  tree: MonitorTree,
  isShown: (monitor: MonitorRow) => boolean,
): LeftOut[] {
  return rows
    .filter((monitor) => isGroup(monitor) && !isShown(monitor))
    .map((monitor) => {
      const count = plural(tree.membersOf(monitor).length, "monitor");
      const reason = `It becomes the label of ${count}, and no object of its own.`;
      return { foreign: foreignMonitor(monitor), reason };
    });
}

/** Lists kinds of objects that are not moved, each on one line. */
function othersLeftOut(data: KumaData, settings: ReadonlyMap<string, unknown>): LeftOut[] {
  const others = [...settings.keys()].filter(
    (key) => !Object.hasOwn(SETTINGS, key) && !INTERNAL_SETTINGS.has(key),
  );
  const line = (type: string, count: number, noun: string, reason: string): LeftOut[] =>
    count === 0 ? [] : [{ foreign: { type, id: "all", name: plural(count, noun) }, reason }];
  return [
    ...line(
      "user",
      data.user.length,
      "user",
      "Passwords and second factors are not moved. Invite people at Settings → Users.",
    ),
    ...line(
      "api_key",
      data.api_key.length,
      "API key",
      "Create API keys for the programs that read metrics.",
    ),
    ...line("tag", data.tag.length, "tag", "Monitors have their tags as words, without colours."),
    ...line(
      "proxy",
      data.proxy.length,
      "proxy server",
      "Each monitor has the address of its proxy.",
    ),
    ...line(
      "docker_host",
      data.docker_host.length,
      "Docker host",
      "ALLCLEAR_DOCKER_HOSTS defines those that monitors may ask.",
    ),
    ...line(
      "remote_browser",
      data.remote_browser.length,
      "remote browser",
      "Monitors open no pages in browsers.",
    ),
    ...line(
      "setting",
      others.length,
      "setting",
      oneLine(`They have no counterpart: ${others.join(", ")}.`),
    ),
  ];
}

/** Lists types of monitors that this version does not know. */
export function listUnknownTypes({ monitor }: KumaData): string[] {
  const types = new Set(monitor.map(({ type }) => text(type)));
  return [...types]
    .filter((type) => type !== "" && !typeOf(type))
    .map((type) => oneLine(`monitor type ${type}`));
}

/** Number of ids up to which all rows are counted. Of more, `SAMPLES` ranges of `SAMPLE_IDS` ids are. */
const COUNTED_MAX = 200_000;
const SAMPLES = 200;
const SAMPLE_IDS = 500;

/** Maximum number of deleted monitors whose rows are counted. */
const DELETED_MAX = 100_000;

/** First text behind those that begin with a digit. */
const BEHIND_TIMES = ":";

/** Maximum number of rows of a database whose beats can be found without an index. */
const WITHOUT_INDEX_MAX = 1_000_000;

/** Returns true if the beats of a monitor can be found in short time. */
export function canFindBeats(kuma: KumaDatabase): boolean {
  if (kuma.rowsMax <= WITHOUT_INDEX_MAX) return true;
  const [found] = kuma
    .prepare<{ count: number }>(
      `SELECT count(*) AS count FROM pragma_index_list('heartbeat') AS i,
         pragma_index_info(i.name) AS first, pragma_index_info(i.name) AS second
       WHERE i.partial = 0 AND first.seqno = 0 AND first.name = 'monitor_id'
         AND second.seqno = 1 AND second.name = 'time'`,
    )
    .all();
  return found !== undefined && found.count > 0;
}

/** Returns the number of beats, roughly: counting millions would take too long. */
export function estimateRows(kuma: KumaDatabase): number {
  const idAt = (end: "min" | "max") =>
    kuma.prepare<{ id: number | null }>(`SELECT ${end}(id) AS id FROM heartbeat`).all()[0]?.id;
  const [first, last] = [Number(idAt("min") ?? 0), Number(idAt("max") ?? -1)];
  if (!Number.isFinite(last - first)) return 0;
  const counter = kuma.prepare<{ rows: number }>(
    "SELECT count(*) AS rows FROM heartbeat WHERE id >= ? AND id < ?",
  );
  const count = (from: number, until: number) => counter.all(from, until)[0]?.rows ?? 0;
  const ids = last - first + 1;
  if (ids <= COUNTED_MAX) return count(first, last + 1);
  // Old beats may have been deleted and new ones not, so samples are taken everywhere.
  let counted = 0;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const from = first + Math.floor(((ids - SAMPLE_IDS) * sample) / (SAMPLES - 1));
    counted += count(from, from + SAMPLE_IDS);
  }
  return Math.min(Math.round((ids * counted) / (SAMPLES * SAMPLE_IDS)), kuma.rowsMax);
}

/** Returns the time from the first beat or sum of a monitor up to the last one; null without any. */
export function findRange(kuma: KumaDatabase, now: number): HistoryRange | null {
  const ends = <Value extends string | number>(
    table: string,
    column: string,
    first: Value,
    until: Value,
  ) => {
    const end = (side: "min" | "max") =>
      `${side}((SELECT ${side}(${column}) FROM ${table}
         WHERE monitor_id = m.id AND ${column} >= ?1 AND ${column} < ?2)) AS ${side}`;
    return kuma
      .prepare<Record<"min" | "max", Value | null>>(
        `SELECT ${end("min")}, ${end("max")} FROM monitor m`,
      )
      .all(first, until)[0];
  };
  const ranges: HistoryRange[] = [];
  const beats = ends<string>("heartbeat", "time", textOfTime(FIRST_TIME), textOfTime(now));
  if (beats?.min != null) {
    // Texts that are no times can be among those that are.
    const [from = FIRST_TIME, last = now - 1] = [parseTime(beats.min), parseTime(beats.max)];
    ranges.push({ from, until: last + 1 });
  }
  for (const [table, size] of sumTablesOf(kuma)) {
    const [first, until] = [FIRST_TIME / SECOND_MS, Math.ceil(now / SECOND_MS)];
    const sums = ends<number>(table, "timestamp", first, until);
    if (sums?.min == null || sums.max == null) continue;
    const end = Math.min(sums.max * SECOND_MS + size, now);
    ranges.push({ from: sums.min * SECOND_MS, until: end });
  }
  if (ranges.length === 0) return null;
  return {
    from: Math.min(...ranges.map(({ from }) => from)),
    until: Math.max(...ranges.map(({ until }) => until)),
  };
}

/** Counts the beats that are not among those of any monitor at any time, by reason. */
export function countLeftOut(kuma: KumaDatabase, now: number): Record<string, number> {
  const counted = (where: string) =>
    `(SELECT sum((SELECT count(*) FROM heartbeat WHERE monitor_id = m.id AND ${where})) FROM monitor m)`;
  const [row] = kuma
    .prepare<Record<"deleted" | "unreadable" | "early" | "future", number | null>>(
      `WITH RECURSIVE known (id) AS (
         SELECT min(monitor_id) FROM heartbeat UNION ALL
         SELECT (SELECT min(monitor_id) FROM heartbeat WHERE monitor_id > known.id) FROM known
         WHERE known.id IS NOT NULL LIMIT ${DELETED_MAX}
       )
       SELECT (
           SELECT sum((SELECT count(*) FROM heartbeat WHERE monitor_id = known.id)) FROM known
           WHERE id NOT IN (SELECT id FROM monitor)
         ) AS deleted,
         ${counted("time < ''")} + ${counted("time >= ?3")} AS unreadable,
         ${counted("time >= '' AND time < ?1")} AS early,
         ${counted("time >= ?2 AND time < ?3")} AS future`,
    )
    .all(textOfTime(FIRST_TIME), textOfTime(now), BEHIND_TIMES);
  const reasons = {
    "of a deleted monitor": row?.deleted,
    unreadable: row?.unreadable,
    "before 2021": row?.early,
    "in the future": row?.future,
  };
  return Object.fromEntries(
    Object.entries(reasons).flatMap(([reason, count]) => (count ? [[reason, count]] : [])),
  );
}
