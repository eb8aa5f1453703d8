import type { ForeignObject } from "../../base/import-report";
import { DESCRIPTION_MAX } from "../../base/texts";
import type { ImportedToken } from "../../features/monitors/tokens";
import type { CreateMonitorBody } from "../../features/monitors/wire";
import type { FoundMonitor } from "../found";
import {
  byId,
  flag,
  given,
  idOf,
  list,
  type MonitorRow,
  number,
  readConnection,
  text,
} from "./database";
import { cutName, cutTags, cutText, Notes, NOTES_REASON, TAGS_REASON } from "../kit";
import { Held, type MonitorContext } from "./requests";
import { typeOf } from "./types";

/** Bounds of the settings here. Longer intervals are only for calls of jobs. */
const DAY_SECONDS = 86_400;
const YEAR_SECONDS = 31_536_000;
const THRESHOLD_MAX = 100;
const TIMEOUT_MAX_MS = 60_000;
const REMINDER_SECONDS = [300, 604_800] as const;
/** Share of the interval that is the timeout of a monitor without one. */
const TIMEOUT_SHARE = 0.8;
/** Maximum length of the name of a foreign type, in characters. */
const TYPE_MAX = 50;

/** Parts of a monitor that other tables have. */
interface MonitorParts {
  tree: MonitorTree;
  tagsOf(monitor: MonitorRow): readonly string[];
  componentsOf(monitor: MonitorRow): FoundMonitor["components"];
  /** Returns true if calls with the token of a monitor are for it, since several may have one. */
  ownsToken(monitor: MonitorRow): boolean;
  context: MonitorContext;
}

export function foreignMonitor(monitor: MonitorRow): ForeignObject {
  return { type: "monitor", id: String(idOf(monitor)), name: text(monitor.name) };
}

/** Returns the monitor that a row becomes. It is neither a group nor one that people set by hand. */
export function findMonitor(monitor: MonitorRow, parts: MonitorParts): FoundMonitor {
  const notes = new Notes();
  const type = text(monitor.type);
  const typeName = cutName(type, "unknown", TYPE_MAX);
  const common = commonOf(monitor, parts, notes);
  const read = typeOf(type)?.read;
  const result = read
    ? read(monitor, notes, parts.context)
    : new Held(`Monitors of the type ${typeName} cannot be checked here.`);
  const shared = {
    foreign: foreignMonitor(monitor),
    number: idOf(monitor),
    components: parts.componentsOf(monitor),
  };
  const timing = timingOf(monitor, notes, type === "push");
  if (result instanceof Held) {
    const config = {
      source: "uptime-kuma",
      type: typeName,
      target: targetOf(monitor),
      settings: settingsOf(monitor),
    };
    const body = { type: "unsupported", ...common, ...timing, config } as const;
    return { ...shared, body, changes: notes.changes, held: result.reason };
  }
  const { settings, ...checked } = result;
  const tokens = type === "push" ? tokensOf(monitor, parts, notes) : [];
  return {
    ...shared,
    body: { ...checked, ...common, ...timing, ...settings },
    changes: notes.changes,
    disabled: notes.disabled,
    tokens,
  };
}

type Settings = Partial<CreateMonitorBody>;

/** Returns what monitors of all types have. */
function commonOf(monitor: MonitorRow, { tree, ...parts }: MonitorParts, notes: Notes) {
  return {
    name: text(monitor.name),
    paused: !tree.isActive(monitor),
    group: tree.labelOf(monitor),
    notes: notesOf(text(monitor.description), notes),
    tags: tagsOf(parts.tagsOf(monitor), notes),
  } satisfies Settings;
}

function notesOf(description: string, notes: Notes): string | null {
  const cut = cutText(description, DESCRIPTION_MAX);
  if (cut !== description) notes.change("description", "set", "cut", NOTES_REASON);
  return cut || null;
}

