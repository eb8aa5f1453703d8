import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DockerHosts } from "../../base/config/network";
import { sha256Hex } from "../../base/hash";
import { oneLine, plural } from "../../base/text";
import { OperatorError } from "../../db/errors";
import { emptyFound, type Found, type LeftOut } from "../found";
import {
  byId,
  flag,
  groupedBy,
  idOf,
  isBackup,
  type KumaData,
  type MonitorRow,
  number,
  openKumaDatabase,
  readBackup,
  readData,
  type Row,
  settingsOf,
  text,
  textOf,
} from "./database";
import { canFindBeats, openKumaHistory } from "./history";
import { findMonitor, foreignMonitor, isGroup, MonitorTree } from "./monitors";
import { findWebhooks } from "./notifications";
import {
  findDomains,
  findIncidents,
  findMaintenance,
  findPages,
  findPlaces,
  type ReadPicture,
} from "./pages";
import { INTERNAL_SETTINGS, SETTINGS } from "./tables";
import { dockerInstruction, dockerNames, typeOf } from "./types";

/** Maximum size of a picture of a status page, in bytes. Larger ones are refused here anyway. */
const PICTURE_BYTES_MAX = 1024 * 1024;

/** Maximum size of a backup: 10,000 monitors have about 25 MB. */
const BACKUP_BYTES_MAX = 64 * 1024 * 1024;

const NO_INDEX =
  "The history is not imported, since the table heartbeat has no index to find it by. Create one in a copy of the database with CREATE INDEX monitor_time_index ON heartbeat (monitor_id, time), and import that.";

/** Number of bytes that tell a backup from a database. */
const START_BYTES = 100;

interface ReadOptions {
  dockerHosts?: DockerHosts;
  /** Time from which on heartbeats are not read, in unix ms. */
  now?: number;
}

/**
 * Reads an Uptime Kuma from its database, its data directory, or a JSON backup of 1.x. The database stays open with
 * the history, until that is disposed of. Throws an OperatorError for a path that cannot be used.
 */
export async function readUptimeKuma(
  path: string,
  { dockerHosts, now = Date.now() }: ReadOptions = {},
): Promise<Found> {
  const isDefined = (name: string) => dockerHosts?.has(name) ?? false;
  const backup = await findBackup(path);
  if (backup !== undefined) {
    const { rows, notRead } = readBackup(path, backup);
    const data = readData(rows);
    const found = findInData(data, { readPicture: () => undefined, isDefined });
    return { ...found, notRead: [...notRead, ...listUnknownTypes(data)] };
  }
  const kuma = await openKumaDatabase(path);
  try {
    const data = readData((table, columns) => kuma.rows(table, columns));
    const found = findInData(data, { readPicture: pictureReader(path), isDefined });
    kuma.requireUnchanged();
    const isFast = canFindBeats(kuma);
    const history = isFast ? openKumaHistory(kuma, now) : undefined;
    if (history) found.history = history;
    else kuma[Symbol.dispose]();
    found.notRead = [...kuma.notRead, ...listUnknownTypes(data)];
    found.toDo = [...kuma.toDo, ...(isFast ? [] : [NO_INDEX]), ...found.toDo];
    return found;
  } catch (error) {
    kuma[Symbol.dispose]();
    throw error;
  }
}

/** Returns the text of a file that begins as a backup does; undefined for every other path. */
async function findBackup(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || !isBackup(await file.slice(0, START_BYTES).text())) return undefined;
  if (stat.size > BACKUP_BYTES_MAX) throw new OperatorError(`${path} is larger than 64 MiB.`);
  return await file.text();
}

/** Returns a reader of the folder of pictures beside a database. */
function pictureReader(path: string): ReadPicture {
  const folder = statSync(path).isDirectory() ? path : dirname(realpathSync(path));
  return (name) => {
    try {
      const pictures = realpathSync(join(folder, "upload"));
      const file = realpathSync(join(pictures, name));
      // A link out of the folder is not followed.
      if (dirname(file) !== pictures || statSync(file).size > PICTURE_BYTES_MAX) return undefined;
      return readFileSync(file);
    } catch {
      return undefined;
    }
  };
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
  const secret = settings.get("jwtSecret");
  const fingerprint = typeof secret === "string" ? sha256Hex(`allclear-import:${secret}`) : null;
  const found = emptyFound("uptime-kuma", fingerprint);
  const tree = new MonitorTree(data.monitor);
  found.pages = findPages(data, settings, readPicture);
  const places = findPlaces(data, tree, found);
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
  const shown = new Set(found.components.map(({ foreign }) => foreign.id.split("/")[1]));
  for (const monitor of inListOrder(data.monitor)) {
    const isShown = shown.has(String(idOf(monitor)));
    // On a page, a status that people set is that of a component.
    if (isGroup(monitor) || (text(monitor.type) === "manual" && isShown)) continue;
    found.monitors.push(findMonitor(monitor, parts));
  }
  for (const group of data.monitor) {
    // Those on a page become components.
    if (!isGroup(group) || shown.has(String(idOf(group)))) continue;
    const count = plural(tree.membersOf(group).length, "monitor");
    const reason = `It becomes the label of ${count}, and no object of its own.`;
    found.leftOut.push({ foreign: foreignMonitor(group), reason });
  }
  const domains = findDomains(data, tree, largestOf(settings.get("domainExpiryNotifyDays")), found);
  findWebhooks(data, tree, domains, found);
  findMaintenance(data, settings, places, found);
  findIncidents(data, found);
  found.leftOut.push(...othersLeftOut(data, settings));
  const undefinedHosts = data.docker_host.filter(
    (host) => isUsed(host, data) && !isDefined(dockerHosts.get(idOf(host)) ?? ""),
  );
  const docker = dockerInstruction(undefinedHosts, dockerHosts);
  if (docker !== undefined) found.toDo.push(docker);
  found.toDo.push(...jobsToMove(data, settings));
  return found;
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

/** Lists kinds of objects that are not moved, each on one line. */
function othersLeftOut(data: KumaData, settings: ReadonlyMap<string, unknown>): LeftOut[] {
  const others = [...settings.keys()].filter(
    (key) => !Object.hasOwn(SETTINGS, key) && !INTERNAL_SETTINGS.has(key),
  );
  const lines = [
    [
      "user",
      data.user.length,
      "user",
      "Passwords and second factors are not moved. Invite people at Settings → Users.",
    ],
    [
      "api_key",
      data.api_key.length,
      "API key",
      "Create API keys for the programs that read metrics.",
    ],
    ["tag", data.tag.length, "tag", "Monitors have their tags as words, without colours."],
    ["proxy", data.proxy.length, "proxy server", "Each monitor has the address of its proxy."],
    [
      "docker_host",
      data.docker_host.length,
      "Docker host",
      "ALLCLEAR_DOCKER_HOSTS defines those that monitors may ask.",
    ],
    [
      "remote_browser",
      data.remote_browser.length,
      "remote browser",
      "Monitors open no pages in browsers.",
    ],
    [
      "setting",
      others.length,
      "setting",
      oneLine(`They have no counterpart: ${others.join(", ")}.`),
    ],
  ] as const;
  return lines.flatMap(([type, count, noun, reason]) =>
    count === 0 ? [] : [{ foreign: { type, id: "all", name: plural(count, noun) }, reason }],
  );
}

/** Lists types of monitors that this version does not know. */
function listUnknownTypes({ monitor }: KumaData): string[] {
  const types = new Set(monitor.map(({ type }) => text(type)));
  return [...types]
    .filter((type) => type !== "" && !typeOf(type))
    .map((type) => oneLine(`monitor type ${type}`));
}
