/*
 * Monitors of Uptime Kuma that send HTTP requests, and what reading a monitor of any type needs: its context, its
 * result, and assertions on JSON.
 */
import { oneLine } from "../../base/text";
import type { Assertion } from "../../features/monitors/assertions/assertions";
import type { CreateMonitorBody } from "../../features/monitors/wire";
import { basicAuthorization, cutText, type Notes, withoutCredentials } from "../kit";
import { flag, list, type MonitorRow, number, object, type Row, text, textOf } from "./database";

/** Objects of Uptime Kuma on which monitors depend. */
export interface MonitorContext {
  proxies: ReadonlyMap<number, Row>;
  /** Names of Docker hosts here, by their ids there. */
  dockerHosts: ReadonlyMap<number, string>;
  /** Returns true for the name of a Docker host that is defined here. */
  isDefined(name: string): boolean;
  /** Days before the expiry of a certificate from which checks warn. */
  warningDays: number;
}

/** Type of a monitor here, with its config. `settings` take the place of those of all types. */
export interface Checked extends Pick<CreateMonitorBody, "type" | "config"> {
  settings?: Partial<Omit<CreateMonitorBody, "name" | "type" | "config">>;
}

/** Reason, in one sentence, for which a monitor is kept and not checked. */
export class Held {
  constructor(readonly reason: string) {}
}

export function checked(type: Checked["type"], config: Readonly<Record<string, unknown>>): Checked {
  return { type, config };
}

/** Default of `maxredirects` in Uptime Kuma. */
const REDIRECTS = 10;

/** Maximum number of statuses in an assertion. */
const STATUSES_MAX = 50;

/** Status or range of statuses that an assertion can have. */
const STATUS = /^[1-5]\d\d(?:-[1-5]\d\d)?$/;

/** Reads a monitor that sends a request: `http`, `keyword` and `json-query`. */
export function readHttp(
  monitor: MonitorRow,
  notes: Notes,
  context: MonitorContext,
): Checked | Held {
  if (text(monitor.auth_method) === "ntlm") return new Held("It signs in by NTLM.");
  const method = text(monitor.method).trim().toUpperCase() || "GET";
  const { body, contentType } = bodyOf(monitor, method, notes);
  const { url, credentials } = withoutCredentials(text(monitor.url).trim());
  const { authorization, oauth2, ...certificate } = authenticationOf(monitor);
  let headers: Headers = contentType === undefined ? {} : { "Content-Type": contentType };
  if (authorization !== undefined) headers = withHeader(headers, "Authorization", authorization);
  for (const [name, value] of Object.entries(headersOf(monitor, notes))) {
    headers = withHeader(headers, name, value);
  }
  // In Uptime Kuma, credentials in the URL replace all others.
  if (credentials) {
    headers = withHeader(headers, "Authorization", basicAuthorization(credentials));
  }
  const isSignedIn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (oauth2 && isSignedIn) {
    notes.drop("oauth_client_secret", "Its header Authorization takes the place of OAuth 2.0.");
  }
  const { host, headers: others } = hostIn(headers);
  const family = text(monitor.ip_family);
  const ignoresTls = flag(monitor.ignore_tls);
  noteUnused(monitor, notes);
  return {
    type: "http",
    config: {
      url,
      method,
      ...(host !== undefined && { host }),
      ...(Object.keys(others).length > 0 && { headers: others }),
      ...(body !== undefined && { body }),
      ...(oauth2 && !isSignedIn && { oauth2 }),
      ...certificate,
      ...proxyOf(monitor, notes, context),
      follow_redirects: followsRedirects(monitor, notes),
      ...((family === "ipv4" || family === "ipv6") && { ip_family: family }),
      verify_tls: !ignoresTls,
      certificate_warning_days:
        flag(monitor.expiry_notification) && !ignoresTls ? context.warningDays : 0,
      assertions: [...statusAssertions(monitor, notes), ...contentAssertions(monitor, notes)],
    },
  };
}

function followsRedirects(monitor: MonitorRow, notes: Notes): boolean {
  const most = number(monitor.maxredirects, REDIRECTS);
  if (most > 0 && most !== REDIRECTS) {
    notes.change(
      "maxredirects",
      most,
      REDIRECTS,
      `Up to ${REDIRECTS} redirects are followed here.`,
    );
  }
  return most > 0;
}