function tagsOf(tags: readonly string[], notes: Notes): string[] {
  const cut = cutTags(
    tags.map((tag) => tag.trim()),
    "tag",
  );
  if (cut.join("\n") !== tags.join("\n")) {
    notes.change("tags", tags.join(", "), cut.join(", "), TAGS_REASON);
  }
  return cut;
}

/** Returns when a monitor is checked, and when a failure counts. */
function timingOf(monitor: MonitorRow, notes: Notes, isPush: boolean): Settings {
  const asked = Math.round(number(monitor.interval, 60));
  const longest = isPush ? YEAR_SECONDS : DAY_SECONDS;
  const interval = notes.limited("interval", asked, { min: 5, max: longest, unit: "seconds" });
  const resend = number(monitor.resend_interval, 0);
  const [least, most] = REMINDER_SECONDS;
  const reminder = Math.round(resend * asked);
  const settings = {
    interval_seconds: interval,
    inverted: flag(monitor.upside_down),
    reminder_seconds:
      reminder > 0
        ? notes.limited("resend_interval", reminder, { min: least, max: most, unit: "seconds" })
        : 0,
  };
  if (isPush) return settings;
  const retries = Math.max(0, Math.round(number(monitor.maxretries, 0)));
  const retry = Math.round(number(monitor.retry_interval, 0)) || interval;
  const timeout = Math.round(timeoutSecondsOf(monitor, asked) * 1_000);
  return {
    ...settings,
    failure_threshold: notes.limited("maxretries", retries + 1, {
      min: 1,
      max: THRESHOLD_MAX,
      unit: "checks",
    }),
    retry_interval_seconds: notes.limited("retry_interval", retry, {
      min: 1,
      max: interval,
      unit: "seconds",
    }),
    timeout_ms: notes.limited("timeout", timeout, { min: 100, max: TIMEOUT_MAX_MS, unit: "ms" }),
  };
}

function timeoutSecondsOf(monitor: MonitorRow, interval: number): number {
  const timeout = number(monitor.timeout, 0);
  return timeout > 0 ? timeout : TIMEOUT_SHARE * interval;
}

/** Returns the token with which a job calls. */
function tokensOf(monitor: MonitorRow, { ownsToken }: MonitorParts, notes: Notes): ImportedToken[] {
  const value = text(monitor.push_token);
  if (!ownsToken(monitor)) {
    notes.disable(
      "Another monitor has the same token, and gets its calls there. Give it another token, and resume it.",
    );
    return [];
  }
  if (/^[!-~]{1,64}$/.test(value)) return [{ kind: "kuma", value }];
  notes.disable("It has no token with which a job can call it. Give it one, and resume it.");
  return [];
}

/** Returns all that is set, to be kept for a version that knows the type. */
function settingsOf(monitor: MonitorRow): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(monitor).filter(([, value]) => value !== null && given(value) !== undefined),
  );
}

/** Longest chain of groups that is followed. */
const DEPTH_MAX = 20;

/** Groups of monitors, which are monitors themselves. */
export class MonitorTree {
  readonly #monitors: ReadonlyMap<number, MonitorRow>;
  readonly #children: ReadonlyMap<number, readonly MonitorRow[]>;

  readonly #members = new Map<MonitorRow, readonly MonitorRow[]>();

  constructor(monitors: readonly MonitorRow[]) {
    this.#monitors = byId(monitors);
    this.#children = Map.groupBy(monitors, ({ parent }) => Number(parent ?? 0));
  }

  /** Lists the groups of a monitor, the nearest first. Ends where they form a circle. */
  groupsOf(monitor: MonitorRow): MonitorRow[] {
    const groups: MonitorRow[] = [];
    let group = this.#parentOf(monitor);
    while (group && group !== monitor && !groups.includes(group) && groups.length < DEPTH_MAX) {
      groups.push(group);
      group = this.#parentOf(group);
    }
    return groups;
  }

