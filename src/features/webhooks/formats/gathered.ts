import type { EventType, RecordedEvent } from "../../../events/outbox";
import { plural } from "../../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import { MONITOR_TONES, type Tone, TONES } from "../../../base/status";
import { bold, entry } from "./blocks";
import { cleanLine, clipTo } from "./clean";
import type { GatheredEvents } from "./format";
import { type EventNotification, moment, nameOf } from "./notification-parts";
import { type Data, recordOf, textOf } from "./reading";

/** Maximum number of lines, and maximum length of the name and of the reason in each: all fit into a message of Slack. */
const LINES_MAX = 20;
const GATHERED_NAME_MAX = 60;
const REASON_MAX = 60;

/** Kinds of lines, in the order in which the title counts them. */
const KINDS = {
  down: { tone: MONITOR_TONES.down, what: "down" },
  up: { tone: MONITOR_TONES.up, what: "up" },
  degraded: { tone: MONITOR_TONES.degraded, what: "degraded" },
  wasDown: { tone: MONITOR_TONES.up, what: "was down" },
  stillDown: { tone: MONITOR_TONES.down, what: "still down" },
  certificate: { tone: "degraded", what: "certificate" },
} satisfies Record<string, { tone: Tone; what: string }>;
type Kind = keyof typeof KINDS;

/** A count with its words at the beginning of a title, and further on. */
type Count = [count: number, first: string, further: string];

/** All that happened to one monitor, or to a certificate. */
interface Line {
  kind: Kind;
  name: string;
  /** Text after the name. */
  text: string;
  /** Title of a message without other lines; its name is added. */
  alone: string;
}

/** Message about gathered events of monitors, without link and sender. */
type GatheredText = Omit<EventNotification, "url" | "source">;

/**
 * Writes gathered events of monitors: a title that counts, and a line for each of the first 20 monitors, oldest first.
 * Several events of one monitor are one line.
 */
export function gatheredText({ events, stillDown }: GatheredEvents): GatheredText {
  const lines = linesOf(events);
  const [first, ...others] = lines;
  if (!first) throw new Error("a message about gathered events has none");
  const shown = lines.slice(0, LINES_MAX).map(({ name, text }) => entry(bold(name), ` ${text}`));
  const left = lines.length - shown.length;
  const isAlone = others.length === 0;
  return {
    what: isAlone ? first.alone : whatOf(lines),
    name: isAlone ? first.name : "",
    title: isAlone ? `${first.alone}: ${first.name}` : titleOf(lines, stillDown),
    tone: worstTone(lines),
    facts: [],
    body: shown,
    // Kept if the lines are cut.
    components: left > 0 ? [entry(`and ${left.toLocaleString("en")} more`)] : [],
  };
}

function linesOf(events: readonly RecordedEvent[]): Line[] {
  const lines: Line[] = [];
  const byMonitor = Map.groupBy(events, ({ id, type, subjectId }) => {
    return type === "monitor.certificate_expiring" ? id : subjectId;
  });
  for (const [first, ...others] of byMonitor.values()) {
    if (first) lines.push(lineOf(first, others.at(-1) ?? first, [first, ...others]));
  }
  return lines;
}

/** Returns the line of one monitor with its first, its last and all of its events. */
function lineOf(first: RecordedEvent, last: RecordedEvent, all: readonly RecordedEvent[]): Line {
  const data = recordOf(last.data, "monitor") ?? last.data;
  const name = clipTo(cleanLine(nameOf(data)), GATHERED_NAME_MAX);
  const wasDown = all.some(({ type }) => type === "monitor.down");
  const since = sinceOf(textOf(data, "state_since"));
  const type: EventType = last.type;
  switch (type) {
    case "monitor.up": {
      const lasted = outageOf(data);
      const downFor = lasted === undefined ? "was down" : `was down for ${lasted}`;
      if (first.type === "monitor.down") {
        return { kind: "wasDown", name, text: downFor, alone: `Monitor ${downFor}` };
      }
      const text = lasted === undefined ? `is up${since}` : `is up again${since}, ${downFor}`;
      return { kind: "up", name, text, alone: "Monitor up" };
    }
    case "monitor.degraded": {
      const text = `${wasDown ? "was down and " : ""}is degraded${since}${reasonOf(data)}`;
      return { kind: "degraded", name, text, alone: "Monitor degraded" };
    }
    case "monitor.reminder": {
      const downSince = sinceOf(textOf(last.data, "down_since"));
      if (wasDown) return downLine(name, `is down${downSince}${reasonOf(data)}`);
      const text = `is still down${downSince}${reasonOf(data)}`;
      return { kind: "stillDown", name, text, alone: "Monitor still down" };
    }
    case "monitor.certificate_expiring": {
      const days = last.data["days_left"];
      const left = typeof days === "number" ? ` in ${plural(days, "day")}` : " soon";
      const host = clipTo(cleanLine(textOf(last.data, "host") ?? ""), REASON_MAX);
      const text = `has a certificate that expires${left}${host === "" ? "" : `: ${host}`}`;
      return { kind: "certificate", name, text, alone: "Certificate expires soon" };
    }
    default:
      return downLine(name, `is down${since}${reasonOf(data)}`);
  }
}

