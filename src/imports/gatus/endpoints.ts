import { gatusKeyOf } from "../../base/compat";
import { TAG_MAX, TAGS_MAX, withTag } from "../../base/tags";
import { oneLine } from "../../base/text";
import { DESCRIPTION_MAX, NAME_MAX } from "../../base/texts";
import { DNS_RECORD_TYPES } from "../../egress/model";
import { parseResolver } from "../../egress/policy";
import { type FoundComponent, type FoundMonitor, keyOf, type LeftOut } from "../found";
import { cutName, cutText, textChange } from "../kit";
import { type EndpointType, readConditions, type ReadConditions } from "./conditions";
import { bodyOf, httpConfig, noteClient, type Reading, type Sources, timeoutOf } from "./http";
import { groupOf, PAGE, readWindows } from "./page";
import { Notes, type Secrets } from "./notes";
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
  const { url = "", conditions: texts = [], client } = endpoint;
  requireName(endpoint.name, place);
  if (url === "") throw new WrongField(place, "needs a url");
  if (texts.length === 0) throw new WrongField(place, "needs a condition");
  const row = TYPES.find(({ isOf }) => isOf(endpoint));
  if (!row) throw new WrongField(place, "has a url of an unknown type");
  const notes = new Notes();
  const alerts = readAlerts(endpoint.alerts, reading.defaults, place);
  const foreign = foreignOf("endpoint", endpoint);
  const component = componentOf(endpoint);
  const common = {
    name: endpoint.name ?? "",
    group: labelOf(endpoint),
    tags: tagsOf(endpoint["extra-labels"] ?? {}, notes),
    notes: notesOf(alerts, notes),
    ...thresholdsOf(alerts, notes),
  };
  const parts = { foreign, components: [keyOf(component.foreign)] };
  const { interval: intervalMs = INTERVAL.usual } = endpoint;
  const entry = {
    ...entryOf(endpoint, component),
    alerts,
    windows: readWindows(endpoint["maintenance-windows"], place),
    intervalMs,
  };
  noteUi(endpoint, notes);
  if (row.type === null) {
    for (const secret of Object.values(endpoint.ssh ?? {})) reading.secrets.add(secret);
    const config = heldConfig(/^[a-z]+/.exec(url)?.[0] ?? "dns", url, value);
    const body = { ...common, type: "unsupported", config } as const;
    const held = `There is no monitor of the type ${config.type} yet. Its settings are kept.`;
    return { ...entry, monitors: [{ ...monitorOf(body, notes), ...parts, held }] };
  }
  const conditions = readConditions(texts, row.type);
  notes.changes.push(...conditions.changes);
  for (const reason of conditions.disabled) notes.disable(reason);
  noteClient(client ?? {}, row.type, notes);
  if (endpoint.body && row.type !== "http" && row.type !== "websocket") {
    notes.change("body", "set", null, "Checks of its type send nothing.");
  }
  if (row.type === "grpc" && !texts.some((text) => /serving/i.test(text))) {
    notes.change("conditions", null, "SERVING", "The service must be serving.");
  }
  const seconds = notes.limited("interval", intervalMs / 1_000, INTERVAL);
  const sources = { endpoint, url, client: client ?? {}, conditions, reading, notes };
  const body = {
    ...common,
    type: row.type,
    config: row.configOf(sources),
    interval_seconds: seconds,
    retry_interval_seconds: seconds,
    timeout_ms: timeoutOf(client ?? {}, conditions, notes),
    inverted: conditions.isInverted,
    paused: endpoint.enabled === false,
  };
  const monitor = { ...monitorOf(body, notes), ...parts };
  const domain = domainMonitor(monitor, conditions, hostIn(url, row.type));
  return { ...entry, monitors: domain ? [monitor, domain] : [monitor] };
}

/** Reads an external endpoint, whose job reports its results. Throws a WrongField. */
export function readExternalEndpoint(
  endpoint: ExternalEndpoint,
  place: Place,
  reading: EntryReading,
): Entry {
  const { name = "", token = "", heartbeat, enabled } = endpoint;
  requireName(name, place);
  if (token === "") throw new WrongField(place, "needs a token");
  reading.secrets.add(token);
  const notes = new Notes();
  const alerts = readAlerts(endpoint.alerts, reading.defaults, place);
  const component = componentOf(endpoint);
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
  return {
    ...entryOf(endpoint, component),
    alerts,
    windows: readWindows(endpoint["maintenance-windows"], place),
    intervalMs: intervalMs ?? INTERVAL.usual,
    monitors: [
      {
        ...monitorOf(body, notes),
        foreign: foreignOf("external-endpoint", endpoint),
        components: [keyOf(component.foreign)],
        tokens: [{ kind: "gatus", value: `${component.foreign.id}\0${token.trim()}` }],
      },
    ],
  };
}

/** Reads a suite, which is held as a whole. Throws a WrongField. */
export function readSuite(suite: Values<typeof SUITE>, value: Yaml, place: Place): Entry {
  requireName(suite.name, place);
  const notes = new Notes();
  const component = componentOf(suite);
  const body = {
    type: "unsupported",
    name: suite.name ?? "",
    group: labelOf(suite),
    config: heldConfig("suite", suite.name ?? "", value),
  } as const;
  return {
    ...entryOf(suite, component),
    alerts: [],
    windows: [],
    intervalMs: INTERVAL.usual,
    monitors: [
      {
        ...monitorOf(body, notes),
        foreign: foreignOf("suite", suite),
        components: [keyOf(component.foreign)],
        held: "Its endpoints share a context, which monitors do not have. Its settings are kept.",
      },
    ],
  };
}

