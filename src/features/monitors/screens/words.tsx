import type { MonitorType, Tone } from "../../../base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../base/time";
import { localTime } from "../../../base/zones";
import type { Step } from "../../../egress/steps";
import { CheckLabel } from "../../../ui/blocks";
import { monitorPath, MONITORS_PATH, withQuery } from "../../../ui/frame/paths";
import { RelativeTime, secondTime, Time, useZone, zoneAt } from "../../../ui/times";
import type { CheckRow } from "../checks-store";
import { type MonitorConfig, probeOf } from "../probes";
import { scheduleOf } from "../probes/push";
import { originOf } from "../probes/unsupported";
import type { MonitorRecord } from "../records";
import type { StateRow } from "../store";
import type { Range } from "./range";

/** Returns the label of a monitor type. */
export function typeLabel(type: MonitorType): string {
  return probeOf(type).label;
}

/** Returns the type of a monitor as text: "TCP port"; of an imported one "MongoDB, from Uptime Kuma". */
export function typeInWords({ type, config }: MonitorRecord["row"]): string {
  if (type !== "unsupported") return typeLabel(type);
  const origin = originOf(config);
  return `${origin.type}, from ${origin.source}`;
}

/** Returns a short description of a monitor's target. */
export function targetOf({ type, config }: MonitorRecord["row"]): string {
  return probeOf(type).targetOf(config as MonitorConfig);
}

const UNITS = [
  { ms: DAY_MS, word: "d" },
  { ms: HOUR_MS, word: "h" },
  { ms: MINUTE_MS, word: "min" },
  { ms: SECOND_MS, word: "s" },
] as const;

/** Returns a duration in its two largest units: "42 s", "3 min 20 s", "1 h", "2 d 4 h". */
export function timeInWords(ms: number): string {
  const first = UNITS.findIndex((unit) => ms >= unit.ms);
  const unit = UNITS[first];
  if (!unit) return `${Math.max(0, Math.round(ms))} ms`;
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms % unit.ms) / next.ms) : 0;
  const whole = `${Math.floor(ms / unit.ms)} ${unit.word}`;
  return next && rest > 0 ? `${whole} ${rest} ${next.word}` : whole;
}

/**
 * Returns the interval of a monitor as text: "every 1 min"; for a job with a schedule "at 0 3 * * * (UTC)",
 * without a deadline "at any time".
 */
export function intervalInWords({ type, intervalSeconds, config }: MonitorRecord["row"]): string {
  if (type === "alert") return "as senders report";
  const declared = scheduleOf(config);
  if (declared) return `at ${declared.schedule} (${declared.time_zone})`;
  return intervalSeconds === null
    ? "at any time"
    : `every ${timeInWords(intervalSeconds * SECOND_MS)}`;
}

/** Returns a range as the end of a sentence: "in the last 24 hours". */
export function inRange({ label, isZoomed }: Pick<Range, "label" | "isZoomed">): string {
  return isZoomed ? "in this time" : `in the ${label}`;
}

/** Returns a response time as text: "120 ms", "1.25 s", "4 min 13 s". */
export function latencyInWords(ms: number): string {
  if (ms >= MINUTE_MS) return timeInWords(ms);
  if (ms < SECOND_MS) return `${Math.round(ms * 10) / 10} ms`;
  return `${(ms / SECOND_MS).toLocaleString("en", { maximumFractionDigits: 2 })} s`;
}

/** Returns what a check got and how long it took, as a sentence: "HTTP status 200 in 84 ms."; undefined without a response. */
export function answerInWords(latencyMs: number | null, steps: readonly Step[]) {
  if (latencyMs === null) return undefined;
  const answer = steps.find(({ name }) => name === "request")?.detail;
  const took = latencyInWords(latencyMs);
  return answer ? `${answer} in ${took}.` : `The response took ${took}.`;
}

/** Returns the result of a check by the server or an agent with its time in a time zone, in sentences, and its tone. */
export function resultInWords(
  { outcome, latencyMs, message, at }: Pick<CheckRow, "outcome" | "latencyMs" | "message" | "at">,
  steps: readonly Step[],
  zone: string,
  checker: "server" | "agent" = "server",
): { tone: Tone; text: string } {
  const answer = answerInWords(latencyMs, steps);
  const took = answer === undefined ? "" : ` ${answer}`;
  const reason = message === null ? "" : ` ${message}`;
  const time = `${secondTime(localTime(at, zone))} ${zoneAt(at, zone)}`;
  const text = {
    ok: `The check at ${time} succeeded.${took}${reason}`,
    failed: `The check at ${time} failed.${reason}${took}`,
    unknown: `The ${checker} could not perform the check at ${time}.${reason}${took}`,
  }[outcome];
  return { tone: outcome === "ok" ? "ok" : "major", text };
}

