/*
 * Monitors of UptimeRobot, from its API (version 3), a saved answer of version 3 or 2, or a table of CSV.
 * `readUptimeRobot` is the entrance. Answers are documented at https://uptimerobot.com/api.
 */
import { isObject, parseJson } from "../../base/text";
import { toIso } from "../../base/time";
import { firstShown, isTimeZone } from "../../base/zones";
import { OperatorError } from "../../db/errors";
import type { Assertion } from "../../features/monitors/assertions/assertions";
import { apiAddress, type FetchDependencies, fetchDocument } from "../fetch";
import { emptyFound, type ForeignKey, type Found } from "../found";
import {
  basicAuthorization,
  cutName,
  cutTags,
  listUnknown,
  Notes,
  parseModestJson,
  readBytes,
  TAGS_REASON,
  withoutCredentials,
} from "../kit";
import {
  type Fields,
  fewStatuses,
  idOfValue,
  LIST_MEBIBYTES_MAX,
  listOf,
  numberOf,
  objectsOf,
  OwnPage,
  readTable,
  readTarget,
  requireFew,
  requireModest,
  type TableRow,
  textOf,
  textsIn,
  withHeader,
} from "../listed";

export interface UptimeRobotOptions {
  /** Key of the API, which is a secret; undefined to read a file. */
  apiKey: string | undefined;
  /** Time zone of the account, in which windows are planned; undefined if it is not known. */
  timeZone: string | undefined;
}

/** Reads monitors and their maintenance windows. Throws an OperatorError for a source that cannot be read. */
export async function readUptimeRobot(
  place: string,
  { apiKey, timeZone }: UptimeRobotOptions,
  deps: FetchDependencies,
): Promise<Found> {
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw new OperatorError("--time-zone is no time zone, such as Europe/Berlin.");
  }
  const address = /^[a-z]+:\/\//i.test(place) ? URL.parse(place) : null;
  if (address && apiKey === undefined) {
    throw new OperatorError("The API of UptimeRobot needs --api-key-file.");
  }
  if (!address && apiKey !== undefined) {
    throw new OperatorError(`With an API key, the source is the address ${API_URL}.`);
  }
  const monitors =
    address && apiKey !== undefined
      ? (await readAll(deps, address, apiKey)).map(fromVersion3)
      : await readFile(place);
  requireFew(monitors.length, "monitor");
  const found = emptyFound("uptimerobot");
  const page = new OwnPage(found, "UptimeRobot");
  const planned = {
    timeZone,
    once: new Map<string, ForeignKey[]>(),
    leftOut: new Set<string>(),
  };
  const unknown = new Set<string>();
  for (const monitor of monitors) {
    addMonitor(found, page, monitor, planned);
    for (const field of monitor.unknown) unknown.add(field);
  }
  found.notRead.push(...listUnknown([...unknown].sort()));
  if (monitors.length > 0) {
    found.toDo.push("Create webhooks in the place of the alert contacts, which are not moved.");
  }
  return found;
}

export const API_URL = "https://api.uptimerobot.com/v3/";

/** Answers of one account, which have up to 50 monitors each. */
const ANSWERS_MAX = 1_000;

