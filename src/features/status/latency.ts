import type { Reader } from "../../db";
import { listMonitorsOfPage, type Sparkline, sparklinesOf } from "../monitors";
import type { StatusDocument } from "./model";

/**
 * Reads the recent response times of a document's components by id, for components whose page shows
 * them and that a monitor measures. Of several monitors the oldest with a response is used, since
 * an average over different targets has no meaning. `now` in unix ms.
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
