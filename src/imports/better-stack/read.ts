/*
 * Monitors and heartbeats of Better Stack, from its API or from a saved answer. `readBetterStack` is the entrance. Answers are
 * documented at https://betterstack.com/docs/uptime/api/.
 */
import { isObject, plural } from "../../base/text";
import { isTimeZone } from "../../base/zones";
import { OperatorError } from "../../db/errors";
import type { Assertion } from "../../features/monitors/assertions/assertions";
import { type FetchDependencies, apiAddress, fetchDocument, parseDocument } from "../fetch";
import { emptyFound, type ForeignKey, type Found } from "../found";
import {
  basicAuthorization,
  cutName,
  decoded,
  listUnknown,
  Notes,
  readText,
  withoutCredentials,
} from "../kit";
import {
  type Fields,
  fewStatuses,
  idOfText,
  idOfValue,
  LIST_MEBIBYTES_MAX,
  listOf,
  numberOf,
  objectsOf,
  OwnPage,
  readTarget,
  requireFew,
  requireModest,
  textOf,
  thresholdsFor,
  withHeader,
} from "../listed";
import { railsTimeZone } from "../rails-time-zones";

interface BetterStackOptions {
  /** Token of the API, which is a secret; undefined to read a file. */
  apiKey: string | undefined;
}

/** Reads monitors, heartbeats and their maintenance windows. Throws an OperatorError for a source that cannot be read. */
export async function readBetterStack(
  place: string,
  { apiKey }: BetterStackOptions,
  deps: FetchDependencies,
): Promise<Found> {
  const address = /^[a-z]+:\/\//i.test(place) ? URL.parse(place) : null;
  if (address && apiKey === undefined) {
    throw new OperatorError("The API of Better Stack needs --api-key-file.");
  }
  if (!address && apiKey !== undefined) {
    throw new OperatorError(`With an API key, the source is the address ${API_URL}.`);
  }
  const rows =
    address && apiKey !== undefined ? await readAll(deps, address, apiKey) : await readFile(place);
  requireFew(rows.length, "monitor");
  const found = emptyFound("better-stack");
  const page = new OwnPage(found, "Better Stack");
  const unknown = new Set<string>();
  for (const row of rows) {
    const attributes = isObject(row["attributes"]) ? row["attributes"] : {};
    const isHeartbeat = row["type"] === "heartbeat";
    const known: object = isHeartbeat ? HEARTBEAT_FIELDS : MONITOR_FIELDS;
    for (const field of Object.keys(attributes)) {
      if (!Object.hasOwn(known, field) && !IGNORED.has(field))
        unknown.add(`${textOf(row["type"])}.${field}`);
    }
    if (isHeartbeat) addHeartbeat(found, page, row["id"], attributes);
    else addMonitor(found, page, row["id"], attributes);
  }
  found.notRead.push(...listUnknown([...unknown].sort()));
  if (rows.length > 0) {
    found.toDo.push("Create webhooks in the place of escalation policies, which are not moved.");
  }
  return found;
}

export const API_URL = "https://uptime.betterstack.com/api/v2/";

const LISTS = ["monitor", "heartbeat"] as const;
/** Answers of one list, which have 50 rows each. */
const ANSWERS_MAX = 1_000;

/** Reads the lists of a team by the API, in numbered answers. Throws an OperatorError. */
async function readAll(deps: FetchDependencies, address: URL, apiKey: string): Promise<Fields[]> {
  const base = apiAddress(address, "/api/v2/");
  const rows: Fields[] = [];
  for (const name of LISTS)
    rows.push(...(await readPages(deps, new URL(`${name}s`, base), name, apiKey)));
  return rows;
}

