import { parseResolver } from "../../../egress/policy";
import { DNS_RECORD_TYPES } from "../../../egress/model";
import type { EndpointType } from "./conditions";
import type { Endpoint } from "./document";
import { bodyOf, httpConfig, type Sources } from "./http";

interface TypeRow {
  /** Endpoints, for the documentation. */
  endpoints: string;
  becomes: string;
  /** Null for endpoints that are held. */
  type: EndpointType | null;
  isOf(endpoint: Endpoint): boolean;
  configOf(sources: Sources): MonitorConfig;
}

const HELD = { type: null, becomes: "Held.", configOf: () => ({}) } as const;

const hasScheme =
  (...schemes: string[]) =>
  ({ url = "" }: Endpoint) =>
    schemes.some((scheme) => url.startsWith(`${scheme}://`));

type MonitorConfig = Readonly<Record<string, unknown>>;

/** Endpoints by their URL, and the type of monitor that each becomes. The first row that fits counts. */
export const TYPES: readonly TypeRow[] = [
  {
    endpoints: "with `dns`",
    becomes: "`dns`; `url` is the resolver.",
    type: "dns",
    isOf: ({ dns }) => dns !== undefined && isKnownRecord(dns["query-type"]),
    configOf: dnsConfig,
  },
  {
    endpoints: "with `dns` of another record type",
    ...HELD,
    isOf: ({ dns }) => dns !== undefined,
  },
  {
    endpoints: "`http://`, `https://`",
    becomes: "`http`",
    type: "http",
    isOf: hasScheme("http", "https"),
    configOf: httpConfig,
  },
  {
    endpoints: "`tcp://`",
    becomes: "`tcp`",
    type: "tcp",
    isOf: hasScheme("tcp"),
    configOf: (sources) => ({ ...serverOf(sources) }),
  },
  {
    endpoints: "`tls://`",
    becomes: "`tls`, which always verifies the certificate.",
    type: "tls",
    isOf: hasScheme("tls"),
    configOf(sources) {
      if (sources.client.insecure) {
        sources.notes.disable("It accepts any certificate, which its type always verifies.");
      }
      return { ...serverOf(sources), days: sources.conditions.certificateDays ?? 0 };
    },
  },
  {
    endpoints: "`icmp://`",
    becomes: "`ping`",
    type: "ping",
    isOf: hasScheme("icmp"),
    configOf: ({ url }) => ({ host: restOf(url).replace(/^\[(.*)\]$/, "$1") }),
  },
  {
    endpoints: "`ws://`, `wss://`",
    becomes: "`websocket`",
    type: "websocket",
    isOf: hasScheme("ws", "wss"),
    configOf: webSocketConfig,
  },
  {
    endpoints: "`grpc://`, `grpcs://`",
    becomes: "`grpc`, by the health protocol, whose status must be `SERVING`.",
    type: "grpc",
    isOf: hasScheme("grpc", "grpcs"),
    configOf(sources) {
      const isSecure = sources.url.startsWith("grpcs://");
      const tls = isSecure ? (sources.client.insecure ? "require" : "verify") : "off";
      return { ...serverOf(sources), tls, certificate_warning_days: 0 };
    },
  },
  {
    endpoints: "`ssh://` with credentials, which run a command",
    ...HELD,
    isOf: (endpoint) => hasScheme("ssh")(endpoint) && runsCommand(endpoint),
  },
  {
    endpoints: "`ssh://`",
    becomes: "`ssh`: the server must identify itself.",
    type: "ssh",
    isOf: hasScheme("ssh"),
    configOf: (sources) => ({ ...serverOf(sources) }),
  },
  {
    endpoints: "`starttls://`",
    becomes: "`smtp` with `starttls`",
    type: "smtp",
    isOf: hasScheme("starttls"),
    configOf: (sources) => ({
      ...serverOf(sources),
      tls: sources.client.insecure ? "starttls_if_offered" : "starttls",
      certificate_warning_days: sources.conditions.certificateDays ?? 0,
    }),
  },
  { endpoints: "`udp://`, `sctp://`", ...HELD, isOf: hasScheme("udp", "sctp") },
];

function isKnownRecord(type: string | undefined): boolean {
  return DNS_RECORD_TYPES.some((known) => known === type);
}

function runsCommand({ ssh }: Endpoint): boolean {
  return Object.values(ssh ?? {}).some((value) => value !== undefined && value !== "");
}

/** Returns the part of a URL behind its scheme. */
function restOf(url: string): string {
  return url.slice(url.indexOf("://") + 3);
}

/** Returns host and port of a URL with both, or a host alone. */
function serverOf({ url }: Pick<Sources, "url">): { host: string; port?: number } {
  const rest = restOf(url);
  const [, bracketed, plain = rest, port] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?\/?$/.exec(rest) ?? [];
  return { host: bracketed ?? plain, ...(port !== undefined && { port: Number(port) }) };
}

function webSocketConfig({ endpoint, url, client, conditions, reading, notes }: Sources) {
  const { headers = {} } = endpoint;
  reading.secrets.addHeaders(headers);
  const [expected, ...others] = conditions.expected;
  if (others.length > 0) notes.disable("Several conditions are about its first message.");
  const send = bodyOf(endpoint, url, notes);
  return {
    url,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(client.insecure && { verify_tls: false }),
    ...(send !== "" && { send }),
    ...(expected !== undefined && { expected }),
    certificate_warning_days: 0,
  };
}

function dnsConfig({ endpoint, url, conditions, notes }: Sources): MonitorConfig {
  const { expected } = conditions;
  const resolver = parseResolver(url) ? url : undefined;
  if (resolver === undefined) notes.disable("Its resolver has a name; here it is an address.");
  return {
    name: endpoint.dns?.["query-name"]?.replace(/\.$/, "") ?? "",
    record_type: endpoint.dns?.["query-type"],
    ...(resolver !== undefined && { resolver }),
    ...(expected.length > 0 && { expected: [...new Set(expected)] }),
  };
}