  /** Returns the names of the groups of a monitor, the outermost first; null without any. */
  labelOf(monitor: MonitorRow): string | null {
    const names = this.groupsOf(monitor).map(({ name }) => cutName(text(name), "Group").trim());
    const label = names.toReversed().join(" / ");
    return label === "" ? null : cutName(label, "Group").trim();
  }

  /** Returns true if a monitor and all of its groups are active. */
  isActive(monitor: MonitorRow): boolean {
    return [monitor, ...this.groupsOf(monitor)].every(({ active }) => flag(active));
  }

  /**
   * Lists the monitors in a group and in the groups in it, without the groups; a monitor itself. Groups are followed as
   * deep as those of a monitor.
   */
  membersOf(monitor: MonitorRow): readonly MonitorRow[] {
    const known = this.#members.get(monitor);
    if (known) return known;
    const found = new Set([monitor]);
    let level = [monitor];
    for (let depth = 0; depth < DEPTH_MAX && level.length > 0; depth += 1) {
      const children = level.flatMap((each) =>
        isGroup(each) ? (this.#children.get(idOf(each)) ?? []) : [],
      );
      level = children.filter((child) => !found.has(child));
      for (const child of level) found.add(child);
    }
    const members = [...found].filter((each) => !isGroup(each));
    this.#members.set(monitor, members);
    return members;
  }

  #parentOf({ parent }: MonitorRow): MonitorRow | undefined {
    return parent === null ? undefined : this.#monitors.get(Number(parent));
  }
}

export function isGroup({ type }: MonitorRow): boolean {
  return text(type) === "group";
}

/** Maximum length of a target, in characters. */
const TARGET_MAX = 200;

/** Returns the short form of the address of a monitor, without credentials and query; its type without one. */
function targetOf(monitor: MonitorRow): string {
  return cutName(addressOf(monitor) ?? text(monitor.type), "unknown", TARGET_MAX);
}

function addressOf(monitor: MonitorRow): string | undefined {
  switch (text(monitor.type)) {
    case "kafka-producer":
      return hostsOf(list(monitor.kafka_producer_brokers));
    case "rabbitmq":
      return hostsOf(list(monitor.rabbitmq_nodes));
    case "grpc-keyword":
      return hostsOf([text(monitor.grpc_url)]);
    case "docker":
      return given(monitor.docker_container);
    case "system-service":
    case "pm2":
      return given(monitor.system_service_name);
  }
  const port = number(monitor.port, 0);
  const hostname = given(monitor.hostname);
  if (hostname !== undefined) {
    const host = hostsOf([hostname]) ?? withoutUser(hostname);
    return port > 0 && !/:\d+$/.test(host) ? `${host}:${port}` : host;
  }
  const connection = text(monitor.database_connection_string);
  if (connection !== "") return databaseOf(connection);
  const url = URL.parse(text(monitor.url));
  return url?.host ? `${url.host}${url.pathname === "/" ? "" : url.pathname}` : undefined;
}

/** Returns an address that is no URL without its user name and password. */
function withoutUser(address: string): string {
  return address.replace(/^.*@/s, "").replace(/^\w+:\/\//, "");
}

/** Returns the hosts of addresses with or without a scheme. */
function hostsOf(addresses: readonly string[]): string | undefined {
  const hosts = addresses.flatMap((address) => {
    const url = URL.parse(/^\w+:\/\//.test(address) ? address : `tcp://${address}`);
    return url?.host ? [url.host] : [];
  });
  return hosts.join(", ") || undefined;
}

/** Returns the host of a connection string, which may be a URL or a list of words of Microsoft SQL Server. */
function databaseOf(text: string): string | undefined {
  const connection = readConnection(text);
  if (connection) {
    const { host, port } = connection;
    return port === undefined ? host : `${host}:${port}`;
  }
  const [, server] = /(?:^|;)\s*(?:server|data source)\s*=\s*([\w.,:\\-]+)/i.exec(text) ?? [];
  if (server !== undefined) return server;
  return /^[\w.-]+(?::\d+)?(?:\/[\w.-]+)?$/.test(text) ? text : undefined;
}
