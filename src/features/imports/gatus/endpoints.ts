import { oneLine } from "../../../base/text";
import type { FoundMonitor } from "../source";
import { keyOf } from "../source";
import { cutText } from "../texts";
import { notesOf, readAlerts, thresholdsOf } from "./alerts";
import { noteClient, timeoutOf } from "./client";
import { type EndpointType, readConditions, type ReadConditions } from "./conditions";
import type { Endpoint, ExternalEndpoint, SUITE } from "./document";
import { componentOf, type Entry, type EntryReading, foreignOf, labelOf, tagsOf } from "./entry";
import { type Place, type Values, WrongField } from "./fields";
import { readWindows } from "./maintenance";
import { Notes, type Secrets } from "./notes";
import { TYPES } from "./types";
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
