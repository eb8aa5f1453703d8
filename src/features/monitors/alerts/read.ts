/* Alerts in a body: its format by its shape, or by a mapping. No URL of a body is ever fetched. */
import { invalidFields } from "../../../base/errors";
import { sha256Hex } from "../../../base/hash";
import { redactText } from "../../../base/redaction";
import type { AlertFormat } from "../../../base/status";
import { isObject } from "../../../base/text";
import { parseInstant, SECOND_MS } from "../../../base/time";
import type { Labels } from "../../../db/tables/alerts";
import { parseJsonPath, valueAt } from "../assertions/json-path";
import { listPathOf, type Mapping } from "../probes/alert";
import { messageOf } from "../signal-text";

/** An alert as its sender reports it. */
export interface ReportedAlert {
  fingerprint: string;
  labels: Labels;
  isFiring: boolean;
  /** Unix ms; undefined if it is not told. */
  startsAt: number | undefined;
  title: string;
  /** True for a test, which opens nothing. */
  isTest: boolean;
}

/** Returns the format of a body that tells it; undefined for any other. */
export function formatOf(body: unknown): Exclude<AlertFormat, "json"> | undefined {
  if (!isObject(body) || !Array.isArray(body["alerts"])) return undefined;
  // Grafana has taken over the shape of Alertmanager, and adds fields of its own.
  if (Object.hasOwn(body, "orgId") || body["version"] === "1") return "grafana";
  return Object.hasOwn(body, "groupKey") || body["version"] === "4" ? "alertmanager" : undefined;
}

/** Throws `validation_failed` for a body without a known format. `expected` names those that are read. */
export function unknownShape(expected: string): never {
  throw invalidFields([{ pointer: "#", detail: `is not a body of ${expected}` }]);
}

/** Cost of one alert in the slices in which bodies are read: about 10 µs. */
const ALERT_COST = 0.05;

/** Reads the alerts of a body of Alertmanager or Grafana. Entries that say neither firing nor resolved are left out. */
export function* readAlerts(
  format: AlertFormat,
  body: unknown,
): Generator<number, readonly ReportedAlert[]> {
  const alerts: ReportedAlert[] = [];
  for (const entry of (body as { alerts: unknown[] }).alerts) {
    yield ALERT_COST;
    if (!isObject(entry)) continue;
    const { status, startsAt } = entry;
    if (status !== "firing" && status !== "resolved") continue;
    const labels = textsOf(entry["labels"]);
    const { summary, title, description } = textsOf(entry["annotations"]);
    alerts.push({
      fingerprint: fingerprintOf(entry["fingerprint"], labels),
      labels,
      isFiring: status === "firing",
      startsAt: timeOf(startsAt),
      title: titleOf(summary || title || description || labels["alertname"]),
      isTest: format === "grafana" && labels["alertname"] === "TestAlert",
    });
  }
  return alerts;
}

/** Reads the alerts of any other body by a mapping. Those without a known status are left out. */
export function* readMapped(
  { alerts: list, fingerprint, status, started_at, title, labels = {} }: Mapping,
  body: unknown,
): Generator<number, readonly ReportedAlert[]> {
  const path = list === null ? undefined : listPathOf(list);
  const entries = path ? valueAt(body, path) : [body];
  if (!Array.isArray(entries)) return [];
  const paths = new Map<string, ReturnType<typeof parseJsonPath>>();
  const read = (entry: unknown, place: string | undefined) => {
    if (place === undefined) return undefined;
    if (!paths.has(place)) paths.set(place, parseJsonPath(place));
    return textOf(valueAt(entry, paths.get(place) ?? []));
  };
  const alerts: ReportedAlert[] = [];
  for (const entry of entries) {
    yield ALERT_COST;
    const [id, said] = [read(entry, fingerprint), read(entry, status.path)];
    const isFiring = said !== undefined && status.firing.includes(said);
    const isKnown = isFiring || (said !== undefined && status.resolved.includes(said));
    if (!isKnown) continue;
    const found = Object.entries(labels).flatMap(([name, place]) => {
      const value = read(entry, place);
      return value === undefined ? [] : [[name, value]];
    });
    // Without both, alerts cannot be kept apart.
    if (!id && found.length === 0) continue;
    const named = Object.fromEntries(found) as Labels;
    alerts.push({
      fingerprint: fingerprintOf(id, named),
      labels: named,
      isFiring,
      startsAt: timeOf(read(entry, started_at)),
      title: titleOf(read(entry, title) || id),
      isTest: false,
    });
  }
  return alerts;
}

