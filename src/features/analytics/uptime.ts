import type { Reader } from "../../db";
import {
  addStatusTimes,
  countedTime,
  downTime,
  type Folded,
  foldSpans,
  knownFrom,
  uptimeOfTime,
} from "../components";
import {
  addTimes,
  knownTime,
  listSpans,
  type StateTimes,
  timesByInterval,
  uptimeOf,
} from "../monitors";
import { headOf, lineOf } from "./answer";
import { METHODS, type UptimeAnswer, type UptimeFigures } from "./model";
import { type Period, requireLines } from "./period";
import { listCauses, listNoData } from "./store";
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
  const marked = { componentIds: JSON.stringify(components.map(({ row }) => row.id)), from, to };
  const causes = Map.groupBy(listCauses(reader, marked), ({ componentId }) => componentId);
  const gaps = Map.groupBy(listNoData(reader, marked), ({ componentId }) => componentId);
  const folded = components.map(({ row }) => {
    const known = { from: Math.max(from, knownFrom(row)), to };
    return foldSpans(causes.get(row.id) ?? [], known, spans, gaps.get(row.id));
  });
  const data = components.flatMap(({ row: { id, name }, pageSlug }, i) =>
    spans.map((span, j) => ({
      kind: "component" as const,
      id,
      name,
      page: pageSlug,
      ...lineOf(span),
      ...figuresOfTime(folded[i]?.[j]?.time ?? NO_TIME, span.to - span.from),
    })),
  );
  const whole = addStatusTimes(folded.flat().map(({ time }) => time));
  const total = figuresOfTime(whole, (to - from) * components.length);
  return { ...headOf(period, METHODS.uptimeOfComponents), total, data };
}

function uptimeOfMonitor(
  reader: Reader,
  { id, num, name }: MonitorName,
  period: Period,
): UptimeAnswer {
  const { from, to, spans } = period;
  const timeline = listSpans(reader, { nums: JSON.stringify([num]), from, to });
  const times = timesByInterval(
    timeline.map(({ row }) => row),
    spans,
  );
  const data = spans.map((span, i) => ({
    kind: "monitor" as const,
    id,
    name,
    page: null,
    ...lineOf(span),
    ...figuresOfStates(times[i] ?? addTimes([]), span.to - span.from),
  }));
  const total = figuresOfStates(addTimes(times), to - from);
  return { ...headOf(period, METHODS.uptimeOfMonitors), total, data };
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