function downLine(name: string, text: string): Line {
  return { kind: "down", name, text, alone: "Monitor down" };
}

function sinceOf(iso: string | undefined): string {
  return iso === undefined ? "" : ` since ${moment(iso)}`;
}

/** Returns the first words of the last check's message, which is plain text that may quote the monitored server. */
function reasonOf(data: Data): string {
  const message = cleanLine(textOf(recordOf(data, "last_check") ?? {}, "message") ?? "");
  return message === "" ? "" : `: ${clipTo(message, REASON_MAX)}`;
}

function outageOf(data: Data): string | undefined {
  const ms = recordOf(data, "outage")?.["duration_ms"];
  return typeof ms === "number" ? duration(ms) : undefined;
}

/** Writes a duration in one or two whole units: "20 s", "5 min", "1 h 10 min", "2 d 3 h". */
function duration(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  const [unit, part, names] =
    ms < DAY_MS
      ? ([HOUR_MS, MINUTE_MS, ["h", "min"]] as const)
      : ([DAY_MS, HOUR_MS, ["d", "h"]] as const);
  const rest = Math.floor((ms % unit) / part);
  const whole = `${Math.floor(ms / unit)} ${names[0]}`;
  return rest === 0 ? whole : `${whole} ${rest} ${names[1]}`;
}

function whatOf(lines: readonly Line[]): string {
  const kind = (Object.keys(KINDS) as Kind[]).find((one) => countOf(lines, one) > 0) ?? "down";
  const { what } = KINDS[kind];
  if (kind === "certificate") return "Certificates expire soon";
  return kind === "wasDown" ? "Monitors were down" : `Monitors ${what}`;
}

/**
 * Returns the counts: "12 monitors are down", "9 monitors are up again, 3 still down". Those that went down are "more" while
 * others are known to be down.
 */
function titleOf(lines: readonly Line[], otherDown: number): string {
  const [down, up, degraded, wasDown, certificates] = [
    countOf(lines, "down"),
    countOf(lines, "up"),
    countOf(lines, "degraded"),
    countOf(lines, "wasDown"),
    countOf(lines, "certificate"),
  ];
  const stillDown = countOf(lines, "stillDown") + (up + wasDown > 0 ? otherDown : 0);
  const monitor = otherDown > 0 ? "more monitor" : "monitor";
  const be = (count: number) => (count === 1 ? "is" : "are");
  const were = wasDown === 1 ? "was" : "were";
  const stated = (count: number, state: string): Count => [
    count,
    `${plural(count, "monitor")} ${be(count)} ${state}`,
    `${count.toLocaleString("en")} ${state}`,
  ];
  const counts: Count[] = [
    [down, `${plural(down, monitor)} ${be(down)} down`, ""],
    stated(up, "up again"),
    stated(degraded, "degraded"),
    [
      wasDown,
      `${plural(wasDown, "monitor")} ${were} down briefly`,
      `${wasDown.toLocaleString("en")} ${were} down briefly`,
    ],
    stated(stillDown, "still down"),
  ];
  const parts = counts.filter(([count]) => count > 0);
  const written = parts.map(([, first, further], index) => (index === 0 ? first : further));
  if (certificates > 0) {
    const expire = certificates === 1 ? "expires" : "expire";
    written.push(`${plural(certificates, "certificate")} ${expire} soon`);
  }
  return written.join(", ");
}

function countOf(lines: readonly Line[], kind: Kind): number {
  return lines.filter((line) => line.kind === kind).length;
}

function worstTone(lines: readonly Line[]): Tone {
  return lines
    .map(({ kind }): Tone => KINDS[kind].tone)
    .reduce((worst, tone) => (TONES.indexOf(tone) > TONES.indexOf(worst) ? tone : worst));
}