async function readPages(
  deps: FetchDependencies,
  list: URL,
  name: (typeof LISTS)[number],
  apiKey: string,
): Promise<Fields[]> {
  const rows = new Map<string, Fields>();
  let bytes = 0;
  for (let number = 1; number <= ANSWERS_MAX; number += 1) {
    const url = new URL(list);
    if (number > 1) url.searchParams.set("page", String(number));
    const fetched = await fetchDocument(deps, url, { authorization: `Bearer ${apiKey}` });
    const document = isObject(fetched?.document) ? fetched.document : {};
    if (!Array.isArray(document["data"])) {
      throw new OperatorError(`${url.origin}${url.pathname} answered no list.`);
    }
    bytes += fetched?.bytes ?? 0;
    requireModest(bytes, url);
    const before = rows.size;
    for (const row of objectsOf(document["data"])) {
      rows.set(idOfValue(row["id"], `without id ${rows.size}`), row);
    }
    requireFew(rows.size, name);
    const { next = null } = isObject(document["pagination"]) ? document["pagination"] : {};
    // The link itself is not followed, since the key is sent to this address alone.
    if (next === null || rows.size === before) return [...rows.values()];
    deps.progress(`${plural(rows.size, name)} read.`);
  }
  throw new OperatorError("The team has more monitors than are read.");
}

/** Reads a saved answer, or a list of them. Throws an OperatorError. */
async function readFile(path: string): Promise<Fields[]> {
  const document = parseDocument(await readText(path, LIST_MEBIBYTES_MAX), path);
  const answers = Array.isArray(document) ? (document as unknown[]) : [document];
  const rows = answers.flatMap((answer) => {
    const data = isObject(answer) ? answer["data"] : undefined;
    if (Array.isArray(data)) return objectsOf(data);
    throw new OperatorError(`${path} is no answer of Better Stack with monitors or heartbeats.`);
  });
  const isListed = ({ type }: Fields) => type === "monitor" || type === "heartbeat";
  const others = rows.filter((row) => !isListed(row));
  if (others.length > 0) {
    const count = plural(others.length, "object");
    throw new OperatorError(`${path} has ${count} that are no monitors or heartbeats.`);
  }
  return rows;
}

/** Types of Better Stack, and what they are here, for the documentation. */
export const STACK_TYPES = {
  status: "`http`",
  expected_status_code: "`http` with an assertion on the status",
  keyword: "`http` with an assertion on the body",
  keyword_absence: "`http` with an assertion on the body",
  ping: "`ping`",
  tcp: "`tcp`",
  smtp: "`smtp`, on the first of its ports",
  pop: "`tcp`, on the first of its ports: only the connection is checked",
  imap: "`tcp`, on the first of its ports: only the connection is checked",
  dns: "`dns`, with the server as its resolver",
} as const;

/** Fields of a monitor, and what becomes of each, for the documentation. */
export const MONITOR_FIELDS = {
  pronounceable_name: "Name",
  monitor_type: "Type: see above",
  url: "URL, host or resolver",
  port: "Port",
  check_frequency: "Interval",
  request_timeout: "Time limit, in seconds or milliseconds as there",
  confirmation_period: "`failure_threshold`, checks in a row that take about as long",
  recovery_period: "`success_threshold`, in the same way",
  paused_at: "Paused, if it has one",
  required_keyword: "Text of the assertion on the body",
  expected_status_codes: "Assertion on the status",
  http_method: "Method",
  request_headers: "Headers",
  request_body: "Body; of `dns` the name",
  auth_username: "User name of the header `Authorization`",
  auth_password: "Password; the monitor is switched off if the answer has none",
  follow_redirects: "`follow_redirects`",
  verify_ssl: "`verify_tls`",
  ip_version: "`ip_family`",
  proxy_host: "Proxy, with its user name and password",
  proxy_port: "Port of the proxy",
  ssl_expiration: "`certificate_warning_days`",
  domain_expiration: "Not moved; create a monitor of the type `domain`",
  maintenance_from: "Maintenance schedule of all monitors with the same times",
  maintenance_to: "Its duration",
  maintenance_timezone: "Its time zone",
  maintenance_days:
    "Its days; a window across midnight begins on each day whose next day is one too",
} as const;

