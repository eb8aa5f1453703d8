/* Types of monitors of Uptime Kuma: what each becomes, and how its config is read. */
import { isIP } from "node:net";
import { numberedRef } from "../../base/ids";
import { parseJson, toRef } from "../../base/text";
import type { Assertion } from "../../features/monitors/assertions/assertions";
import type { Notes } from "../kit";
import {
  type Connection,
  flag,
  given,
  idOf,
  type KumaValue,
  type MonitorRow,
  number,
  object,
  readConnection,
  type Row,
  text,
  textOf,
} from "./database";
import {
  type Checked,
  checked,
  Held,
  jsonAssertions,
  jsonPathOf,
  type MonitorContext,
  readHttp,
  readRabbitMq,
  readWebSocket,
} from "./requests";
import type { Mapping } from "./tables";

/** Reads the type and the config of a monitor. Differences go into the notes. */
type ReadType = (monitor: MonitorRow, notes: Notes, context: MonitorContext) => Checked | Held;

interface TypeMapping extends Mapping {
  /** Absent for types without a monitor here. */
  read?: ReadType;
}

const HELD: TypeMapping = {
  to: "unsupported",
  rule: "It is kept with its settings and history, and not checked.",
};

/** Types of monitors. A type that is missing here is kept as those that cannot be checked. */
export const MONITOR_TYPES: Readonly<Record<string, TypeMapping>> = {
  http: { to: "http", rule: "With its statuses as an assertion.", read: readHttp },
  keyword: { to: "http", rule: "With an assertion that the body contains it.", read: readHttp },
  "json-query": {
    to: "http",
    rule: "With an assertion on the JSON. It is switched off with other JSONata than names and indexes.",
    read: readHttp,
  },
  port: {
    to: "tcp",
    rule: "If it warns of certificates: `tls`, or `smtp` with STARTTLS. Kept and not checked if it expects an alert of TLS.",
    read: readPort,
  },
  ping: {
    to: "ping",
    rule: "One request of the usual size. Switched off where this server can send none.",
    read: readPing,
  },
  dns: { to: "dns", rule: "The first resolver is asked.", read: readDns },
  push: {
    to: "push",
    rule: "Jobs go on calling the same path. Retries lengthen the grace period.",
    read: readPush,
  },
  docker: {
    to: "docker",
    rule: "Switched off until ALLCLEAR_DOCKER_HOSTS defines the host.",
    read: readDocker,
  },
  postgres: { to: "postgres", rule: "The query can only read.", read: readPostgres },
  mysql: { to: "mysql", rule: "The query can only read.", read: readMysql },
  redis: {
    to: "redis",
    rule: "A password goes on being sent without verified TLS (`allow_plain_password`), which is reported.",
    read: readRedis,
  },
  mqtt: {
    to: "mqtt",
    rule: "Kept and not checked over a WebSocket. Passwords as for `redis`.",
    read: readMqtt,
  },
  smtp: { to: "smtp", rule: "", read: readSmtp },
  "websocket-upgrade": {
    to: "websocket",
    rule: "Kept and not checked with OAuth 2.0 and client certificates.",
    read: readWebSocket,
  },
  "grpc-keyword": {
    to: "grpc",
    rule: "Only for `grpc.health.v1.Health`. Others are kept and not checked.",
    read: readGrpc,
  },
  group: {
    to: "the group of its members",
    rule: "On a page it becomes a component that all members watch.",
  },
  manual: {
    to: "a component",
    rule: "Its status is that of the component at the first import. Without a page it is kept and not checked.",
  },
  rabbitmq: {
    to: "http",
    rule: "With one node. Several are kept and not checked.",
    read: readRabbitMq,
  },
  gamedig: HELD,
  globalping: HELD,
  "kafka-producer": HELD,
  mongodb: HELD,
  ntp: HELD,
  oracledb: HELD,
  pm2: HELD,
  radius: HELD,
  "real-browser": HELD,
  sftp: HELD,
  "sip-options": HELD,
  snmp: HELD,
  sqlserver: HELD,
  steam: HELD,
  "system-service": HELD,
  "tailscale-ping": HELD,
};

