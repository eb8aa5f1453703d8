import { parseJson } from "../../../base/text";
import type { Assertion } from "../../monitors/assertions/assertions";
import { type Checked, Held, type MonitorContext, type MonitorRow } from "./checked";
import { expectedText, hasConditions, messageAssertions } from "./conditions";
import { type Connection, readConnection } from "./connection-string";
import { jsonAssertions } from "./json-query";
import type { Notes } from "./notes";
import { flag, given, number, text } from "./values";

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

export function readPostgres(
  monitor: MonitorRow,
  notes: Notes,
  context: MonitorContext,
): Checked | Held {
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

export function readMysql(
  monitor: MonitorRow,
  notes: Notes,
  context: MonitorContext,
): Checked | Held {
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

export function readRedis(
  monitor: MonitorRow,
  notes: Notes,
  context: MonitorContext,
): Checked | Held {
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

export function readMqtt(
  monitor: MonitorRow,
  notes: Notes,
  context: MonitorContext,
): Checked | Held {
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