/** Reads the monitors of an account by the API, in answers that lead to the next one. Throws an OperatorError. */
async function readAll(deps: FetchDependencies, address: URL, apiKey: string): Promise<Fields[]> {
  const base = apiAddress(address, "/v3/");
  const monitors = new Map<string, Fields>();
  const seen = new Set<string>();
  let bytes = 0;
  let cursor: string | undefined;
  for (let answers = 0; answers < ANSWERS_MAX; answers += 1) {
    const url = new URL("monitors", base);
    if (cursor !== undefined) url.searchParams.set("cursor", cursor);
    const fetched = await fetchDocument(deps, url, { authorization: `Bearer ${apiKey}` });
    const document = isObject(fetched?.document) ? fetched.document : {};
    if (!Array.isArray(document["data"] ?? document["monitors"])) {
      throw new OperatorError(`${url.origin}${url.pathname} answered no list of monitors.`);
    }
    bytes += fetched?.bytes ?? 0;
    requireModest(bytes, url);
    for (const row of objectsOf(document["data"] ?? document["monitors"])) {
      monitors.set(idOfValue(row["id"], `without id ${monitors.size}`), row);
    }
    requireFew(monitors.size, "monitor");
    // Of the link to the next answer only its cursor is taken, since the key is sent to this address alone.
    const link = URL.parse(textOf(document["nextLink"]), base);
    cursor = link?.searchParams.get("cursor") ?? (textOf(document["nextCursorId"]) || undefined);
    if (cursor === undefined) return [...monitors.values()];
    if (seen.has(cursor))
      throw new OperatorError(`${url.origin} repeats its answers without an end.`);
    seen.add(cursor);
    deps.progress(`${monitors.size.toLocaleString("en")} monitors read.`);
  }
  throw new OperatorError("The account has more monitors than are read.");
}

/** Reads a saved answer of the API, or a table. Throws an OperatorError. */
async function readFile(path: string): Promise<RobotMonitor[]> {
  const bytes = await readBytes(path, LIST_MEBIBYTES_MAX);
  const start = new TextDecoder().decode(bytes.subarray(0, 100)).trimStart();
  if (!start.startsWith("{") && !start.startsWith("[")) return readCsvTable(bytes, path);
  const document = parseModestJson(new TextDecoder().decode(bytes), path);
  const answers = Array.isArray(document) ? document : [document];
  const lists = answers.filter((answer) => isObject(answer));
  const failed = lists.find((answer) => answer["stat"] === "fail");
  if (failed) throw new OperatorError(`${path} is the answer to a request that failed.`);
  const isAnswer = (answer: Fields) =>
    Array.isArray(answer["data"]) || Array.isArray(answer["monitors"]);
  if (lists.length === 0 || !lists.every(isAnswer)) {
    throw new OperatorError(`${path} is no answer of UptimeRobot with monitors, and no CSV.`);
  }
  return lists.flatMap((answer) =>
    objectsOf(answer["data"] ?? answer["monitors"]).map((row) =>
      "friendly_name" in row ? fromVersion2(row) : fromVersion3(row),
    ),
  );
}

/** A monitor of UptimeRobot with the words of version 3, from any source. Times are in seconds. */
interface RobotMonitor {
  id: string;
  name: string;
  type: string;
  url: string;
  port: number | undefined;
  interval: number | undefined;
  timeout: number | undefined;
  grace: number | undefined;
  isPaused: boolean;
  /** `ALERT_EXISTS` or `ALERT_NOT_EXISTS`. */
  keywordType: string;
  keyword: string;
  isCaseSensitive: boolean;
  method: string;
  /** `HTTP_BASIC`, `DIGEST` or `BEARER`; anything else is none. */
  authType: string;
  user: string;
  /** Secret. */
  password: string;
  /** Values are secrets. */
  headers: Readonly<Record<string, string>>;
  /** Secret. */
  post: { type: string; data: unknown };
  statuses: readonly string[];
  followsRedirects: boolean;
  verifiesTls: boolean;
  /** In ms; undefined for none. */
  slowAboveMs: number | undefined;
  ipVersion: string;
  records: Fields;
  tags: readonly string[];
  windows: readonly Fields[];
  /** Names of fields that this version does not know. */
  unknown: readonly string[];
  /** The monitor as the source has it, for one that is kept and not checked. */
  settings: Fields;
}