/** Fields of a heartbeat, and what becomes of each, for the documentation. */
export const HEARTBEAT_FIELDS = {
  name: "Name",
  url: "Nothing: the job gets an address of this server",
  period: "Interval",
  grace: "Grace period",
  paused_at: "Paused, if it has one",
  maintenance_from: "Maintenance schedule, as that of monitors",
  maintenance_to: "Its duration",
  maintenance_timezone: "Its time zone",
  maintenance_days: "Its days",
} as const;

/** Fields that have no counterpart, or tell the state of a moment. */
const IGNORED: ReadonlySet<string> = new Set(
  [
    "call sms email push critical_alert team_wait team_name policy_id expiration_policy_id",
    "monitor_group_id heartbeat_group_id sort_index regions remember_cookies server_timezone",
    "last_checked_at created_at updated_at status paused scenario_name playwright_script",
    "environment_variables checks_version",
  ]
    .join(" ")
    .split(" "),
);

function addMonitor(found: Found, page: OwnPage, id: unknown, fields: Fields): void {
  const url = textOf(fields["url"]);
  const name = cutName(
    textOf(fields["pronounceable_name"]),
    readTarget(url)?.host ?? "Unnamed monitor",
  );
  const foreign = { type: "monitor", id: idOfValue(id, name), name };
  const component = page.component(`monitor-${foreign.id}`, name);
  const notes = new Notes();
  const type = textOf(fields["monitor_type"]);
  const checked = checkedBy(type, fields, notes);
  const interval = numberOf(fields["check_frequency"]) ?? 60;
  if (numberOf(fields["domain_expiration"]) !== undefined) {
    const reason = "Create a monitor of the type domain for its host.";
    notes.change("domain_expiration", fields["domain_expiration"], null, reason);
  }
  const body = {
    name,
    paused: isPaused(fields),
    interval_seconds: interval,
    ...thresholdsFor({
      intervalSeconds: interval,
      confirmSeconds: numberOf(fields["confirmation_period"]) ?? 0,
      recoverSeconds: numberOf(fields["recovery_period"]) ?? 0,
    }),
  };
  found.monitors.push({
    foreign,
    body: checked
      ? { ...body, ...timeLimitOf(checked.type, fields, notes), ...checked }
      : {
          ...body,
          type: "unsupported",
          config: {
            source: "better-stack",
            type: cutName(type, "unknown", 50),
            target: cutName(readTarget(url)?.host ?? "", name, 200),
            settings: { ...fields },
          },
        },
    changes: notes.changes,
    disabled: notes.disabled,
    ...(checked ? {} : { held: "This version cannot check its type. Its settings are kept." }),
    components: [component],
  });
  addWindow(found, page, { ...foreign, component }, fields);
}

function addHeartbeat(found: Found, page: OwnPage, id: unknown, fields: Fields): void {
  const name = cutName(textOf(fields["name"]), "Unnamed heartbeat");
  const foreign = { type: "heartbeat", id: idOfValue(id, name), name };
  const component = page.component(`heartbeat-${foreign.id}`, name);
  const grace = numberOf(fields["grace"]);
  found.monitors.push({
    foreign,
    body: {
      type: "push",
      name,
      paused: isPaused(fields),
      interval_seconds: numberOf(fields["period"]) ?? null,
      config: grace === undefined ? {} : { grace_seconds: grace },
    },
    changes: [],
    disabled:
      "Its job calls Better Stack. Give it a token, let the job call that address, and resume it.",
    components: [component],
  });
  addWindow(found, page, { ...foreign, component }, fields);
}

function isPaused(fields: Fields): boolean {
  return textOf(fields["paused_at"]) !== "" || fields["status"] === "paused";
}