/** Returns the mapping of a type; undefined for one that this version does not know. */
export function typeOf(type: string): TypeMapping | undefined {
  return Object.hasOwn(MONITOR_TYPES, type) ? MONITOR_TYPES[type] : undefined;
}

/** Ports of protocols other than SMTP that begin TLS by a command of their own: IMAP and XMPP. */
const NOT_SMTP: ReadonlySet<number> = new Set([143, 5222, 5269]);

/** Reads a monitor of a TCP port. It looks at TLS only if it is to warn of certificates. */
function readPort(monitor: MonitorRow, notes: Notes, context: MonitorContext) {
  const alert = text(monitor.expected_tls_alert);
  if (alert !== "" && alert !== "none") return new Held("It expects an alert of TLS.");
  const host = text(monitor.hostname).trim();
  const port = number(monitor.port, 0);
  const security = flag(monitor.expiry_notification) ? text(monitor.smtp_security) : "";
  if (security === "starttls") {
    if (NOT_SMTP.has(port)) return new Held("It uses STARTTLS of a protocol other than SMTP.");
    const config = { host, port, tls: "starttls" };
    return checked("smtp", { ...config, certificate_warning_days: context.warningDays });
  }
  if (security !== "secure") return checked("tcp", { host, port });
  const reason =
    "Uptime Kuma warns before a certificate expires. Here the check fails once it has expired.";
  notes.change("expiry_notification", true, false, reason);
  return checked("tls", { host, port, days: 0 });
}

/** Settings of pings with their values for new monitors. */
const PING_DEFAULTS = {
  packet_size: 56,
  ping_count: 1,
  ping_numeric: 1,
  ping_per_request_timeout: 2,
} as const;

function readPing(monitor: MonitorRow, notes: Notes): Checked {
  for (const [column, usual] of Object.entries(PING_DEFAULTS)) {
    const value = number(monitor[column as keyof typeof PING_DEFAULTS], usual);
    const reason = "One echo request of the usual size is sent.";
    if (value !== usual) notes.change(column, value, usual, reason);
  }
  return checked("ping", { host: text(monitor.hostname).trim() });
}

/** Records whose text here is that of the condition there. Of others it is only a part. */
const COMPARABLE: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME", "NS", "PTR", "TXT"]);

function readDns(monitor: MonitorRow, notes: Notes): Checked {
  const type = text(monitor.dns_resolve_type) || "A";
  const host = text(monitor.hostname).trim();
  const resolver = resolverOf(monitor, notes);
  const variable = COMPARABLE.has(type) ? "record" : "";
  const expected = expectedText(monitor.conditions, variable, notes);
  return checked("dns", {
    name: type === "PTR" ? reverseName(host) : host,
    record_type: type,
    ...(resolver !== undefined && { resolver }),
    ...(expected !== undefined && { expected: [expected] }),
  });
}

