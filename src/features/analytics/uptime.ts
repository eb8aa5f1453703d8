import type { Reader } from "../../db/statements";
import { addTimes as addStatusTimes, type Folded, type Span } from "../components/history";
import { countedTime, downTime, uptimeOfTime } from "../components/rules";
import { addTimes, knownTime, type StateTimes, timesByInterval, uptimeOf } from "../monitors/spans";
import { listSpans } from "../monitors/checks-store";
import { headOf, lineOf } from "./answer";
import { foldComponents, foldInTurns, inTurns } from "./fold";
import { METHODS, type UptimeAnswer, type UptimeFigures, type UptimeLine } from "./model";
import { type Period, requireLines } from "./period";
import { type ComponentOnPage, componentsOf, type MonitorName, type Subject } from "./subjects";

/**
 * Returns the uptime of a monitor, or of each component of the subject, by interval and together.
 * Throws `invalid_request` for more lines than an answer may have.
 */
export function uptimeAnswer(reader: Reader, subject: Subject, period: Period): UptimeAnswer {
  if (subject.monitor) return uptimeOfMonitor(reader, subject.monitor, period);
  const components = componentsOf(reader, subject);
  requireLines(components.length, period);
  return uptimeOfComponents(reader, components, period);
}

function uptimeOfComponents(
  reader: Reader,
  components: readonly ComponentOnPage[],
  period: Period,
): UptimeAnswer {
  const { from, to, spans } = period;
  const rows = components.map(({ row }) => row);
  const folded = foldComponents(reader, rows, period);
  const data = components.flatMap((component, i) =>
    spans.map((span, j) => lineOfComponent(component, folded[i]?.[j]?.time ?? NO_TIME, span)),
  );
  const whole = addStatusTimes(folded.flat().map(({ time }) => time));
  const total = figuresOfTime(whole, (to - from) * components.length);
  return { ...headOf(period, METHODS.uptimeOfComponents), total, data };
}

function uptimeOfMonitor(reader: Reader, monitor: MonitorName, period: Period): UptimeAnswer {
  const { from, to, spans } = period;
  const [times = []] = timesOfMonitors(reader, [monitor], period);
  const data = spans.map((span, i) => lineOfMonitor(monitor, times[i] ?? addTimes([]), span));
  const total = figuresOfStates(addTimes(times), to - from);
  return { ...headOf(period, METHODS.uptimeOfMonitors), total, data };
}

/** Returns the time in each state of each monitor by span, in the order of `monitors`. */
function timesOfMonitors(
  reader: Reader,
  monitors: readonly MonitorName[],
  { from, to, spans }: Pick<Period, "from" | "to" | "spans">,
): StateTimes[][] {
  const nums = JSON.stringify(monitors.map(({ num }) => num));
  const timelines = Map.groupBy(
    listSpans(reader, { nums, from, to }).map(({ row }) => row),
    ({ monitorNum }) => monitorNum,
  );
  return monitors.map(({ num }) => timesByInterval(timelines.get(num) ?? [], spans));
}

/** Components with their times in a period, each in several spans and as a line of the whole period. */
interface ComponentsUptime {
  total: UptimeFigures;
  /** A line for each component. */
  lines: readonly UptimeLine[];
  /** Times of each component by span of the period. */
  folded: readonly (readonly Folded[])[];
}

/** Monitors whose timelines are read in one turn of the event loop. */
const MONITORS_PER_TURN = 20;

/**
 * Returns the uptime of components in a period, by the method of `uptimeAnswer`, in several turns of the
 * event loop for many components.
 */
export async function uptimeByComponent(
  reader: Reader,
  components: readonly ComponentOnPage[],
  period: Period,
): Promise<ComponentsUptime> {
  const rows = components.map(({ row }) => row);
  const folded = await foldInTurns(reader, rows, period);
  const times = folded.map((own) => addStatusTimes(own.map(({ time }) => time)));
  return {
    total: figuresOfTime(addStatusTimes(times), (period.to - period.from) * components.length),
    lines: components.map((component, i) =>
      lineOfComponent(component, times[i] ?? NO_TIME, period),
    ),
    folded,
  };
}

/** Returns the sum of components' lines, which are of a period that is `length` ms long. */
export function sumOfFolded(folded: Iterable<readonly Folded[]>, length: number): UptimeFigures {
  const each = Array.from(folded);
  const times = each.flatMap((own) => own.map(({ time }) => time));
  return figuresOfTime(addStatusTimes(times), length * each.length);
}

/** Returns a line for each monitor, read in several turns of the event loop for many monitors. */
export async function uptimeByMonitor(
  reader: Reader,
  monitors: readonly MonitorName[],
  { from, to }: Span,
): Promise<UptimeLine[]> {
  const span = { from, to };
  return inTurns(monitors, MONITORS_PER_TURN, (part) => {
    const times = timesOfMonitors(reader, part, { ...span, spans: [span] });
    return part.map((monitor, i) => lineOfMonitor(monitor, addTimes(times[i] ?? []), span));
  });
}

function lineOfComponent(
  { row: { id, name }, pageSlug }: ComponentOnPage,
  time: Folded["time"],
  span: Span,
): UptimeLine {
  const figures = figuresOfTime(time, span.to - span.from);
  return { kind: "component", id, name, page: pageSlug, ...lineOf(span), ...figures };
}

function lineOfMonitor({ id, name }: MonitorName, times: StateTimes, span: Span): UptimeLine {
  const figures = figuresOfStates(times, span.to - span.from);
  return { kind: "monitor", id, name, page: null, ...lineOf(span), ...figures };
}

const NO_TIME: Folded["time"] = addStatusTimes([]);

function figuresOfTime(time: Folded["time"], length: number): UptimeFigures {
  const counted = countedTime(time);
  return {
    uptime: uptimeOfTime(time),
    counted_ms: counted,
    // Rounded to tenths, which partial outages are counted in.
    down_ms: Math.round(downTime(time) * 10) / 10,
    degraded_ms: time.degraded_performance,
    partial_outage_ms: time.partial_outage,
    major_outage_ms: time.major_outage,
    maintenance_ms: time.under_maintenance,
    no_data_ms: length - counted - time.under_maintenance,
  };
}

function figuresOfStates(times: StateTimes, length: number): UptimeFigures {
  const counted = knownTime(times);
  return {
    uptime: uptimeOf(times),
    counted_ms: counted,
    down_ms: times.down,
    degraded_ms: times.degraded,
    partial_outage_ms: null,
    major_outage_ms: null,
    maintenance_ms: times.maintenance,
    no_data_ms: length - counted - times.maintenance,
  };
}
