import { gatusKeyOf } from "../../base/compat";
import { oneLine } from "../../base/text";
import { DESCRIPTION_MAX, NAME_MAX } from "../../base/texts";
import { DNS_RECORD_TYPES } from "../../egress/model";
import { parseResolver } from "../../egress/policy";
import { type FoundComponent, type FoundMonitor, keyOf, type LeftOut } from "../found";
import { cutName, cutTags, cutText, Notes, NOTES_REASON, TAGS_REASON } from "../kit";
import { type EndpointType, readConditions } from "./conditions";
import { bodyOf, httpConfig, noteClient, type Reading, type Sources, timeoutOf } from "./http";
import { groupOf, PAGE, readWindows } from "./page";
import type { Secrets } from "./secrets";
import {
  type Alert,
  ALERT,
  type Endpoint,
  type ExternalEndpoint,
  type Maintenance,
  type Place,
  readTable,
  type SUITE,
  type Table,
  type Values,
  WrongField,
} from "./tables";
import { isYamlMap, type Yaml, type YamlMap } from "./yaml";

const INTERVAL = { usual: 60_000, min: 5, max: 86_400 };
const HEARTBEAT = { min: 5, max: 31_536_000 };
const DOMAIN_DIFFERENCE =
  "A monitor of its own asks the registry once a day. It warns from then on, and is down when the registration has expired.";

/** Reads an endpoint. Throws a WrongField for one that Gatus does not accept. */
export function readEndpoint(
  endpoint: Endpoint,
  value: Yaml,
  place: Place,
  reading: EntryReading,
): Entry {
  const { url = "", conditions: texts = [], client = {} } = endpoint;
  requireName(endpoint.name, place);
  if (url === "") throw new WrongField(place, "needs a url");
  if (texts.length === 0) throw new WrongField(place, "needs a condition");
  const row = TYPES.find(({ isOf }) => isOf(endpoint));
  if (!row) throw new WrongField(place, "has a url of an unknown type");
  const notes = new Notes();
  const alerts = readAlerts(endpoint.alerts, reading.defaults, place);
  const common = {
    name: endpoint.name ?? "",
    group: labelOf(endpoint),
    tags: tagsOf(endpoint["extra-labels"] ?? {}, notes),
    notes: notesOf(alerts, notes),
    ...thresholdsOf(alerts, notes),
  };
  const { interval: intervalMs = INTERVAL.usual } = endpoint;
  const windows = readWindows(endpoint["maintenance-windows"], place);
  const more = { alerts, windows, intervalMs };
  if (endpoint.ui?.badge !== undefined) {
    notes.change("ui.badge", "set", null, "Badges have the thresholds of Gatus' defaults.");
  }
  if (row.type === null) {
    for (const secret of Object.values(endpoint.ssh ?? {})) reading.secrets.add(secret);
    const config = heldConfig(/^[a-z]+/.exec(url)?.[0] ?? "dns", url, value);
    const body = { ...common, type: "unsupported", config } as const;
    const held = `There is no monitor of the type ${config.type} yet. Its settings are kept.`;
    return entryOf("endpoint", endpoint, body, notes, { held }, more);
  }
  const conditions = readConditions(texts, row.type);
  notes.changes.push(...conditions.changes);
  for (const reason of conditions.disabled) notes.disable(reason);
  noteClient(client, row.type, notes);
  if (endpoint.body && row.type !== "http" && row.type !== "websocket") {
    notes.change("body", "set", null, "Checks of its type send nothing.");
  }
  if (row.type === "grpc" && !texts.some((text) => /serving/i.test(text))) {
    notes.change("conditions", null, "SERVING", "The service must be serving.");
  }
  const seconds = notes.limited("interval", intervalMs / 1_000, INTERVAL);
  const body = {
    ...common,
    type: row.type,
    config: row.configOf({ endpoint, url, client, conditions, reading, notes }),
    interval_seconds: seconds,
    retry_interval_seconds: seconds,
    timeout_ms: timeoutOf(client, conditions, notes),
    inverted: conditions.isInverted,
    paused: endpoint.enabled === false,
  };
  const entry = entryOf("endpoint", endpoint, body, notes, {}, more);
  const { domainDays } = conditions;
  if (domainDays !== undefined) {
    const domain = row.type === "dns" ? url : (URL.parse(url)?.hostname ?? "");
    entry.monitors.push(...entry.monitors.map((one) => domainMonitor(one, domain, domainDays)));
  }
  return entry;
}

