import { HOUR_MS, MINUTE_MS } from "../../src/base/time";
import type { KumaBadge, KumaBeat, KumaReadings } from "./kuma-readings";

/*
 * Comparison of what clients of Uptime Kuma read from it and from this server. Differences are texts with the place,
 * its value there and ours, for tests that name all that are meant.
 */

/** Largest difference between two texts of one time, of which one may have no seconds. */
const TIME_TOLERANCE_MS = MINUTE_MS;
/** Largest difference of uptimes of 24 hours: a tenth of a point, and the time between two readings. */
const UPTIME_TOLERANCE = 0.002;
/** Largest difference of uptimes that begin with a sum of an hour, of which Uptime Kuma did not see all. */
const LONG_UPTIME_TOLERANCE = 0.004;
/** Largest difference of uptimes in badges, in points. Those of Uptime Kuma are of whole hours. */
const BADGE_TOLERANCE = 0.3;
/** Largest difference of mean latencies, which are whole ms here. */
const LATENCY_TOLERANCE_MS = 1;
/** Age from which on results are kept as sums. */
const RESULTS_MS = 48 * HOUR_MS;

/** Lists the differences of two documents. */
export function documentDifferences(there: unknown, here: unknown, path = ""): string[] {
  if (Array.isArray(there) && Array.isArray(here)) {
    const length = Math.max(there.length, here.length);
    return Array.from({ length }, (_, index) => index).flatMap((index) =>
      documentDifferences(there[index], here[index], `${path}[${index}]`),
    );
  }
  if (isObject(there) && isObject(here)) {
    const names = new Set([...Object.keys(there), ...Object.keys(here)]);
    return [...names].flatMap((name) => {
      const at = path === "" ? name : `${path}.${name}`;
      if (!(name in there)) return [`${at}: only here`];
      if (!(name in here)) return [`${at}: only there`];
      return documentDifferences(there[name], here[name], at);
    });
  }
  if (Object.is(there, here) || isSameTime(there, here)) return [];
  return [differ(path, there, here)];
}

/** Lists the differences of beats that both have, of the newest one, and of uptimes, by page and monitor. */
export function heartbeatDifferences(there: KumaReadings, here: KumaReadings): string[] {
  return Object.entries(there.heartbeats).flatMap(([slug, { heartbeatList, uptimeList }]) => {
    const ours = here.heartbeats[slug];
    return Object.entries(heartbeatList).flatMap(([number, beats]) => {
      const at = `${nameOf(there, number)} on ${slug}`;
      const uptime = [uptimeList[`${number}_24`], ours?.uptimeList[`${number}_24`]] as const;
      return [
        ...beatDifferences(at, beats, ours?.heartbeatList[number] ?? []),
        ...(isNear(uptime, UPTIME_TOLERANCE) ? [] : [differ(`${at} uptime`, ...uptime)]),
      ];
    });
  });
}

/** Compares beats by their time, as far back as there are results here, up to the newest one there. */
function beatDifferences(at: string, there: readonly KumaBeat[], here: readonly KumaBeat[]) {
  const [last, ours] = [there.at(-1), here.at(-1)];
  if (!last || !ours) {
    return last === ours ? [] : [differ(`${at} newest`, last?.status, ours?.status)];
  }
  const known = new Map(here.map((beat) => [beat.time, beat]));
  const until = Date.parse(`${last.time}Z`);
  const from = Math.max(Date.parse(`${here[0]?.time}Z`), until - RESULTS_MS);
  const compared = there.filter(({ time }) => Date.parse(`${time}Z`) >= from);
  const different = compared.flatMap((beat) => {
    const own = known.get(beat.time);
    return Bun.deepEquals(beat, own) ? [] : [differ(`${at} beat`, summary(beat), summary(own))];
  });
  // One line tells of many.
  const kinds = Map.groupBy(different, (line) => line);
  const lines = [...kinds].map(([line, { length }]) => (length > 1 ? `${line} (${length})` : line));
  return last.status === ours.status
    ? lines
    : [...lines, differ(`${at} newest`, last.status, ours.status)];
}

function summary(beat: KumaBeat | undefined) {
  return beat && `${beat.status}${beat.ping === null ? "" : " with ping"}`;
}

