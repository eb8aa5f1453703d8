import type { Reader } from "../../db/statements";
import { answerToCsv } from "../../features/analytics/answer";
import { listComponents, listUnattachedMonitors } from "../../features/analytics/store";
import { METHODS, UptimeLine } from "../../features/analytics/model";
import { readPeriod } from "../../features/analytics/period";
import { uptimeByComponent, uptimeByMonitor } from "../../features/analytics/uptime";
import { listComponentsOfPage } from "../../features/components/store";
import { listMonitorsOfPage } from "../../features/monitors/store";
import { toIso } from "../../base/time";
import { periodInput, type Selection } from "./selection";
import { COMPONENTS_MAX, onPage } from "./uptime-view";

/**
 * Returns the uptime as CSV: components by page, then their monitors and, without a selected page, the
 * monitors without components, each with its calculation method.
 */
export async function readUptimeCsv(
  reader: Reader,
  { page, pages, span }: Selection,
  now: number,
): Promise<string> {
  const period = readPeriod(periodInput(span, now), now);
  const components = page
    ? listComponentsOfPage(reader, { pageId: page.id }).map((row) => ({
        row,
        pageSlug: page.slug,
      }))
    : listComponents(reader, { limit: COMPONENTS_MAX }).map(onPage);
  const shown = page ? [page] : pages;
  const attached = shown.flatMap(({ id }) => listMonitorsOfPage(reader, { pageId: id }));
  const unattached =
    page && pages.length > 1 ? [] : listUnattachedMonitors(reader, { limit: COMPONENTS_MAX });
  const monitors = new Map([...attached, ...unattached].map((each) => [each.id, each]));
  const head = { from: toIso(period.from), to: toIso(period.to), interval: null };
  const ofComponents = answerToCsv(UptimeLine, {
    ...head,
    method: METHODS.uptimeOfComponents,
    data: [...(await uptimeByComponent(reader, components, period)).lines],
  });
  const ofMonitors = answerToCsv(UptimeLine, {
    ...head,
    method: METHODS.uptimeOfMonitors,
    data: await uptimeByMonitor(reader, [...monitors.values()], period),
  });
  return ofComponents + ofMonitors.slice(ofMonitors.indexOf("\n") + 1);
}
