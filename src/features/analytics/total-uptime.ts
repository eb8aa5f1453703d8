import type { Reader } from "../../db";
import {
  addStatusTimes,
  downTime,
  foldSpans,
  knownFrom,
  type Span,
  uptimeOfTime,
} from "../components";
import { listCauses, listComponents, listNoData } from "./store";

/** Uptime of all components together. */
interface TotalUptime {
  /** Share of the known time without maintenance; null without such time. */
  uptime: number | null;
  /** Time that counts as down, of all components, in ms. */
  downMs: number;
}

/**
 * Returns the uptime of at most `limit` components together in a span of unix ms, by the method of
 * `uptimeAnswer`. Components without causes and without missing data are not folded.
 */
export function totalUptime(reader: Reader, { from, to }: Span, limit: number): TotalUptime {
  const rows = listComponents(reader, { limit }).map(({ component }) => component);
  const marked = { componentIds: JSON.stringify(rows.map(({ id }) => id)), from, to };
  const causes = Map.groupBy(listCauses(reader, marked), ({ componentId }) => componentId);
  const gaps = Map.groupBy(listNoData(reader, marked), ({ componentId }) => componentId);
  let untroubled = 0;
  const times = rows.flatMap((row) => {
    const known = { from: Math.max(from, knownFrom(row)), to };
    const [own, missing] = [causes.get(row.id), gaps.get(row.id)];
    if (own === undefined && missing === undefined) {
      untroubled += Math.max(0, known.to - known.from);
      return [];
    }
    return foldSpans(own ?? [], known, [{ from, to }], missing).map(({ time }) => time);
  });
  const total = addStatusTimes(times);
  const time = { ...total, operational: total.operational + untroubled };
  return { uptime: uptimeOfTime(time), downMs: downTime(time) };
}