/** Lists the differences of badges: their words, numbers within a tolerance, and the colour of their value. */
export function badgeDifferences(there: KumaReadings, here: KumaReadings): string[] {
  return Object.entries(there.badges).flatMap(([path, badge]) => {
    const ours = here.badges[path];
    if (ours && isSameBadge(path, badge, ours)) return [];
    const [, number, name] = /^\/api\/badge\/(\d+)\/(.+)$/.exec(path) ?? [];
    const at = number === undefined ? path : `${nameOf(there, number)} ${name}`;
    return [differ(at, badge.title, ours?.title)];
  });
}

/** Returns the name of a monitor. */
function nameOf({ names }: KumaReadings, number: string): string {
  return names.get(Number(number)) ?? number;
}

function isSameBadge(path: string, there: KumaBadge, here: KumaBadge): boolean {
  const [ofThere, ofHere] = [partsOf(there.title), partsOf(here.title)];
  const isLatency = /\/(ping|avg-response|response)$/.test(path);
  // A latency that it does not have is `N/A` or `ms`; here there may be one meanwhile.
  if (isLatency && ofThere.number === undefined) return there.status === here.status;
  if (there.status !== here.status || ofThere.words !== ofHere.words) return false;
  // The last response may be one of this server.
  if (path.endsWith("/response")) return true;
  const numbers = [ofThere.number, ofHere.number] as const;
  if (path.endsWith("/uptime")) return isNear(numbers, BADGE_TOLERANCE);
  return isNear(numbers, LATENCY_TOLERANCE_MS) && there.colour === here.colour;
}

/** Divides a title into its words and the number behind the colon. */
function partsOf(title: string): { words: string; number: number | undefined } {
  const [, label = "", number, unit = ""] = /^(.*: )([\d.]+)(\D*)$/.exec(title) ?? [];
  return number === undefined
    ? { words: title, number: undefined }
    : { words: label + unit, number: Number(number) };
}

/** Lists the differences of the metrics of monitors: those of their labels, and of values by family and window. */
export function metricDifferences(there: KumaReadings, here: KumaReadings): string[] {
  const known = here.metrics.get("monitor_status")?.samples ?? [];
  const names = new Set(known.map(({ labels }) => labels["monitor_name"]));
  const lines = [...there.metrics].flatMap(([family, { samples }]) => {
    const samplesHere = here.metrics.get(family)?.samples ?? [];
    return samples.flatMap(({ labels, value }) => {
      const { monitor_name: name, window } = labels;
      if (!names.has(name)) return [`${name}: only there`];
      const same = samplesHere.find(
        (one) => one.labels["monitor_name"] === name && one.labels["window"] === window,
      );
      // A mean latency that it does not know is 0.
      if (!same && family === "monitor_response_time_seconds" && value === 0) return [];
      if (!same) return [`${name} ${family}: only there`];
      const at = [name, family, window].filter((part) => part !== undefined).join(" ");
      return [
        ...documentDifferences({ ...labels, monitor_url: originOf(labels) }, same.labels, name),
        ...(isNear([value, same.value], TOLERANCES[family] ?? 0)
          ? []
          : [differ(at, value, same.value)]),
      ];
    });
  });
  return [...new Set(lines)];
}

/** Returns the origin of a monitor's URL, the only part of it that this server tells. */
function originOf({ monitor_url: url = "" }: Record<string, string>): string {
  return URL.parse(url)?.origin ?? "null";
}

const TOLERANCES: Readonly<Record<string, number>> = {
  monitor_uptime_ratio: LONG_UPTIME_TOLERANCE,
  monitor_response_time_seconds: LATENCY_TOLERANCE_MS / 1_000,
  monitor_response_time: Infinity,
};

function isNear([a, b]: readonly [number | undefined, number | undefined], tolerance: number) {
  if (a === undefined || b === undefined) return a === b;
  return Math.abs(a - b) <= tolerance;
}

function isSameTime(there: unknown, here: unknown): boolean {
  const [a, b] = [there, here].map((value) =>
    typeof value === "string" && /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}/.test(value)
      ? Date.parse(value)
      : Number.NaN,
  );
  return Math.abs((a ?? 0) - (b ?? 0)) < TIME_TOLERANCE_MS;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function differ(path: string, there: unknown, here: unknown): string {
  return `${path}: ${JSON.stringify(there)} → ${JSON.stringify(here)}`;
}