function resolverOf(monitor: MonitorRow, notes: Notes): string | undefined {
  const servers = text(monitor.dns_resolve_server).replace(/\s/g, "").split(",").filter(Boolean);
  const [first] = servers;
  const address = servers.find((server) => isIP(server) !== 0);
  const port = number(monitor.port, 53);
  if (first === undefined) return undefined;
  if (address === undefined) {
    const reason = "A resolver must be an address here, so the resolver of the system is asked.";
    notes.change("dns_resolve_server", servers.join(","), null, reason);
    return undefined;
  }
  if (servers.length > 1) {
    notes.change("dns_resolve_server", servers.join(","), address, "One resolver is asked.");
  }
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Returns the name under which the names of an address are found. */
function reverseName(address: string): string {
  if (isIP(address) === 4) return `${address.split(".").toReversed().join(".")}.in-addr.arpa`;
  if (isIP(address) !== 6) return address;
  return `${nibblesOf(address).toReversed().join(".")}.ip6.arpa`;
}

/** Returns the 32 hexadecimal digits of an IPv6 address. */
function nibblesOf(address: string): string[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, "")}]`);
  const [head = "", tail] = hostname.slice(1, -1).split("::");
  const groups = (part: string) => part.split(":").filter(Boolean);
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const zeros = Array.from({ length: missing }, () => "0");
  const all = [...groups(head), ...zeros, ...groups(tail ?? "")];
  return [...all.map((group) => group.padStart(4, "0")).join("")];
}

/** Reads a monitor that waits for the calls of a job. */
function readPush(monitor: MonitorRow, notes: Notes): Checked {
  const retries = Math.max(0, number(monitor.maxretries, 0));
  if (retries > 0) {
    const reason =
      "Retries lengthen the time that a call may be late. A call that reports a failure counts at once.";
    notes.change("maxretries", retries, 0, reason);
  }
  const retry = number(monitor.retry_interval, 0) || number(monitor.interval, 0);
  const grace = 1 + retries * retry;
  return {
    type: "push",
    config: {
      grace_seconds: notes.limited("grace_seconds", grace, {
        min: 0,
        max: 31_536_000,
        unit: "seconds",
      }),
    },
    settings: { failure_threshold: 1 },
  };
}

/** Reads a monitor of a container. */
function readDocker(monitor: MonitorRow, notes: Notes, context: MonitorContext) {
  const id = number(monitor.docker_host, 0);
  if (id === 0) return new Held("It has no Docker host.");
  // A backup has only the id.
  const host = context.dockerHosts.get(id) ?? `docker-${id}`;
  const reason = `The Docker host ${host} must be defined in ALLCLEAR_DOCKER_HOSTS. Then resume it.`;
  if (!context.isDefined(host)) notes.disable(reason);
  return checked("docker", { host, container: text(monitor.docker_container).trim() });
}

const SMTP_TLS: Readonly<Record<string, string>> = {
  secure: "tls",
  starttls: "starttls",
  nostarttls: "off",
};

function readSmtp(monitor: MonitorRow): Checked {
  const host = text(monitor.hostname).trim();
  const tls = SMTP_TLS[text(monitor.smtp_security)] ?? "starttls_if_offered";
  const port = number(monitor.port, 25);
  return checked("smtp", { host, port, tls, certificate_warning_days: 0 });
}

/** An address with a port, and with or without a scheme. */
const ADDRESS = /^(?:\w+:\/\/)?(?:\[([^\]]+)\]|([^:/]+)):(\d+)/;

const HEALTH = "grpc.health.v1.Health";

/** Reads a monitor that asks the health service of a gRPC server. */
function readGrpc(monitor: MonitorRow, notes: Notes, context: MonitorContext) {
  const name = text(monitor.grpc_service_name).trim();
  const [, packageName = ""] = /\bpackage\s+([\w.]+)\s*;/.exec(text(monitor.grpc_protobuf)) ?? [];
  const isHealth = name === HEALTH || `${packageName}.${name}` === HEALTH;
  if (!isHealth || text(monitor.grpc_method).toLowerCase() !== "check") {
    return new Held("It calls a method other than that of the health service.");
  }
  const [, ipv6, name4, port] = ADDRESS.exec(text(monitor.grpc_url).trim()) ?? [];
  if (port === undefined) return new Held("Its address has no port.");
  const keyword = text(monitor.keyword);
  if (flag(monitor.invert_keyword) || !'{"status":"SERVING"}'.includes(keyword)) {
    notes.change("keyword", keyword, "SERVING", "The service must answer SERVING here.");
  }
  const service = given(textOf(object(monitor.grpc_body)?.["service"]));
  const hasTls = flag(monitor.grpc_enable_tls);
  return checked("grpc", {
    host: ipv6 ?? name4,
    port: Number(port),
    tls: hasTls ? "verify" : "off",
    ...(service !== undefined && { service }),
    certificate_warning_days: hasTls && flag(monitor.expiry_notification) ? context.warningDays : 0,
  });
}

const UNREADABLE = "Its connection string cannot be read.";

/** Returns the parts that PostgreSQL and MySQL have in common. */
function databaseOf(
  { host, port, database, user, password }: Connection,
  monitor: MonitorRow,
  notes: Notes,
  usualUser: string,
): object {
  if (user === undefined) {
    notes.disable(`Its connection string names no user. Give it one, and resume it.`);
  }
  const query = given(monitor.database_query);
  return {
    host,
    ...(port !== undefined && { port }),
    ...(database !== undefined && { database }),
    user: user ?? usualUser,
    ...(password !== undefined && { password }),
    ...(query !== undefined && { query }),
  };
}

function readPostgres(monitor: MonitorRow, notes: Notes, context: MonitorContext): Checked | Held {
  const connection = readConnection(text(monitor.database_connection_string));
  if (!connection) return new Held(UNREADABLE);
  const tls = postgresTls(connection.parameters);
  const config = {
    ...databaseOf(connection, monitor, notes, "postgres"),
    tls,
    ...warningDays(monitor, tls, context),
  };
  return { type: "postgres", config };
}

/** Returns the TLS of PostgreSQL by the parameters `sslmode` and `ssl`. Unlike libpq, `require` verifies there. */
function postgresTls(parameters: Connection["parameters"]): "off" | "require" | "verify" {
  const mode = parameters.get("sslmode");
  if (mode === "no-verify") return "require";
  if (mode !== undefined) return mode === "disable" || mode === "none" ? "off" : "verify";
  const ssl = parameters.get("ssl");
  return ssl === "true" || ssl === "1" ? "verify" : "off";
}

function readMysql(monitor: MonitorRow, notes: Notes, context: MonitorContext): Checked | Held {
  const connection = readConnection(text(monitor.database_connection_string));
  if (!connection) return new Held(UNREADABLE);
  const tls = mysqlTls(connection.parameters.get("ssl"));
  const expected = expectedText(monitor.conditions, "result", notes);
  // The password of its own column takes the place of that in the connection string.
  const password = text(monitor.radius_password) || connection.password;
  const config = {
    ...databaseOf({ ...connection, password }, monitor, notes, "root"),
    tls,
    ...warningDays(monitor, tls, context),
    ...(expected !== undefined && { expected }),
  };
  return { type: "mysql", config };
}

function mysqlTls(ssl: string | undefined): "off" | "require" | "verify" {
  if (ssl === undefined || ssl === "" || ssl === "false") return "off";
  const options = parseJson(ssl) as { rejectUnauthorized?: unknown } | undefined;
  return options?.rejectUnauthorized === false ? "require" : "verify";
}

function readRedis(monitor: MonitorRow, notes: Notes, context: MonitorContext): Checked | Held {
  const connection = readConnection(text(monitor.database_connection_string));
  if (connection?.scheme !== "redis" && connection?.scheme !== "rediss") {
    return new Held(UNREADABLE);
  }
  const { scheme, host, port, user, password, database } = connection;
  const tls = scheme === "redis" ? "off" : flag(monitor.ignore_tls) ? "require" : "verify";
  const index = Number(database);
  const config = {
    host,
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && Number.isInteger(index) && { database: index }),
    tls,
    ...plainPassword("database_connection_string", password, tls, notes),
    ...warningDays(monitor, tls, context),
  };
  return { type: "redis", config };
}

function readMqtt(monitor: MonitorRow, notes: Notes, context: MonitorContext): Checked | Held {
  const [, scheme = "mqtt", host = ""] =
    /^(?:([a-z]+):\/\/)?(.*)$/i.exec(text(monitor.hostname).trim()) ?? [];
  if (scheme !== "mqtt" && scheme !== "mqtts") return new Held("It uses MQTT over a WebSocket.");
  const tls = scheme === "mqtts" ? "verify" : "off";
  const topic = given(monitor.mqtt_topic);
  const user = given(monitor.mqtt_username);
  const password = text(monitor.mqtt_password);
  const assertions = messagesOf(monitor, notes);
  const config = {
    host: host.replace(/^\[|\]$/g, ""),
    port: number(monitor.port, tls === "off" ? 1883 : 8883),
    tls,
    ...(user !== undefined && { user, ...(password !== "" && { password }) }),
    ...plainPassword("mqtt_password", user === undefined ? "" : password, tls, notes),
    ...(topic !== undefined && { topic }),
    ...(topic !== undefined && assertions.length > 0 && { assertions }),
    ...warningDays(monitor, tls, context),
  };
  return { type: "mqtt", config };
}

/** Allows a password that goes on being sent without verified TLS, and notes it. */
function plainPassword(
  field: string,
  password: string | undefined,
  tls: string,
  notes: Notes,
): { allow_plain_password?: true } {
  if (!password || tls === "verify") return {};
  const reason =
    "The password is sent without TLS, or to a server that is not verified, as before. Set tls to verify if the server can.";
  notes.change(field, "set", "allow_plain_password", reason);
  return { allow_plain_password: true };
}

/** Returns the assertions on a message. Conditions take the place of the keyword and of the JSON path. */
function messagesOf(monitor: MonitorRow, notes: Notes): Assertion[] {
  if (hasConditions(monitor.conditions)) {
    return messageAssertions(monitor.conditions, monitor.json_path, notes);
  }
  if (text(monitor.mqtt_check_type) === "json-query") {
    const [path, expected] = [text(monitor.json_path), text(monitor.expected_value)];
    return jsonAssertions({ path, operator: "==", expected }, notes);
  }
  const keyword = text(monitor.mqtt_success_message);
  return keyword === "" ? [] : [{ source: "body", op: "contains", value: keyword }];
}

/** There, certificates of these servers are not watched unless a flag says so. */
function warningDays(monitor: MonitorRow, tls: string, { warningDays: days }: MonitorContext) {
  const warns = tls !== "off" && flag(monitor.expiry_notification);
  return { certificate_warning_days: warns ? days : 0 };
}

/** A condition that compares a variable with a value. */
interface Condition {
  variable: string;
  operator: string;
  value: string;
}

const LEFT_OUT = "These conditions have no counterpart, so the check does not look at them.";

/**
 * Reads conditions that must all hold. Undefined for groups of conditions and for alternatives, which are one whole.
 */
function readConditions(value: KumaValue): Condition[] | undefined {
  const entries = parseJson(text(value));
  if (!Array.isArray(entries)) return [];
  const conditions = (entries as unknown[]).map((entry, index) => readCondition(entry, index));
  return conditions.every((condition) => condition !== undefined) ? conditions : undefined;
}

function readCondition(entry: unknown, index: number): Condition | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { type, andOr, variable, operator, value } = entry as Record<string, unknown>;
  // The first has nothing before it to be combined with.
  if (type !== "expression" || (andOr === "or" && index > 0)) return undefined;
  return { variable: textOf(variable), operator: textOf(operator), value: textOf(value) };
}

/** Returns true if conditions are set. */
function hasConditions(value: KumaValue): boolean {
  const entries = parseJson(text(value));
  return Array.isArray(entries) && entries.length > 0;
}

/** Returns the text that the only condition demands; undefined, with a note, for other conditions. */
function expectedText(value: KumaValue, variable: string, notes: Notes): string | undefined {
  if (!hasConditions(value)) return undefined;
  const conditions = readConditions(value) ?? [];
  const [first] = conditions;
  const isPlain = conditions.length === 1 && first?.operator === "equals" && first.value !== "";
  if (isPlain && first.variable === variable) return first.value;
  notes.drop("conditions", LEFT_OUT);
  return undefined;
}

/** Returns the assertions on a message that conditions become. Others are left out with a note. */
function messageAssertions(value: KumaValue, jsonPath: KumaValue, notes: Notes): Assertion[] {
  const conditions = readConditions(value);
  const assertions = (conditions ?? []).map((one) => assertionOf(one, text(jsonPath)));
  if (!conditions || assertions.includes(undefined)) notes.drop("conditions", LEFT_OUT);
  return assertions.filter((assertion) => assertion !== undefined);
}

const TEXT_OPS = {
  equals: "eq",
  not_equals: "ne",
  contains: "contains",
  not_contains: "not_contains",
} as const;

const CONDITION_NUMBER_OPS = {
  num_equals: "eq",
  num_not_equals: "ne",
  lt: "lt",
  lte: "lte",
  gt: "gt",
  gte: "gte",
} as const;

function assertionOf(
  { variable, operator, value }: Condition,
  jsonPath: string,
): Assertion | undefined {
  const property = jsonPathOf(jsonPath);
  const pattern = patternOf(operator, value);
  const op = lookUp(TEXT_OPS, operator);
  if (variable === "message") {
    if (pattern !== undefined) return { source: "body", op: "matches", value: pattern };
    return op && value !== "" ? { source: "body", op, value } : undefined;
  }
  if (variable !== "json_value" || property === undefined) return undefined;
  const json = { source: "json", property } as const;
  if (pattern !== undefined) return { ...json, op: "matches", value: pattern };
  if (op) return op === "eq" || value !== "" ? { ...json, op, value } : undefined;
  const numberOp = lookUp(CONDITION_NUMBER_OPS, operator);
  const expected = value.trim() === "" ? NaN : Number(value);
  return numberOp && Number.isFinite(expected)
    ? { ...json, op: numberOp, value: expected }
    : undefined;
}

function lookUp<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Longest text of which a regular expression is made, in characters. Those of monitors are limited. */
const PATTERN_MAX = 80;

/** Returns the regular expression of a condition on the beginning or the end of a text. */
function patternOf(operator: string, value: string): string | undefined {
  if (value.length > PATTERN_MAX) return undefined;
  const literal = value.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  if (operator === "starts_with") return `\\A${literal}`;
  return operator === "ends_with" ? `${literal}\\z` : undefined;
}

/** Name that ALLCLEAR_DOCKER_HOSTS can define. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/** Path of a socket that can be a setting. */
const SOCKET = /^\/[A-Za-z0-9_./-]{1,200}$/;

/** Returns the names of Docker hosts here, by their ids. */
export function dockerNames(hosts: readonly Row[]): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const taken = new Set<string>();
  for (const host of hosts) {
    const name = text(host["name"]).trim();
    const wanted = NAME.test(name) ? name : toRef(name) || "docker";
    let count = 1;
    while (taken.has(numberedRef(wanted, count))) count += 1;
    const free = numberedRef(wanted, count);
    taken.add(free);
    names.set(idOf(host), free);
  }
  return names;
}

/** Returns the instruction that defines hosts; undefined without any. */
export function dockerInstruction(
  hosts: readonly Row[],
  names: ReadonlyMap<number, string>,
): string | undefined {
  const parts = hosts.map((host) => `${names.get(idOf(host))}=${addressOf(host)}`);
  return parts.length === 0
    ? undefined
    : `Set ALLCLEAR_DOCKER_HOSTS=${parts.join(",")}, restart, and resume the monitors of containers.`;
}

function addressOf({ docker_type: type = null, docker_daemon: daemon = null }: Row): string {
  const address = text(daemon);
  // Any other text could hold more than a path.
  if (text(type) === "socket") return `unix://${SOCKET.test(address) ? address : "/PATH"}`;
  const url = URL.parse(address.replace(/^\w+:/, "tcp:"));
  return `tcp://${url?.host ?? "HOST:PORT"}`;
}
