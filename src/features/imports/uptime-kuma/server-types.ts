import { isIP } from "node:net";
import { oneLine } from "../../../base/text";
import { type Checked, Held, type MonitorContext, type MonitorRow } from "./checked";
import { expectedText } from "./conditions";
import { authenticationOf, headersOf, withHeader, withoutCredentials } from "./http-request";
import type { Notes } from "./notes";
import { flag, given, list, number, object, text, textOf } from "./values";

/** Ports of protocols other than SMTP that begin TLS by a command of their own: IMAP and XMPP. */
const NOT_SMTP: ReadonlySet<number> = new Set([143, 5222, 5269]);

/** Reads a monitor of a TCP port. It looks at TLS only if it is to warn of certificates. */
export function readPort(monitor: MonitorRow, notes: Notes, context: MonitorContext) {
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

export function readPing(monitor: MonitorRow, notes: Notes): Checked {
  for (const [column, usual] of Object.entries(PING_DEFAULTS)) {
    const value = number(monitor[column as keyof typeof PING_DEFAULTS], usual);
    const reason = "One echo request of the usual size is sent.";
    if (value !== usual) notes.change(column, value, usual, reason);
  }
  return checked("ping", { host: text(monitor.hostname).trim() });
}

/** Records whose text here is that of the condition there. Of others it is only a part. */
const COMPARABLE: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME", "NS", "PTR", "TXT"]);

export function readDns(monitor: MonitorRow, notes: Notes): Checked {
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
export function readPush(monitor: MonitorRow, notes: Notes): Checked {
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
    config: { grace_seconds: notes.clamped("grace_seconds", grace, 0, 31_536_000, "seconds") },
    settings: { failure_threshold: 1 },
  };
}

/** Reads a monitor of a container. */
export function readDocker(monitor: MonitorRow, notes: Notes, context: MonitorContext) {
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

export function readSmtp(monitor: MonitorRow): Checked {
  const host = text(monitor.hostname).trim();
  const tls = SMTP_TLS[text(monitor.smtp_security)] ?? "starttls_if_offered";
  const port = number(monitor.port, 25);
  return checked("smtp", { host, port, tls, certificate_warning_days: 0 });
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
  const { url, authorization: ofUrl } = withoutCredentials(text(monitor.url).trim());
  const authorization = ofUrl ?? authenticationOf(monitor).authorization;
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
const [CODE_MIN, CODE_MAX] = [1_000, 4_999];

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

/** An address with a port, and with or without a scheme. */
const ADDRESS = /^(?:\w+:\/\/)?(?:\[([^\]]+)\]|([^:/]+)):(\d+)/;

const HEALTH = "grpc.health.v1.Health";

/** Reads a monitor that asks the health service of a gRPC server. */
export function readGrpc(monitor: MonitorRow, notes: Notes, context: MonitorContext) {
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

function checked(type: Checked["type"], config: Readonly<Record<string, unknown>>): Checked {
  return { type, config };
}
