import type { Reader } from "../../db";
import { listMonitorsOfPage, type Sparkline, sparklinesOf } from "../monitors";
import type { StatusDocument } from "./model";

/**
 * How quickly the components of a document have answered lately, by their ids: of those whose page is to
 * show it and that a monitor measures. Where several measure one, the oldest that was answered speaks for
 * it: what different things took has no average that says anything. `now` in unix ms.
 */
export function readLatency(
  reader: Reader,
  { page, components }: Pick<StatusDocument, "page" | "components">,
  now: number,
): Map<string, Sparkline> {
  const asked = new Set(components.filter((one) => one.show_latency).map(({ id }) => id));
  if (asked.size === 0) return new Map();
  // How long a job says that it took is no response time.
  const measuring = listMonitorsOfPage(reader, { pageId: page.id }).filter(
    ({ componentId, type }) => asked.has(componentId) && type !== "push",
  );
  const nums = new Set(measuring.map(({ num }) => num));
  const lines = sparklinesOf(reader, [...nums], now);
  const found = new Map<string, Sparkline>();
  for (const { componentId, num } of measuring) {
    const line = lines.get(num);
    if (!line?.values.some((value) => value !== null)) continue;
    if (!found.has(componentId)) found.set(componentId, line);
  }
  return found;
}
