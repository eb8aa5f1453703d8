import type { Reader } from "../../db/statements";
import { headOf, lineOf } from "./answer";
import { countIncidents, unitOf } from "./counts-store";
import { METHODS, type IncidentFigures, type IncidentsAnswer } from "./model";
import { numberOf, type Period } from "./period";
import type { Subject } from "./subjects";

type Counted = ReturnType<typeof countIncidents>[number];

/**
 * Returns figures of published incidents that started within each interval and in the whole period:
 * of the subject's page, of those that ever named its component, or of those that its monitor
 * opened. An open incident counts until `now`.
 */
export function incidentsAnswer(
  reader: Reader,
  { page, component, monitor }: Subject,
  period: Period,
  now: number,
): IncidentsAnswer {
  const { from, to, interval, spans } = period;
  const counted = countIncidents(reader, {
    pageId: page?.id ?? null,
    componentId: component?.id ?? null,
    monitorId: monitor?.id ?? null,
    from,
    to,
    unit: unitOf(interval),
    now,
  });
  const byNumber = Map.groupBy(counted, ({ at }) => numberOf(at, interval));
  const data = spans.map((span) => ({
    ...lineOf(span),
    ...incidentFiguresOf(byNumber.get(numberOf(span.from, interval)) ?? []),
  }));
  return { ...headOf(period, METHODS.incidents), total: incidentFiguresOf(counted), data };
}

function incidentFiguresOf(parts: readonly Counted[]): IncidentFigures {
  const sum = (of: (part: Counted) => number | null) =>
    parts.reduce((total, part) => total + (of(part) ?? 0), 0);
  const mean = (total: number, count: number) => (count === 0 ? null : Math.round(total / count));
  const identified = sum((part) => part.identified);
  const resolved = sum((part) => part.resolved);
  const longest = parts.toSorted((a, b) => b.longest - a.longest)[0];
  return {
    count: sum((part) => part.count),
    none: sum((part) => part.none),
    minor: sum((part) => part.minor),
    major: sum((part) => part.major),
    critical: sum((part) => part.critical),
    identified,
    time_to_identify_ms: mean(
      sum((part) => part.identifySum),
      identified,
    ),
    resolved,
    time_to_resolve_ms: mean(
      sum((part) => part.resolveSum),
      resolved,
    ),
    longest_ms: longest?.longest ?? null,
    longest_id: longest?.longestId ?? null,
  };
}
