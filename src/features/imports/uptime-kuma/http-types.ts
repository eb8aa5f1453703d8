import type { Assertion } from "../../monitors/assertions/assertions";
import { type Checked, Held, type MonitorContext, type MonitorRow } from "./checked";
import {
  authenticationOf,
  basicOf,
  bodyOf,
  type Headers,
  headersOf,
  hostIn,
  withHeader,
  withoutCredentials,
} from "./http-request";
import { jsonAssertions } from "./json-query";
import type { Notes } from "./notes";
import { flag, list, number, text } from "./values";

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
  const { url, authorization: ofUrl } = withoutCredentials(text(monitor.url).trim());
  const { authorization, oauth2, ...certificate } = authenticationOf(monitor);
  let headers: Headers = contentType === undefined ? {} : { "Content-Type": contentType };
  if (authorization !== undefined) headers = withHeader(headers, "Authorization", authorization);
  for (const [name, value] of Object.entries(headersOf(monitor, notes))) {
    headers = withHeader(headers, name, value);
  }
  // In Uptime Kuma, credentials in the URL replace all others.
  if (ofUrl !== undefined) headers = withHeader(headers, "Authorization", ofUrl);
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
  const [user, password] = [monitor.rabbitmq_username, monitor.rabbitmq_password].map(text);
  const authorization = basicOf(user ?? "", password ?? "");
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