/** Reads an external endpoint, whose job reports its results. Throws a WrongField. */
export function readExternalEndpoint(
  endpoint: ExternalEndpoint,
  _value: Yaml,
  place: Place,
  reading: EntryReading,
): Entry {
  const { name = "", group, token = "", heartbeat, enabled } = endpoint;
  requireName(name, place);
  if (token === "") throw new WrongField(place, "needs a token");
  reading.secrets.add(token);
  const notes = new Notes();
  const alerts = readAlerts(endpoint.alerts, reading.defaults, place);
  const intervalMs = heartbeat?.interval || null;
  const seconds =
    intervalMs === null ? null : notes.limited("heartbeat.interval", intervalMs / 1_000, HEARTBEAT);
  const body = {
    type: "push",
    name,
    group: labelOf(endpoint),
    notes: notesOf(alerts, notes),
    ...thresholdsOf(alerts, notes),
    interval_seconds: seconds,
    config: seconds === null ? {} : { grace_seconds: seconds },
    paused: enabled === false,
  } as const;
  const value = `${gatusKeyOf(group ?? "", name)}\0${token.trim()}`;
  const tokens = [{ kind: "gatus", value } as const];
  return entryOf(
    "external-endpoint",
    endpoint,
    body,
    notes,
    { tokens },
    {
      alerts,
      windows: readWindows(endpoint["maintenance-windows"], place),
      intervalMs: intervalMs ?? INTERVAL.usual,
    },
  );
}

/** Reads a suite, which is held as a whole. Throws a WrongField. */
export function readSuite(suite: Values<typeof SUITE>, value: Yaml, place: Place): Entry {
  const { name = "" } = suite;
  requireName(name, place);
  const config = heldConfig("suite", name, value);
  const body = { type: "unsupported", name, group: labelOf(suite), config } as const;
  const held = "Its endpoints share a context, which monitors do not have. Its settings are kept.";
  return entryOf("suite", suite, body, new Notes(), { held });
}

/** Returns an entry that keeps a value which Gatus would not accept; undefined without a name. */
function holdEntry(type: string, value: Yaml, reason: string, secrets: Secrets): Entry | undefined {
  if (!isYamlMap(value)) return undefined;
  const { name, group, url = "", token } = value;
  if (typeof name !== "string" || name.trim() === "") return undefined;
  if (typeof token === "string") secrets.add(token);
  const named = { name, group: typeof group === "string" ? group : "" };
  const config = heldConfig(type, typeof url === "string" ? url : "", value);
  const body = { type: "unsupported", name, group: labelOf(named), config } as const;
  return entryOf(type, named, body, new Notes(), { held: `${reason} Its settings are kept.` });
}

function requireName(name: string | undefined, place: Place): void {
  if ((name ?? "") === "") throw new WrongField(place, "needs a name");
}

/** Returns an entry with its component and its monitor. */
function entryOf(
  type: string,
  named: Named,
  body: FoundMonitor["body"],
  { changes, disabled }: Notes,
  monitor: Pick<FoundMonitor, "held" | "tokens">,
  more: Partial<Entry> = {},
): Entry {
  const component = componentOf(named);
  const { name = "", group = "" } = named;
  return {
    key: component.foreign.id,
    name,
    group,
    component,
    alerts: [],
    windows: [],
    intervalMs: INTERVAL.usual,
    monitors: [
      {
        foreign: foreignOf(type, named),
        body,
        changes,
        disabled: disabled && `${disabled} Change that here, and resume it.`,
        components: [keyOf(component.foreign)],
        ...monitor,
      },
    ],
    ...more,
  };
}

