import type { Reader } from "../../db";
import { toIso } from "../../kernel/time";
import {
  knownSpan,
  listCausesOfPage,
  listComponentsOfPage,
  listGroups,
  presentComponent,
  presentGroup,
  uptime,
} from "../components";
import { type PageRow, presentPage } from "../pages";
import type { StatusDocument } from "./model";
import { headlineOf } from "./rules";

/** The days that a component's uptime in the document reaches back, today included. */
export const UPTIME_DAYS = 90;

/** Builds the document of one page from the database, as it stands at `now` (unix ms). */
export function buildStatusDocument(
  reader: Reader,
  page: PageRow,
  baseUrl: string,
  now: number,
): StatusDocument {
  const rows = listComponentsOfPage(reader, { pageId: page.id });
  const windowStart = knownSpan({ createdAt: 0, startDate: null }, now, UPTIME_DAYS).from;
  const causes = Map.groupBy(
    listCausesOfPage(reader, { pageId: page.id, since: windowStart }).map((row) => row.cause),
    (cause) => cause.componentId,
  );
  return {
    page: presentPage(page, baseUrl),
    status: headlineOf(rows.map((row) => row.status)),
    groups: listGroups(reader, { pageId: page.id }).map(presentGroup),
    components: rows.map((row) => {
      const own = causes.get(row.id) ?? [];
      const open = own.filter((cause) => cause.endedAt === null);
      return {
        ...presentComponent(row, page.slug, open),
        uptime_90d: uptime(own, knownSpan(row, now, UPTIME_DAYS)),
      };
    }),
    incidents: [],
    maintenance: [],
    updated_at: toIso(page.contentChangedAt),
  };
}