/** Returns a response time as text, or a dash for none. */
export function latencyOrNone(ms: number | null | undefined): string {
  return ms == null ? "–" : latencyInWords(ms);
}

/** Time of a recent result or signal, "14:30:05 · 2 min ago". Both in unix ms. */
export function TimeOfDay({ at, now }: { at: number; now: number }) {
  return (
    <>
      {secondTime(localTime(at, useZone()))} · <RelativeTime at={toIso(at)} now={now} />
    </>
  );
}

/** Time since `at` as text, "for 4 min 20 s", with the date on hover. Both in unix ms. */
export function Since({ at, now }: { at: number; now: number }) {
  return (
    <>
      for <Time at={toIso(at)}>{timeInWords(Math.max(1_000, now - at))}</Time>
    </>
  );
}

/** Monitor through which another is unreachable, as a link after its state. */
export function UnreachableThrough({
  record,
}: {
  record: Pick<MonitorRecord, "state" | "parents">;
}) {
  const { state, parents } = record;
  const parent = parents.find(({ id }) => id === state.unreachableVia);
  if (state.state !== "unreachable" || !parent) return null;
  return (
    <>
      through <a href={monitorPath(parent.id)}>{parent.name}</a>{" "}
    </>
  );
}

/** Author, time and note of the acknowledgement of an outage, after its state; nothing without one. */
export function Acknowledged(props: { acknowledgement: StateRow["acknowledgement"]; now: number }) {
  const { acknowledgement, now } = props;
  if (!acknowledgement) return null;
  const { at, by, note } = acknowledgement;
  return (
    <>
      acknowledged by {by.label} <RelativeTime at={toIso(at)} now={now} />
      {note === null ? null : <>: {note}</>}
    </>
  );
}

/** Link to the dialog that acknowledges the outage of a monitor. */
export function AcknowledgeLink({ id }: { id: string }) {
  return (
    <a href={monitorPath(id, "acknowledge")} data-dialog="">
      Acknowledge
    </a>
  );
}

/** True if an outage can be acknowledged. */
export function isUnacknowledged({ state, acknowledgement }: StateRow): boolean {
  return state === "down" && acknowledgement === null;
}

/** Characters of a message shown in lists. */
const MESSAGE_SHOWN = 90;

/** Outcome, time and message of the last result of a monitor. */
export function LastResult({ check, now }: { check: CheckRow | undefined; now: number }) {
  if (!check) return <>None yet</>;
  const { outcome, message, at } = check;
  return (
    <>
      <CheckLabel outcome={outcome} /> <RelativeTime at={toIso(at)} now={now} />
      {message === null ? null : <> · {shortened(message)}</>}
    </>
  );
}

function shortened(message: string): string {
  const characters = [...message];
  if (characters.length <= MESSAGE_SHOWN) return message;
  return `${characters.slice(0, MESSAGE_SHOWN - 1).join("")}…`;
}

interface TagsProps {
  group: string | null;
  tags: readonly string[];
  /** Maximum number of tags shown; all by default. Further ones are counted. */
  max?: number;
}

/** Group and tags of a monitor as links to the monitors that have them. Renders nothing without any. */
export function Tags({ group, tags, max = tags.length }: TagsProps) {
  if (group === null && tags.length === 0) return null;
  const more = tags.length - max;
  return (
    <span class="tags">
      {group === null ? null : (
        <a class="chip" href={withQuery(MONITORS_PATH, { group })}>
          <span class="visually-hidden">Monitors of the group </span>
          {group}
        </a>
      )}
      {tags.slice(0, max).map((tag) => (
        <a key={tag} class="chip" href={withQuery(MONITORS_PATH, { tag })}>
          <span class="visually-hidden">Monitors with the tag </span>
          {tag}
        </a>
      ))}
      {more > 0 ? <span class="note-inline">and {more} more</span> : null}
    </span>
  );
}