/** Returns the config of a monitor that is held. Its target has no credentials. */
function heldConfig(type: string, url: string, value: Yaml) {
  const target = url
    .replace(/^[a-z]+:\/\//i, "")
    .replace(/^.*@/s, "")
    .replace(/[?#].*$/s, "");
  return {
    source: "gatus",
    type,
    target: cutText(oneLine(target), 255).trim() || type,
    settings: value as YamlMap,
  };
}

/** Returns the monitor of the registration of a domain, which a condition is about. */
function domainMonitor(
  { foreign, components, body }: FoundMonitor,
  domain: string,
  days: number,
): FoundMonitor {
  const notes = new Notes();
  notes.change("conditions", "[DOMAIN_EXPIRATION]", `${days} days`, DOMAIN_DIFFERENCE);
  return {
    foreign: { ...foreign, id: `${foreign.id}:domain`, name: `${foreign.name} (domain)` },
    body: {
      type: "domain",
      name: `${body.name} (domain)`,
      group: body.group ?? null,
      config: { domain, days },
      paused: "paused" in body && body.paused === true,
    },
    changes: notes.changes,
    components,
  };
}

/** Context in which entries are read. */
interface EntryReading extends Reading {
  defaults: DefaultAlerts;
  /** Keys of the entries that were read. */
  taken: Set<string>;
}

/** Component of a page with its monitors: an endpoint, an external endpoint or a suite. */
export interface Entry {
  key: string;
  name: string;
  group: string;
  component: FoundComponent;
  monitors: FoundMonitor[];
  alerts: readonly Alert[];
  windows: readonly Maintenance[];
  /** Interval of its checks, in ms. */
  intervalMs: number;
}

/** Names that an entry needs. */
interface Named {
  name: string | undefined;
  group: string | undefined;
  enabled?: boolean | undefined;
}

/** Returns an object of the configuration. Its key is its id. */
function foreignOf(type: string, { name = "", group = "" }: Named) {
  const shown = group === "" ? name : `${group}/${name}`;
  return { type, id: gatusKeyOf(group, name), name: cutName(shown, `Unnamed ${type}`) };
}

/** Returns the component of an entry. Pages of Gatus do not show an entry that is switched off. */
function componentOf({ name = "", group = "", enabled = true }: Named): FoundComponent {
  const foreign = foreignOf("component", { name, group });
  return {
    foreign,
    body: { name, show_latency: true, ...(!enabled && { only_show_if_degraded: true }) },
    changes: [],
    page: keyOf(PAGE),
    group: group.trim() === "" ? null : groupOf(group),
    key: foreign.id,
  };
}

/** Returns the label of a monitor; null without a group. */
function labelOf({ group = "" }: Named): string | null {
  return group.trim() === "" ? null : cutName(group.trim(), "Group", NAME_MAX).trim();
}

/** Returns labels as tags. */
function tagsOf(labels: Readonly<Record<string, string>>, notes: Notes): string[] {
  const words = Object.entries(labels).map(([name, value]) => `${name}:${value}`);
  const tags = cutTags(words, "label");
  notes.text("extra-labels", words.join(", "), tags.join(", "), TAGS_REASON);
  return tags;
}

/** List of entries in a configuration. */
interface EntryList<Fields extends Table> {
  type: string;
  table: Fields;
  path: string;
  read(values: Values<Fields>, value: Yaml, place: Place, reading: EntryReading): Entry;
}

/**
 * Reads each entry of a list. One that Gatus would not accept is held, with the reason. Those without a name are left
 * out, and so are later ones with the key of another.
 */
export function readEntries<Fields extends Table>(
  values: readonly Yaml[] | undefined,
  { type, table, path, read }: EntryList<Fields>,
  reading: EntryReading,
  leftOut: LeftOut[],
): Entry[] {
  const entries: Entry[] = [];
  const place = { path: `${path}[]`, notRead: reading.notRead };
  for (const [index, value] of (values ?? []).entries()) {
    const id = `${path}[${index}]`;
    const entry = readOrHold(value);
    if (typeof entry === "string") {
      leftOut.push({ foreign: { type, id, name: `${path} ${index + 1}` }, reason: entry });
    } else if (reading.taken.has(entry.key)) {
      const foreign = { type, id, name: entry.component.foreign.name };
      leftOut.push({ foreign, reason: "Another endpoint has the same group and name." });
    } else {
      reading.taken.add(entry.key);
      entries.push(entry);
    }
  }
  return entries;

  function readOrHold(value: Yaml): Entry | string {
    try {
      return read(readTable(table, value, place), value, place, reading);
    } catch (error) {
      if (!(error instanceof WrongField)) throw error;
      const reason = `${error.message}.`;
      return holdEntry(type, value, reason, reading.secrets) ?? reason;
    }
  }
}

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

/** Alerts that are the default of a provider, by its name. */
export type DefaultAlerts = ReadonlyMap<string, Alert>;

/** Reads the alerts of an endpoint that are switched on, with the defaults of their providers. Throws a WrongField. */
function readAlerts(
  alerts: readonly Yaml[] | undefined,
  defaults: DefaultAlerts,
  place: Place,
): Alert[] {
  return (alerts ?? [])
    .map((each) => {
      const own = readTable(ALERT, each, { ...place, path: `${place.path}.alerts[]` });
      const usual = defaults.get(own.type ?? "");
      return usual ? withDefaults(own, usual) : own;
    })
    .filter(({ enabled = true }) => enabled);
}

/** Returns an alert with the fields of another one where it has none. Numbers of 0 count as none. */
function withDefaults(own: Alert, usual: Alert): Alert {
  return {
    ...own,
    enabled: own.enabled ?? usual.enabled,
    "send-on-resolved": own["send-on-resolved"] ?? usual["send-on-resolved"],
    description: own.description ?? usual.description,
    "failure-threshold": own["failure-threshold"] || usual["failure-threshold"],
    "success-threshold": own["success-threshold"] || usual["success-threshold"],
    "minimum-reminder-interval":
      own["minimum-reminder-interval"] || usual["minimum-reminder-interval"],
  };
}

/** Consecutive results without alerts, and those of an alert without numbers. */
const WITHOUT = { failures: 3, successes: 1 };
const USUAL = { failures: 3, successes: 2 };

const THRESHOLDS = { min: 1, max: 100 };
const REMINDERS = { min: 300, max: 604_800 };

/** Returns the thresholds and the reminders of a monitor: the smallest of its alerts. */
export function thresholdsOf(alerts: readonly Alert[], notes: Notes) {
  const numbersOf = (name: "failure-threshold" | "success-threshold", usual: number) =>
    alerts.map((alert) => Math.max(alert[name] ?? 0, 0) || usual);
  const failures = leastOf(numbersOf("failure-threshold", USUAL.failures));
  const successes = leastOf(numbersOf("success-threshold", USUAL.successes));
  const intervals = alerts.flatMap((alert) => alert["minimum-reminder-interval"] || []);
  const isAny = alerts.length > 0;
  return {
    failure_threshold: isAny
      ? notes.limited("alerts[].failure-threshold", failures, THRESHOLDS)
      : WITHOUT.failures,
    success_threshold: isAny
      ? notes.limited("alerts[].success-threshold", successes, THRESHOLDS)
      : WITHOUT.successes,
    reminder_seconds:
      intervals.length > 0
        ? notes.limited("alerts[].minimum-reminder-interval", leastOf(intervals) / 1_000, REMINDERS)
        : 0,
  };
}

/** Returns the least of any number of numbers; infinity without any. */
function leastOf(numbers: readonly number[]): number {
  return numbers.reduce((least, number) => Math.min(least, number), Infinity);
}

/** Returns the descriptions of alerts as notes for colleagues. */
function notesOf(alerts: readonly Alert[], notes: Notes): string | null {
  const all = [...new Set(alerts.flatMap(({ description }) => description || []))].join("\n");
  const text = cutText(all, DESCRIPTION_MAX);
  notes.text("alerts[].description", all, text, NOTES_REASON);
  return text || null;
}