function proxyOf(monitor: MonitorRow, notes: Notes, { proxies }: MonitorContext): object {
  const id = number(monitor.proxy_id, 0);
  if (id === 0) return {};
  const proxy = proxies.get(id);
  if (!proxy) {
    notes.disable("The source does not say what its proxy is. Give it one, and resume it.");
    return {};
  }
  if (!flag(proxy["active"])) return {};
  const [protocol, host, port] = [proxy["protocol"], proxy["host"], proxy["port"]].map(text);
  if (protocol !== "http" && protocol !== "https") {
    notes.disable("It uses a SOCKS proxy. Give it an HTTP proxy, or none, and resume it.");
    return {};
  }
  const username = text(proxy["username"]);
  const signsIn = flag(proxy["auth"]) && username !== "";
  return {
    proxy: {
      url: `${protocol}://${host}${port === "" ? "" : `:${port}`}`,
      ...(signsIn && { username, password: text(proxy["password"]) }),
    },
  };
}

function statusAssertions(monitor: MonitorRow, notes: Notes): Assertion[] {
  const accepted = list(monitor.accepted_statuscodes_json).map((code) => code.trim());
  const value = accepted.filter((code) => STATUS.test(code)).slice(0, STATUSES_MAX);
  if (value.length < accepted.length) {
    const reason = `Statuses are 100 to 599 here, and at most ${STATUSES_MAX} of them or ranges.`;
    notes.change("accepted_statuscodes_json", accepted.join(", "), value.join(", "), reason);
  }
  if (value.length === 0) {
    notes.disable("It accepts no status. Give it an assertion on the status, and resume it.");
    return [];
  }
  return [{ source: "status", op: "in", value }];
}

function contentAssertions(monitor: MonitorRow, notes: Notes): Assertion[] {
  switch (text(monitor.type)) {
    case "keyword":
      return keywordAssertions(monitor, notes);
    case "json-query":
      return jsonAssertions(
        {
          path: text(monitor.json_path),
          operator: text(monitor.json_path_operator),
          expected: text(monitor.expected_value),
        },
        notes,
      );
    default:
      return [];
  }
}