/** Fields of a monitor of version 3, and what becomes of each, for the documentation. */
export const ROBOT_FIELDS = {
  friendlyName: "Name",
  type: "Type: see above",
  url: "URL, host or name",
  port: "Port",
  interval: "Interval",
  timeout: "Time limit, of at most 60 seconds",
  gracePeriod: "Grace period of a heartbeat",
  status: "`PAUSED`: paused",
  keywordType: "`ALERT_EXISTS`: the body must not contain the keyword; else it must",
  keywordValue: "Text of the assertion on the body",
  keywordCaseType:
    "Without regard to case, a keyword that must be there is a pattern; one that must not is searched with regard to case",
  httpMethodType: "Method",
  authType: "Header `Authorization`, or Digest sign-in",
  httpUsername: "User name",
  httpPassword: "Password; the monitor is switched off if the answer has none",
  customHttpHeaders: "Headers",
  postValueType: "`KEY_VALUE`: a form; else JSON",
  postValueData: "Body",
  successHttpResponseCodes: "Assertion on the status; without any, 200 to 399",
  followRedirections: "`follow_redirects`",
  checkSSLErrors: "`verify_tls`, which UptimeRobot does not do unless it is set",
  sslExpirationReminder: "Warning 14 days before a certificate expires",
  responseTimeThreshold: "`degraded_after_ms`; slow responses are no outages here",
  config:
    "`ipVersion`: address family; `dnsRecords`: records of the first type that is set; the rest is not moved",
  tags: "Tags",
  maintenanceWindows: "Maintenance schedules; a single window is maintenance",
} as const;

/** Fields that have no counterpart, or tell the state of a moment. */
const IGNORED = [
  "id",
  "apiKey",
  "assignedAlertContacts",
  "createDateTime",
  "currentStateDuration",
  "customFields",
  "domainExpirationReminder",
  "domainExpireDate",
  "groupId",
  "lastDayUptimes",
  "lastIncident",
  "lastIncidentId",
  "psps",
  "regionalData",
  "regionData",
  "sslBrand",
  "sslCheckEnabled",
  "sslExpiryDateTime",
  "userId",
];

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(ROBOT_FIELDS), ...IGNORED]);

function unknownOf(row: Fields, known: ReadonlySet<string>): string[] {
  return Object.keys(row).filter((field) => !known.has(field));
}