/** Returns a scalar as text; undefined for other values. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Number of texts that are read of an object. */
const TEXTS_MAX = 1_000;

function textsOf(value: unknown): Labels {
  if (!isObject(value)) return {};
  const names = Object.keys(value).slice(0, TEXTS_MAX);
  const texts = names.flatMap((name) => {
    const text = textOf(value[name]);
    return text === undefined ? [] : [[name, text]];
  });
  return Object.fromEntries(texts) as Labels;
}

const FINGERPRINT_MAX = 200;
/** Text that every reader of JSON and the database keep as it is. */
const PLAIN = /^[\x20-\x7e]+$/;

/** Returns the fingerprint as sent, or that of the sorted labels. */
function fingerprintOf(sent: unknown, labels: Labels): string {
  const text = textOf(sent) ?? "";
  if (PLAIN.test(text) && text.length <= FINGERPRINT_MAX) return text;
  return sha256Hex(
    text || JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}

/** Longest title, in code points. The message of a check adds the number of other alerts. */
const TITLE_MAX = 250;
/** Length of a title that is read, in UTF-16 units. */
const TITLE_READ_MAX = 4_096;

function titleOf(text: string | undefined): string {
  const beginning = (text ?? "").slice(0, TITLE_READ_MAX).toWellFormed();
  return messageOf(beginning.replace(/\s+/gu, " "), TITLE_MAX).message ?? "Alert";
}

const NUMBER = /^\d{1,16}(\.\d+)?$/;
/** Unix seconds are below, unix ms above. */
const SECONDS_BELOW = 100_000_000_000;
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/;

/** Returns a time in unix ms: ISO 8601, in UTC without a zone, or a number; undefined for other values. */
function timeOf(value: unknown): number | undefined {
  const text = textOf(value)?.trim() ?? "";
  if (NUMBER.test(text)) {
    const number = Number(text);
    return Math.round(number < SECONDS_BELOW ? number * SECOND_MS : number);
  }
  return parseInstant(WITHOUT_ZONE.test(text) ? `${text.replace(" ", "T")}Z` : text);
}

/** Largest size of stored labels as JSON, in bytes. */
const LABELS_MAX_BYTES = 4_096;

const bytesOf = (labels: Labels) => Buffer.byteLength(JSON.stringify(labels));

/** Returns labels without the longest ones of too many. */
function keptLabels(labels: Labels): Labels {
  if (bytesOf(labels) <= LABELS_MAX_BYTES) return labels;
  const entries = Object.entries(labels).map(([name, value]) => ({
    name,
    value,
    size: name.length + value.length,
  }));
  entries.sort((a, b) => a.size - b.size);
  let left = LABELS_MAX_BYTES - bytesOf({});
  const kept: [string, string][] = [];
  for (const { name, value } of entries) {
    // A comma stands in place of the brackets.
    left -= bytesOf({ [name]: value }) - 1;
    if (left < 0) break;
    kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

/** Returns labels as they are stored: without secrets, and without the longest ones of too many. */
export function storedLabels(labels: Labels): Labels {
  const kept = Object.entries(keptLabels(labels));
  const entries = kept.map(([name, value]) => [name, redactText(value)]);
  return keptLabels(Object.fromEntries(entries) as Labels);
}