function keywordAssertions(monitor: MonitorRow, notes: Notes): Assertion[] {
  const keyword = text(monitor.keyword);
  const isInverted = flag(monitor.invert_keyword);
  if (keyword === "") {
    if (isInverted) notes.disable("It has no keyword. Give it an assertion, and resume it.");
    return [];
  }
  if (/["\]}][:,]/.test(keyword)) {
    const reason =
      "There, JSON is searched without white space. Here the body is searched as it was sent.";
    notes.change("keyword", keyword, keyword, reason);
  }
  return [{ source: "body", op: isInverted ? "not_contains" : "contains", value: keyword }];
}

/** Settings that have no counterpart, with the reason. Those that are off are not noted. */
const UNUSED = {
  cache_bust: "No parameter is added to the URL.",
  save_response: "Bodies of responses are not kept.",
  retry_only_on_status_code_failure: "The threshold applies to all failures.",
} as const;

function noteUnused(monitor: MonitorRow, notes: Notes): void {
  for (const [column, reason] of Object.entries(UNUSED)) {
    if (flag(monitor[column as keyof typeof UNUSED])) notes.change(column, true, false, reason);
  }
}

/** Reads a RabbitMQ monitor, whose nodes tell their alarms by HTTP. */
export function readRabbitMq(
  monitor: MonitorRow,
  _notes: Notes,
  context: MonitorContext,
): Checked | Held {
  const [node, ...others] = list(monitor.rabbitmq_nodes);
  if (node === undefined) return new Held("It names no node.");
  if (others.length > 0) return new Held("It is up while one of several nodes is.");
  const url = URL.parse("api/health/checks/alarms/", node.endsWith("/") ? node : `${node}/`);
  if (!url) return new Held("The address of its node cannot be read.");
  const user = text(monitor.rabbitmq_username);
  const password = text(monitor.rabbitmq_password);
  const authorization = basicAuthorization({ user, password });
  return {
    type: "http",
    config: {
      url: withoutCredentials(url.href).url,
      headers: { Accept: "application/json", Authorization: authorization },
      assertions: [{ source: "status", op: "eq", value: 200 }],
      certificate_warning_days: flag(monitor.expiry_notification) ? context.warningDays : 0,
    },
  };
}

export function readWebSocket(monitor: MonitorRow, notes: Notes): Checked | Held {
  const method = text(monitor.auth_method);
  if (method === "oauth2-cc" || method === "mtls" || method === "ntlm") {
    return new Held("It signs in by OAuth 2.0, by a certificate or by NTLM.");
  }
  if (flag(monitor.ws_ignore_sec_websocket_accept_header)) {
    notes.disable(
      "It accepts servers that answer with a wrong Sec-WebSocket-Accept, which is a failure here.",
    );
  }
  const { url, credentials } = withoutCredentials(text(monitor.url).trim());
  const authorization = credentials
    ? basicAuthorization(credentials)
    : authenticationOf(monitor).authorization;
  const ofMonitor = headersOf(monitor, notes);
  const headers =
    authorization === undefined ? ofMonitor : withHeader(ofMonitor, "Authorization", authorization);
  const subprotocols = [
    ...new Set(text(monitor.ws_subprotocol).replace(/\s/g, "").split(",").filter(Boolean)),
  ];
  return checked("websocket", {
    url,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(subprotocols.length > 0 && { subprotocols }),
    close_codes: closeCodesOf(monitor, notes),
    certificate_warning_days: 0,
  });
}

/** Maximum number of closing codes of a monitor, and their range. */
const CLOSE_CODES_MAX = 20;

const CODE_MIN = 1_000;

const CODE_MAX = 4_999;

function closeCodesOf(monitor: MonitorRow, notes: Notes): number[] {
  const accepted = list(monitor.accepted_statuscodes_json);
  const codes = new Set<number>();
  for (const each of accepted) {
    const [from = NaN, to = from] = each.split("-").map(Number);
    const last = Math.min(to, CODE_MAX);
    for (
      let code = Math.max(from, CODE_MIN);
      code <= last && codes.size <= CLOSE_CODES_MAX;
      code++
    ) {
      codes.add(code);
    }
  }
  const found = [...codes].slice(0, CLOSE_CODES_MAX);
  if (codes.size > CLOSE_CODES_MAX || found.length === 0) {
    const to = found.length === 0 ? [CODE_MIN] : found;
    const reason = `There are 1 to ${CLOSE_CODES_MAX} closing codes here.`;
    notes.change("accepted_statuscodes_json", oneLine(accepted.join(", ")), to.join(", "), reason);
    return to;
  }
  return found;
}

/** Header values by name. Names that differ only in case are the same. */
type Headers = Readonly<Record<string, string>>;

/** Returns headers with one that takes the place of another with this name. */
function withHeader(headers: Headers, name: string, value: string): Headers {
  return { ...withoutHeader(headers, name), [name]: value };
}

function withoutHeader(headers: Headers, name: string): Headers {
  const kept = Object.entries(headers).filter(
    ([each]) => each.toLowerCase() !== name.toLowerCase(),
  );
  return Object.fromEntries(kept);
}

/** Takes a header Host out of others, as the host of the configuration. */
function hostIn(headers: Headers): { host?: string; headers: Headers } {
  const [name] = Object.keys(headers).filter((each) => each.toLowerCase() === "host");
  const host = name === undefined ? "" : (headers[name] ?? "").trim();
  return host === "" ? { headers } : { host, headers: withoutHeader(headers, "Host") };
}

/** Returns the headers of a monitor; none, and a reason, if they are no JSON object. */
function headersOf({ headers }: MonitorRow, notes: Notes): Headers {
  if (text(headers).trim() === "") return {};
  const fields = object(headers);
  if (fields) {
    // As in Uptime Kuma, later headers replace earlier ones of the same name.
    return Object.entries(fields).reduce<Headers>(
      (all, [name, value]) => withHeader(all, name, textOf(value)),
      {},
    );
  }
  notes.disable("Its headers are no JSON object, so every check fails there. Correct them.");
  return {};
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  "": "application/json",
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  xml: "text/xml; charset=utf-8",
};

/** Returns the body of a request with its media type; nothing without one. */
function bodyOf(
  monitor: MonitorRow,
  method: string,
  notes: Notes,
): { body?: string; contentType?: string } {
  const body = text(monitor.body);
  if (body.trim() === "") return {};
  if (method === "GET" || method === "HEAD") {
    notes.drop("body", `A request with ${method} has no body here.`);
    return {};
  }
  const contentType = CONTENT_TYPES[text(monitor.http_body_encoding)];
  return contentType === undefined ? {} : { body, contentType };
}

/** Authentication of a request. */
interface Authentication {
  authorization?: string;
  oauth2?: object;
  client_certificate?: object;
  ca?: string;
}

/** Returns the authentication of a monitor. That by NTLM is not known here. */
function authenticationOf(monitor: MonitorRow): Authentication {
  switch (text(monitor.auth_method)) {
    case "basic":
      return {
        authorization: basicAuthorization({
          user: text(monitor.basic_auth_user),
          password: text(monitor.basic_auth_pass),
        }),
      };
    case "bearer":
      return { authorization: `Bearer ${text(monitor.bearer_token)}` };
    case "oauth2-cc":
      return { oauth2: oauth2Of(monitor) };
    case "mtls":
      return certificateOf(monitor);
    default:
      return {};
  }
}

function oauth2Of(monitor: MonitorRow): object {
  const scopes = text(monitor.oauth_scopes).split(/\s+/).filter(Boolean);
  const audience = text(monitor.oauth_audience);
  return {
    token_url: text(monitor.oauth_token_url),
    client_id: text(monitor.oauth_client_id),
    client_secret: text(monitor.oauth_client_secret),
    ...(scopes.length > 0 && { scopes }),
    ...(audience !== "" && { audience }),
    auth: text(monitor.oauth_auth_method) === "client_secret_post" ? "body" : "basic",
  };
}

function certificateOf(monitor: MonitorRow): Authentication {
  const [certificate = "", key = "", ca = ""] = [
    monitor.tls_cert,
    monitor.tls_key,
    monitor.tls_ca,
  ].map(text);
  if (!/^https:/i.test(text(monitor.url)) || (certificate === "" && ca === "")) return {};
  if (!certificate) return { ca };
  return { client_certificate: { certificate, key, ...(ca && { ca }) } };
}

/** Longest expression that is repeated in a reason, in characters. */
const SHOWN_MAX = 200;

/** Words of JSONata that are no names. */
const WORDS: ReadonlySet<string> = new Set(["and", "or", "in", "true", "false", "null"]);

/** A name, bare or in backquotes, or an index, with the point before a further name. */
const STEP = /\.?(?:([\p{L}_][\p{L}\p{N}_]*)|`([^`]+)`)|\[(0|-?[1-9]\d{0,14})\]/uy;

/**
 * Returns the JSONPath of a JSONata expression that only names fields and indexes: `$`, `a.b[0]`, `$.a`. Undefined
 * for every other expression.
 */
export function jsonPathOf(expression: string): string | undefined {
  const trimmed = expression.trim();
  if (trimmed === "" || trimmed === "$") return "$";
  const hasRoot = /^\$[.[]/.test(trimmed);
  const rest = hasRoot ? trimmed.slice(1) : trimmed;
  const step = new RegExp(STEP);
  let path = "$";
  while (step.lastIndex < rest.length) {
    const isFirst = step.lastIndex === 0;
    const hasPoint = rest[step.lastIndex] === ".";
    const [found, bare, quoted, index] = step.exec(rest) ?? [];
    if (found === undefined) return undefined;
    if (index !== undefined) {
      // Without a document before it, this is a list.
      if (isFirst && !hasRoot) return undefined;
      path += `[${index}]`;
      continue;
    }
    // Names after the first have a point before them, and the first has one after `$` alone.
    if (hasPoint !== (!isFirst || hasRoot)) return undefined;
    if (bare !== undefined && WORDS.has(bare)) return undefined;
    path += bare === undefined ? `['${escaped(quoted ?? "")}']` : nameOf(bare);
  }
  return path;
}

/** Returns the step of a bare name, which JSONPath has only without letters such as combining ones. */
function nameOf(name: string): string {
  return /^[A-Za-z_\u{80}-\u{10ffff}][\w\u{80}-\u{10ffff}]*$/u.test(name)
    ? `.${name}`
    : `['${escaped(name)}']`;
}

function escaped(name: string): string {
  return name.replace(/['\\]/g, "\\$&");
}

const NUMBER_OPS = { ">": "gt", ">=": "gte", "<": "lt", "<=": "lte" } as const;

/** Returns the assertions on a JSON document; none, and a reason, if they cannot be expressed. */
export function jsonAssertions(
  { path, operator, expected }: { path: string; operator: string; expected: string },
  notes: Notes,
): Assertion[] {
  const property = jsonPathOf(path);
  if (property === undefined) {
    const shown = cutText(path, SHOWN_MAX);
    notes.disable(
      oneLine(
        `Its JSONata expression has no counterpart: ${shown}. Give it an assertion, and resume it.`,
      ),
    );
    return [];
  }
  const json = { source: "json", property } as const;
  switch (operator) {
    case "":
    case "==":
      return [{ ...json, op: "eq", value: expected }];
    case "!=":
      // A missing value fails in Uptime Kuma.
      return [
        { ...json, op: "exists", value: true },
        { ...json, op: "ne", value: expected },
      ];
    case "contains":
      if (expected === "") return [{ ...json, op: "exists", value: true }];
      return [{ ...json, op: "contains", value: expected }];
    case ">":
    case ">=":
    case "<":
    case "<=": {
      const value = expected.trim() === "" ? NaN : Number(expected);
      if (Number.isFinite(value)) return [{ ...json, op: NUMBER_OPS[operator], value }];
    }
  }
  const shown = cutText(`${operator} ${expected}`, SHOWN_MAX);
  notes.disable(
    oneLine(`Its comparison has no counterpart: ${shown}. Give it an assertion, and resume it.`),
  );
  return [];
}