/** Type and config of a monitor here. */
interface Checked {
  type: "http" | "tcp" | "ping" | "dns" | "smtp";
  config: Readonly<Record<string, unknown>>;
}

/** Returns the type and the config of a monitor; undefined for a type that cannot be checked here. */
function checkedBy(type: string, fields: Fields, notes: Notes): Checked | undefined {
  const url = textOf(fields["url"]);
  const { host = url } = readTarget(url) ?? {};
  switch (type) {
    case "status":
    case "expected_status_code":
    case "keyword":
    case "keyword_absence":
      return { type: "http", config: httpConfig(type, fields, notes) };
    case "ping":
      return { type: "ping", config: { host } };
    case "tcp":
      return { type: "tcp", config: { host, port: portOf(fields, notes) } };
    case "smtp":
      return { type: "smtp", config: { host, port: portOf(fields, notes) } };
    case "pop":
    case "imap":
      notes.change("monitor_type", type, "tcp", "Only the connection is checked.");
      return { type: "tcp", config: { host, port: portOf(fields, notes) } };
    case "dns":
      return {
        type: "dns",
        config: { name: textOf(fields["request_body"]).trim(), resolver: host },
      };
    default:
      return undefined;
  }
}

/** Returns the first of the ports of a monitor, which are a text such as `25,465,587`. */
function portOf(fields: Fields, notes: Notes): number | undefined {
  const ports = textOf(fields["port"]);
  const [first = ""] = ports.split(",");
  if (first !== ports) notes.change("port", ports, first, "A monitor checks one port.");
  return numberOf(first);
}

/** Types whose time limit is in seconds; of the others it is in milliseconds. */
const IN_SECONDS: ReadonlySet<string> = new Set(["http"]);

function timeLimitOf(type: Checked["type"], fields: Fields, notes: Notes) {
  const limit = numberOf(fields["request_timeout"]);
  if (limit === undefined) return {};
  const ms = IN_SECONDS.has(type) ? limit * 1_000 : limit;
  return { timeout_ms: notes.limited("request_timeout", ms, { min: 100, max: 60_000 }) };
}

function httpConfig(type: string, fields: Fields, notes: Notes) {
  const { url, credentials } = withoutCredentials(textOf(fields["url"]));
  const method = textOf(fields["http_method"]).toUpperCase();
  const canSend = method !== "" && method !== "GET" && method !== "HEAD";
  const body = textOf(fields["request_body"]);
  const family = textOf(fields["ip_version"]).toLowerCase();
  let headers = Object.fromEntries(
    objectsOf(fields["request_headers"]).map(({ name, value }) => [textOf(name), textOf(value)]),
  );
  const authorization = authorizationOf(fields, notes);
  if (authorization !== undefined) headers = withHeader(headers, "Authorization", authorization);
  if (credentials) headers = withHeader(headers, "Authorization", basicAuthorization(credentials));
  return {
    url,
    ...(method !== "" && method !== "GET" && { method }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== "" && canSend && { body }),
    ...(fields["follow_redirects"] === false && { follow_redirects: false }),
    ...(fields["verify_ssl"] === false && { verify_tls: false }),
    ...((family === "ipv4" || family === "ipv6") && { ip_family: family }),
    ...proxyOf(fields),
    certificate_warning_days: numberOf(fields["ssl_expiration"]) ?? 0,
    assertions: assertionsOf(type, fields, notes),
  };
}

function authorizationOf(fields: Fields, notes: Notes): string | undefined {
  const [user, password] = [textOf(fields["auth_username"]), textOf(fields["auth_password"])];
  if (user === "" && password === "") return undefined;
  if (password !== "") return basicAuthorization({ user, password });
  notes.drop("auth_password", "The answer does not have it.");
  notes.disable("The source does not have its password. Enter it, and resume it.");
  return undefined;
}