/** Returns an entry that keeps a value which Gatus would not accept; undefined without a name. */
export function holdEntry(
  type: string,
  value: Yaml,
  reason: string,
  secrets: Secrets,
): Entry | undefined {
  if (!isYamlMap(value)) return undefined;
  const { name, group, url = "", token } = value;
  if (typeof name !== "string" || name.trim() === "") return undefined;
  if (typeof token === "string") secrets.add(token);
  const named = { name, group: typeof group === "string" ? group : "" };
  const component = componentOf(named);
  const config = heldConfig(type, typeof url === "string" ? url : "", value);
  const body = { type: "unsupported", name, group: labelOf(named), config } as const;
  return {
    ...entryOf(named, component),
    alerts: [],
    windows: [],
    intervalMs: INTERVAL.usual,
    monitors: [
      {
        ...monitorOf(body, new Notes()),
        foreign: foreignOf(type, named),
        components: [keyOf(component.foreign)],
        held: `${reason} Its settings are kept.`,
      },
    ],
  };
}

function requireName(name: string | undefined, place: Place): void {
  if ((name ?? "") === "") throw new WrongField(place, "needs a name");
}

function entryOf(
  { name = "", group = "" }: Pick<Endpoint, "name" | "group">,
  component: Entry["component"],
) {
  return { key: component.foreign.id, name, group, component };
}

/** Returns a monitor without its identity and its components. */
function monitorOf(body: FoundMonitor["body"], { changes, disabled }: Notes) {
  return { body, changes, disabled, dependsOn: [], tokens: [], number: null };
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

function noteUi({ ui }: Endpoint, notes: Notes): void {
  if (ui?.badge === undefined) return;
  notes.change("ui.badge", "set", null, "Badges have the thresholds of Gatus' defaults.");
}

function hostIn(url: string, type: EndpointType): string {
  return type === "dns" ? url : (URL.parse(url)?.hostname ?? "");
}

/** Returns the monitor of the registration of a domain, if a condition is about it. */
function domainMonitor(
  { foreign, components, body }: FoundMonitor,
  { domainDays }: ReadConditions,
  domain: string,
): FoundMonitor | undefined {
  if (domainDays === undefined) return undefined;
  const reason = DOMAIN_DIFFERENCE;
  return {
    foreign: { ...foreign, id: `${foreign.id}:domain`, name: `${foreign.name} (domain)` },
    body: {
      type: "domain",
      name: `${body.name} (domain)`,
      group: body.group ?? null,
      config: { domain, days: domainDays },
      paused: "paused" in body && body.paused === true,
    },
    changes: [
      { field: "conditions", from: "[DOMAIN_EXPIRATION]", to: `${domainDays} days`, reason },
    ],
    dependsOn: [],
    tokens: [],
    components,
    number: null,
  };
}

/** Context in which entries are read. */
interface EntryReading extends Reading {
  defaults: DefaultAlerts;
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
    baseline: null,
    number: null,
  };
}

/** Returns the label of a monitor; null without a group. */
function labelOf({ group = "" }: Named): string | null {
  return group.trim() === "" ? null : cutName(group.trim(), "Group", NAME_MAX).trim();
}

/** Returns labels as tags. */
function tagsOf(labels: Readonly<Record<string, string>>, notes: Notes): string[] {
  const words = Object.entries(labels).map(([name, value]) => `${name}:${value}`);
  let tags: string[] = [];
  for (const word of words) {
    if (tags.length < TAGS_MAX) tags = withTag(tags, cutName(word, "label", TAG_MAX).trim());
  }
  const reason = `Monitors have at most ${TAGS_MAX} different tags of ${TAG_MAX} characters.`;
  notes.changes.push(...textChange("extra-labels", words.join(", "), tags.join(", "), reason));
  return tags;
}

/**
 * Reads each entry of a list. One that Gatus would not accept is held, with the reason. Those without a name are left
 * out, and so are later ones with the key of another.
 */
export function readEntries<Fields extends Table>(
  values: readonly Yaml[],
  { type, table, path }: { type: string; table: Fields; path: string },
  reading: EntryReading,
  {
    read,
    hold,
  }: {
    read: (values: Values<Fields>, value: Yaml, place: Place) => Entry;
    /** Returns an entry that keeps what Gatus would not accept; undefined without a name. */
    hold: (type: string, value: Yaml, reason: string) => Entry | undefined;
  },
  taken: Set<string>,
): { entries: Entry[]; leftOut: LeftOut[] } {
  const entries: Entry[] = [];
  const leftOut: LeftOut[] = [];
  const place = { path: `${path}[]`, notRead: reading.notRead };
  for (const [index, value] of values.entries()) {
    const id = `${path}[${index}]`;
    const entry = readOrHold(value);
    if (typeof entry === "string") {
      leftOut.push({ foreign: { type, id, name: `${path} ${index + 1}` }, reason: entry });
    } else if (taken.has(entry.key)) {
      const foreign = { type, id, name: entry.component.foreign.name };
      leftOut.push({ foreign, reason: "Another endpoint has the same group and name." });
    } else {
      taken.add(entry.key);
      entries.push(entry);
    }
  }
  return { entries, leftOut };

  function readOrHold(value: Yaml): Entry | string {
    try {
      return read(readTable(table, value, place), value, place);
    } catch (error) {
      if (!(error instanceof WrongField)) throw error;
      const reason = `${error.message}.`;
      return hold(type, value, reason) ?? reason;
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
  const reason = `Notes have at most ${DESCRIPTION_MAX} characters.`;
  notes.changes.push(...textChange("alerts[].description", all, text, reason));
  return text || null;
}
