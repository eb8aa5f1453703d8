/*
 * The JSON backup of 1.x, which its dashboard writes: monitors with their tags and notifications. It has no status
 * pages, Docker hosts and history.
 */

import { Type } from "@sinclair/typebox";
import { sha256Hex } from "../../base/hash";
import { oneLine, plural } from "../../base/text";
import { schemaErrors } from "../../base/validation";
import { OperatorError } from "../../db/errors";
import { cutName, parseModestJson } from "../options";
import type { Found, LeftOut } from "../found";
import {
  byId,
  flag,
  groupedBy,
  idOf,
  INTERNAL_SETTINGS,
  type KumaData,
  type KumaValue,
  type MonitorRow,
  number,
  type ReadRows,
  type Row,
  SETTINGS,
  settingsOf,
  text,
  textOf,
} from "./database";
import { MONITOR_COLUMNS } from "./tables";
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