/** Returns the proxy, whose user and password are part of its host there. */
function proxyOf(fields: Fields) {
  const host = textOf(fields["proxy_host"]);
  const url = host === "" ? null : URL.parse(`http://${host.replace(/^[a-z]+:\/\//i, "")}`);
  if (!url) return {};
  const port = numberOf(fields["proxy_port"]);
  if (port !== undefined) url.port = String(port);
  const [username, password] = [decoded(url.username), decoded(url.password)];
  return {
    proxy: {
      url: `http://${url.host}`,
      ...(username !== "" && { username }),
      ...(password !== "" && { password }),
    },
  };
}

function assertionsOf(type: string, fields: Fields, notes: Notes): Assertion[] {
  const keyword = textOf(fields["required_keyword"]);
  switch (type) {
    case "expected_status_code": {
      const statuses = listOf(fields["expected_status_codes"]).map((code) => numberOf(code) ?? 0);
      const valid = statuses.filter((code) => code >= 100 && code <= 599);
      const value = fewStatuses(notes, "expected_status_codes", valid);
      if (value.length > 0) return [{ source: "status", op: "in", value }];
      notes.disable("It expects no status. Give it an assertion, and resume it.");
      return [];
    }
    case "keyword":
    case "keyword_absence": {
      if (keyword === "") {
        notes.disable("It has no keyword. Give it an assertion, and resume it.");
        return [];
      }
      const op = type === "keyword" ? "contains" : "not_contains";
      return [{ source: "body", op, value: keyword }];
    }
    default:
      return [];
  }
}

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const DAY_MINUTES = 1_440;

/** Adds the maintenance window of a monitor or heartbeat, if it has one. Those with the same times are one. */
function addWindow(
  found: Found,
  page: OwnPage,
  owner: { type: string; id: string; name: string; component: ForeignKey },
  fields: Fields,
): void {
  const [from, to] = ["maintenance_from", "maintenance_to"].map((name) => textOf(fields[name]));
  if (!from || !to) return;
  const { component, name, type, id } = owner;
  const leaveOut = (reason: string) => {
    const foreign = { type: "maintenance_window", id: `${type}-${id}`, name };
    found.leftOut.push({ foreign, reason });
  };
  const [start, end] = [minuteOf(from), minuteOf(to)];
  if (start === undefined || end === undefined || start === end) {
    leaveOut("Its times cannot be read.");
    return;
  }
  const timeZone = railsTimeZone(textOf(fields["maintenance_timezone"]) || "UTC");
  if (!isTimeZone(timeZone)) {
    leaveOut("Its time zone is not known.");
    return;
  }
  const marked = new Set(
    listOf(fields["maintenance_days"]).map((day) => DAYS.indexOf(textOf(day))),
  );
  const isOvernight = end < start;
  const days = DAYS.map((_, day) => day).filter(
    (day) => marked.has(day) && (!isOvernight || marked.has((day + 1) % 7)),
  );
  if (days.length === 0) {
    leaveOut("It has no day on which it begins.");
    return;
  }
  const weekdays = days.length === 7 ? "*" : days.join();
  const cron = `${start % 60} ${Math.floor(start / 60)} * * ${weekdays}`;
  const minutes = (end - start + DAY_MINUTES) % DAY_MINUTES;
  page.addWindow(
    {
      id: idOfText([cron, minutes, timeZone].join(" ")),
      name: `Maintenance window ${from.slice(0, 5)}–${to.slice(0, 5)}`,
      cron,
      minutes,
      timeZone,
      changes: [],
    },
    component,
  );
}

/** Returns the minute of the day of a time such as `01:02:00`. */
function minuteOf(text: string): number | undefined {
  const [, hour, minute] = /^(\d{1,2}):(\d{2})(?::\d{2})?$/.exec(text) ?? [];
  const at = Number(hour) * 60 + Number(minute);
  return Number.isNaN(at) || at >= DAY_MINUTES ? undefined : at;
}