/** Returns a text without the entities in which UptimeRobot writes signs of HTML. */
function unescaped(text: string): string {
  return text.replaceAll(
    /&(amp|lt|gt|quot|#0?39|#x27);/g,
    (_, name: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"' })[name] ?? "'",
  );
}

/** Reads a monitor as version 3 of the API answers it. */
function fromVersion3(row: Fields): RobotMonitor {
  const config = isObject(row["config"]) ? row["config"] : {};
  const { apiKey: _key, ...settings } = row;
  return {
    id: textOf(row["id"]),
    name: unescaped(textOf(row["friendlyName"])),
    type: textOf(row["type"]).toUpperCase(),
    url: unescaped(textOf(row["url"])),
    port: numberOf(row["port"]),
    interval: numberOf(row["interval"]),
    timeout: numberOf(row["timeout"]),
    grace: numberOf(row["gracePeriod"]),
    isPaused: textOf(row["status"]).toUpperCase() === "PAUSED",
    keywordType: textOf(row["keywordType"]),
    keyword: textOf(row["keywordValue"]),
    isCaseSensitive: numberOf(row["keywordCaseType"]) === 0,
    method: textOf(row["httpMethodType"]).toUpperCase(),
    authType: textOf(row["authType"]),
    user: textOf(row["httpUsername"]),
    password: textOf(row["httpPassword"]),
    headers: textsIn(row["customHttpHeaders"]),
    post: { type: textOf(row["postValueType"]), data: row["postValueData"] },
    statuses: listOf(row["successHttpResponseCodes"]).map((code) => textOf(code)),
    followsRedirects: row["followRedirections"] !== false,
    verifiesTls: row["checkSSLErrors"] === true,
    slowAboveMs: numberOf(row["responseTimeThreshold"]) || undefined,
    ipVersion: textOf(config["ipVersion"]),
    records: isObject(config["dnsRecords"]) ? config["dnsRecords"] : {},
    tags: listOf(row["tags"]).map((tag) => textOf(isObject(tag) ? tag["name"] : tag)),
    windows: objectsOf(row["maintenanceWindows"]),
    unknown: unknownOf(row, KNOWN),
    settings,
  };
}

/** Types by their numbers in version 2. */
const TYPE_NUMBERS: ReadonlyMap<string, string> = new Map([
  ["1", "HTTP"],
  ["2", "KEYWORD"],
  ["3", "PING"],
  ["4", "PORT"],
  ["5", "HEARTBEAT"],
]);

const METHOD_NUMBERS = ["", "HEAD", "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Fields of version 2 that are read, or have no counterpart. */
const KNOWN_OF_2: ReadonlySet<string> = new Set([
  ..."id friendly_name url type sub_type port keyword_type keyword_case_type keyword_value".split(
    " ",
  ),
  ..."http_username http_password http_auth_type http_method interval timeout status".split(" "),
  ..."custom_http_headers custom_http_statuses post_type post_value post_content_type".split(" "),
  ..."create_datetime monitor_group is_group_main logs ssl alert_contacts response_times".split(
    " ",
  ),
  ..."average_response_time all_time_uptime_ratio custom_uptime_ratio".split(" "),
]);

/** Reads a monitor as `getMonitors` of version 2 answers it. */
function fromVersion2(row: Fields): RobotMonitor {
  const type = textOf(row["type"]);
  return {
    id: textOf(row["id"]),
    name: unescaped(textOf(row["friendly_name"])),
    type: TYPE_NUMBERS.get(type) ?? type,
    url: unescaped(textOf(row["url"])),
    port: numberOf(row["port"]),
    interval: numberOf(row["interval"]),
    timeout: numberOf(row["timeout"]),
    grace: undefined,
    isPaused: numberOf(row["status"]) === 0,
    keywordType: numberOf(row["keyword_type"]) === 1 ? "ALERT_EXISTS" : "ALERT_NOT_EXISTS",
    keyword: textOf(row["keyword_value"]),
    isCaseSensitive: numberOf(row["keyword_case_type"]) === 0,
    method: METHOD_NUMBERS[numberOf(row["http_method"]) ?? 0] ?? "",
    authType: numberOf(row["http_auth_type"]) === 2 ? "DIGEST" : "HTTP_BASIC",
    user: textOf(row["http_username"]),
    password: textOf(row["http_password"]),
    headers: textsIn(row["custom_http_headers"]),
    post: {
      type: numberOf(row["post_type"]) === 1 ? "KEY_VALUE" : "RAW_JSON",
      data: row["post_value"],
    },
    // `404:0_200:1`: of each status, if it is up.
    statuses: [...textOf(row["custom_http_statuses"]).matchAll(/(\d{3}):1/g)].map(
      ([, status = ""]) => status,
    ),
    followsRedirects: true,
    verifiesTls: false,
    slowAboveMs: undefined,
    ipVersion: "",
    records: {},
    tags: [],
    windows: [],
    unknown: unknownOf(row, KNOWN_OF_2),
    settings: row,
  };
}

/** Columns of a table, with the names of the template for many monitors and those of other exports. */
const CSV = {
  id: ["id", "monitor id"],
  name: ["friendly name", "name", "monitor name"],
  type: ["type", "monitor type"],
  url: ["url/ip", "url", "url (or ip)", "url or ip", "ip"],
  interval: ["interval", "monitoring interval", "interval (seconds)"],
  timeout: ["timeout"],
  port: ["port"],
  keywordType: ["keyword type"],
  keyword: ["keyword value", "keyword"],
  user: ["http username", "username"],
  password: ["http password", "password"],
  status: ["status"],
  tags: ["tags"],
} as const;

/** Columns that have no counterpart. */
const CSV_IGNORED = ["alert contact", "alert contacts", "group", "created", "uptime"];

/** Intervals below the shortest of UptimeRobot, which is 30 seconds, are minutes. */
const SHORTEST_SECONDS = 30;

async function readCsvTable(bytes: Uint8Array, path: string): Promise<RobotMonitor[]> {
  const { columns, rows } = await readTable(bytes, path);
  const has = (names: readonly string[]) => columns.some((column) => names.includes(column));
  if (!has(CSV.name) || !has(CSV.url)) {
    throw new OperatorError(
      `The first line of ${path} must name the columns, such as Type,Friendly Name,URL/IP,Interval.`,
    );
  }
  const known: readonly string[] = [...Object.values(CSV).flat(), ...CSV_IGNORED];
  const unknown = columns.filter((column) => column !== "" && !known.includes(column));
  return rows.map((row) => fromTable(row, unknown));
}

function fromTable(row: TableRow, unknown: readonly string[]): RobotMonitor {
  const cell = (name: keyof typeof CSV) => row.cell(...CSV[name]);
  const typed = cell("type");
  const word = typed.toUpperCase().replaceAll(/[^A-Z]/g, "");
  const words: Readonly<Record<string, string>> = {
    HTTPS: "HTTP",
    HEARTBEATCRONJOB: "HEARTBEAT",
    CRONJOB: "HEARTBEAT",
    TCPPORT: "PORT",
  };
  const interval = numberOf(cell("interval"));
  const keywordType = cell("keywordType").toLowerCase();
  const name = cell("name");
  return {
    ...fromVersion2({}),
    id: idOfValue(cell("id"), name || `line ${row.line}`),
    name,
    type: TYPE_NUMBERS.get(typed) ?? words[word] ?? (word || "HTTP"),
    url: cell("url"),
    port: numberOf(cell("port")),
    interval: interval !== undefined && interval < SHORTEST_SECONDS ? interval * 60 : interval,
    timeout: numberOf(cell("timeout")),
    isPaused: /^(paused|0)$/i.test(cell("status")),
    keywordType: /^(1|exists|alert_exists)$/.test(keywordType)
      ? "ALERT_EXISTS"
      : "ALERT_NOT_EXISTS",
    keyword: cell("keyword"),
    isCaseSensitive: true,
    user: cell("user"),
    password: cell("password"),
    tags: cell("tags")
      .split(/[,;]/)
      .flatMap((tag) => tag.trim() || []),
    unknown,
  };
}

/** Types of UptimeRobot, and what they are here, for the documentation. */
export const ROBOT_TYPES = {
  HTTP: "`http`",
  KEYWORD: "`http` with an assertion on the body",
  PING: "`ping`",
  PORT: "`tcp`",
  HEARTBEAT: "`push`, switched off until its job calls the new address",
  DNS: "`dns`",
} as const;

/** Time zone of maintenance windows, and those of earlier monitors. */
interface Planned {
  /** Time zone of the account; undefined if it is not known. */
  timeZone: string | undefined;
  /** Components of the single windows that were found, by their ids. */
  once: Map<string, ForeignKey[]>;
  /** Ids of the windows that were left out. */
  leftOut: Set<string>;
}

function addMonitor(found: Found, page: OwnPage, monitor: RobotMonitor, planned: Planned): void {
  const { id, name, tags, windows } = monitor;
  const shown = cutName(name, readTarget(monitor.url)?.host ?? "Unnamed monitor");
  const foreign = { type: "monitor", id: idOfValue(id, shown), name: shown };
  const component = page.component(foreign.id, shown);
  const notes = new Notes();
  const cut = cutTags(tags, "tag");
  notes.text("tags", tags.join(", "), cut.join(", "), TAGS_REASON);
  const checked = checkedBy(monitor, notes);
  const body = {
    name: shown,
    tags: cut,
    paused: monitor.isPaused,
    ...(monitor.interval !== undefined && { interval_seconds: monitor.interval }),
  };
  found.monitors.push({
    foreign,
    body: checked
      ? { ...body, ...timeLimitOf(monitor, checked.type, notes), ...checked }
      : {
          ...body,
          type: "unsupported",
          config: {
            source: "uptimerobot",
            type: cutName(monitor.type.toLowerCase(), "unknown", 50),
            target: cutName(readTarget(monitor.url)?.host ?? "", shown, 200),
            settings: { ...monitor.settings },
          },
        },
    changes: notes.changes,
    disabled: notes.disabled,
    ...(checked ? {} : { held: "This version cannot check its type. Its settings are kept." }),
    components: [component],
  });
  for (const window of windows) addWindow(found, page, window, component, planned);
}

/** Type and config of a monitor here. */
interface Checked {
  type: "http" | "tcp" | "ping" | "dns" | "push";
  config: Readonly<Record<string, unknown>>;
  degraded_after_ms?: number;
}

/** Returns the type and the config of a monitor; undefined for a type that cannot be checked here. */
function checkedBy(monitor: RobotMonitor, notes: Notes): Checked | undefined {
  const { host = monitor.url, port } = readTarget(monitor.url) ?? {};
  switch (monitor.type) {
    case "HTTP":
    case "KEYWORD":
      return {
        type: "http",
        config: httpConfig(monitor, notes),
        ...(monitor.slowAboveMs !== undefined && { degraded_after_ms: monitor.slowAboveMs }),
      };
    case "PING":
      return { type: "ping", config: { host } };
    case "PORT":
      return { type: "tcp", config: { host, port: monitor.port ?? port } };
    case "DNS":
      return { type: "dns", config: { name: host, ...recordsOf(monitor, notes) } };
    case "HEARTBEAT":
      notes.disable(
        "Its job calls UptimeRobot. Give it a token, let the job call that address, and resume it.",
      );
      return {
        type: "push",
        config: monitor.grace === undefined ? {} : { grace_seconds: monitor.grace },
      };
    default:
      return undefined;
  }
}

const TIMEOUT_MAX_SECONDS = 60;

/** Returns the time limit of a check. Heartbeats have none. */
function timeLimitOf({ timeout }: RobotMonitor, type: Checked["type"], notes: Notes) {
  if (timeout === undefined || timeout === 0 || type === "push") return {};
  const seconds = notes.limited("timeout", timeout, { min: 1, max: TIMEOUT_MAX_SECONDS });
  return { timeout_ms: seconds * 1_000 };
}

function httpConfig(monitor: RobotMonitor, notes: Notes) {
  const { method, ipVersion } = monitor;
  const { url, credentials } = withoutCredentials(monitor.url);
  const isHttps = /^https:/i.test(url);
  const { headers, digest } = signInOf(monitor, notes);
  const { body, contentType } = bodyOf(monitor);
  const canSend = method !== "" && method !== "GET" && method !== "HEAD";
  let all = headers;
  if (credentials) all = withHeader(all, "Authorization", basicAuthorization(credentials));
  if (canSend && contentType !== undefined) all = withHeader(all, "Content-Type", contentType);
  return {
    url,
    ...(method !== "" && method !== "GET" && { method }),
    ...(Object.keys(all).length > 0 && { headers: all }),
    ...(body !== undefined && canSend && { body }),
    ...(digest && { digest }),
    ...(!monitor.followsRedirects && { follow_redirects: false }),
    ...(isHttps && !monitor.verifiesTls && { verify_tls: false }),
    ...(/^ipv[46]only$/i.test(ipVersion) && {
      ip_family: ipVersion.toLowerCase().replace("only", ""),
    }),
    certificate_warning_days:
      monitor.settings["sslExpirationReminder"] === true && monitor.verifiesTls ? 14 : 0,
    assertions: [statusAssertion(monitor, notes), ...keywordAssertions(monitor, notes)],
  };
}

/** Returns the headers with those that sign in, and Digest sign-in. */
function signInOf({ authType, user, password, headers }: RobotMonitor, notes: Notes) {
  const isNamed = /^(HTTP_BASIC|DIGEST|BEARER)$/.test(authType);
  if (!isNamed || (user === "" && password === "" && authType !== "BEARER")) return { headers };
  if (password === "") {
    notes.drop("httpPassword", "The answer does not have it.");
    notes.disable("The source does not have its password. Enter it, and resume it.");
    return { headers };
  }
  if (authType === "DIGEST") return { headers, digest: { username: user, password } };
  const value =
    authType === "BEARER" ? `Bearer ${password}` : basicAuthorization({ user, password });
  return { headers: withHeader(headers, "Authorization", value) };
}

function bodyOf({ post: { type, data } }: RobotMonitor): { body?: string; contentType?: string } {
  if (data === null || data === undefined || data === "") return {};
  if (type !== "KEY_VALUE") {
    const body = typeof data === "string" ? data : JSON.stringify(data);
    return { body, contentType: "application/json" };
  }
  const pairs = typeof data === "string" ? (parseJson(data) ?? {}) : data;
  return {
    body: new URLSearchParams(textsIn(pairs)).toString(),
    contentType: "application/x-www-form-urlencoded",
  };
}

/** Returns the assertion for statuses, of which `2xx` is a range. */
function statusAssertion({ statuses }: RobotMonitor, notes: Notes): Assertion {
  const value = statuses.flatMap((status) => {
    const [, hundred] = /^([1-5])xx$/i.exec(status) ?? [];
    if (hundred !== undefined) return [`${hundred}00-${hundred}99`];
    return /^[1-5]\d\d(-[1-5]\d\d)?$/.test(status) ? [status] : [];
  });
  const few = fewStatuses(notes, "successHttpResponseCodes", value);
  return { source: "status", op: "in", value: few.length === 0 ? ["200-399"] : few };
}

function keywordAssertions(monitor: RobotMonitor, notes: Notes): Assertion[] {
  const { type, keyword, keywordType, isCaseSensitive } = monitor;
  if (type !== "KEYWORD") return [];
  if (keyword === "") {
    notes.disable("It has no keyword. Give it an assertion, and resume it.");
    return [];
  }
  const hasCase = keyword.toLowerCase() !== keyword.toUpperCase();
  if (keywordType === "ALERT_EXISTS") {
    if (hasCase && !isCaseSensitive) {
      const reason = "Case counts here for a text that must not be there.";
      notes.change("keywordCaseType", "CaseInsensitive", "CaseSensitive", reason);
    }
    return [{ source: "body", op: "not_contains", value: keyword }];
  }
  if (isCaseSensitive || !hasCase) return [{ source: "body", op: "contains", value: keyword }];
  const pattern = keyword.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return [{ source: "body", op: "matches", value: `(?i)${pattern}` }];
}

/** Returns the records of the first type that a DNS monitor compares. */
function recordsOf({ records }: RobotMonitor, notes: Notes) {
  const filled = Object.entries(records).filter(([, values]) => listOf(values).length > 0);
  const [first, ...others] = filled;
  if (!first) return {};
  if (others.length > 0) {
    const names = filled.map(([name]) => name).join(", ");
    notes.change("dnsRecords", names, first[0], "A monitor compares records of one type.");
  }
  return { record_type: first[0], expected: listOf(first[1]).map((value) => textOf(value)) };
}

/** Longest maintenance window, in minutes: a year. */
const WINDOW_MAX_MINUTES = 525_600;

const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];

/** Adds a maintenance window of a monitor, whose times are in the time zone of the account. */
function addWindow(
  found: Found,
  page: OwnPage,
  window: Fields,
  component: ForeignKey,
  planned: Planned,
): void {
  const { timeZone } = planned;
  const name = cutName(unescaped(textOf(window["name"])), "Maintenance window");
  const id = idOfValue(window["id"], JSON.stringify(window));
  const foreign = { type: "maintenance_window", id, name };
  const leaveOut = (reason: string) => {
    if (!planned.leftOut.has(id)) found.leftOut.push({ foreign, reason });
    planned.leftOut.add(id);
  };
  const minutes = Math.ceil(numberOf(window["duration"]) ?? 0);
  const [, hour, minute] = /^(\d{1,2}):(\d{2})/.exec(textOf(window["time"])) ?? [];
  if (hour === undefined || minute === undefined || minutes < 1 || minutes > WINDOW_MAX_MINUTES) {
    leaveOut("Its time or its duration cannot be read.");
    return;
  }
  if (/^(paused|inactive)$/i.test(textOf(window["status"]))) {
    leaveOut("It is not active.");
    return;
  }
  const zone = timeZone ?? "UTC";
  const notes = new Notes();
  if (timeZone === undefined) {
    const reason =
      "The source does not name the time zone of the account. Import with --time-zone, or correct it.";
    notes.change("time", `${hour}:${minute}`, `${hour}:${minute} UTC`, reason);
  }
  const days = listOf(window["days"]).map((day) => numberOf(day) ?? Number.NaN);
  const interval = textOf(window["interval"]).toLowerCase();
  if (interval === "once") {
    addOnce(found, page, {
      window,
      foreign,
      minutes,
      hour,
      minute,
      zone,
      planned,
      component,
      leaveOut,
    });
    return;
  }
  const cron = cronOf(interval, days, `${Number(minute)} ${Number(hour)}`);
  if (cron === undefined) {
    leaveOut("Its days cannot be read.");
    return;
  }
  page.addWindow({ id, name, cron, minutes, timeZone: zone, changes: notes.changes }, component);
}

/** Returns the cron expression of a window that repeats; undefined for one whose days are not known. */
function cronOf(interval: string, days: readonly number[], time: string): string | undefined {
  switch (interval) {
    case "daily":
      return `${time} * * *`;
    case "weekly": {
      const names = days.map((day) => (Number.isInteger(day) ? WEEKDAYS[day] : undefined));
      return names.length === 0 || names.includes(undefined)
        ? undefined
        : `${time} * * ${names.join()}`;
    }
    case "monthly": {
      const isDay = (day: number) => Number.isInteger(day) && day >= 1 && day <= 31;
      return days.length === 0 || !days.every(isDay) ? undefined : `${time} ${days.join()} * *`;
    }
    default:
      return undefined;
  }
}

/** Adds a single window as maintenance, or its component to that maintenance. */
function addOnce(
  found: Found,
  page: OwnPage,
  once: {
    window: Fields;
    foreign: { type: string; id: string; name: string };
    minutes: number;
    hour: string;
    minute: string;
    zone: string;
    planned: Planned;
    component: ForeignKey;
    leaveOut: (reason: string) => void;
  },
): void {
  const { window, foreign, minutes, hour, minute, zone, planned, component, leaveOut } = once;
  const known = planned.once.get(foreign.id);
  if (known) {
    if (!known.includes(component)) known.push(component);
    return;
  }
  const shown = Date.parse(
    `${textOf(window["date"]).slice(0, 10)}T${hour.padStart(2, "0")}:${minute}:00Z`,
  );
  if (Number.isNaN(shown)) {
    leaveOut("Its date cannot be read.");
    return;
  }
  const start = firstShown(shown, zone);
  const components = [component];
  planned.once.set(foreign.id, components);
  found.maintenance.push({
    foreign,
    body: {
      name: foreign.name,
      scheduled_for: toIso(start),
      scheduled_until: toIso(start + minutes * 60_000),
      updates: [{ status: "scheduled", body: foreign.name }],
    },
    changes: [],
    page: page.page,
    components,
  });
}
