import type { Reader } from "../../db";
import { notFound } from "../../errors";
import { type Maintenance, presentMaintenance } from "./model";
import { UPCOMING_MS } from "./rules";
import {
  findMaintenance,
  findNextEdge,
  listComponentsOfMaintenances,
  listEndedOfPage,
  listMaintenanceBefore,
  listPageMaintenanceBefore,
  listShownOfPage,
  listUpdatesOfMaintenances,
  type MaintenanceFilter,
  type MaintenanceRecord,
} from "./store";

/** The updates that are shown of each where several maintenances are shown. */
const UPDATES_IN_LISTS = 20;
const ALL_UPDATES = Number.MAX_SAFE_INTEGER;
/** A page shows no more of what is under way and to come. */
const SHOWN_MAX = 100;

type Found = Pick<MaintenanceRecord, "row" | "pageSlug">;

/** One maintenance with all of its updates. Throws `not_found`, also where its page is gone. */
export function getMaintenanceRecord(reader: Reader, id: string): MaintenanceRecord {
  const found = findMaintenance(reader, { id });
  const [record] = found ? assemble(reader, [found], ALL_UPDATES) : [];
  if (!record) throw notFound("maintenance");
  return record;
}

/** One maintenance as the API shows it, with all of its updates. Throws `not_found`. */
export function getMaintenance(ctx: { baseUrl: string }, reader: Reader, id: string): Maintenance {
  return presentMaintenance(getMaintenanceRecord(reader, id), ctx.baseUrl);
}

/** What a list asks for; whatever it leaves out lets everything through. */
export interface MaintenanceQuery extends Partial<MaintenanceFilter> {
  pageId?: string | undefined;
  /** The id of a maintenance: those older than it. */
  before?: string | undefined;
  limit: number;
}

/** Maintenances, the last planned first, each with its 20 newest updates. */
export function listMaintenance(reader: Reader, query: MaintenanceQuery): MaintenanceRecord[] {
  const { pageId, before = "~", limit, ...filter } = query;
  const request = {
    status: null,
    componentId: null,
    isUpcoming: null,
    isActive: null,
    ...filter,
    before,
    limit,
  };
  const found =
    pageId === undefined
      ? listMaintenanceBefore(reader, request)
      : listPageMaintenanceBefore(reader, { ...request, pageId });
  return assemble(reader, found, UPDATES_IN_LISTS);
}

/**
 * What a page shows at `now`: what is under way, then what begins by `until` and whose time is not over
 * yet, each by its planned beginning; at most 100, each with its 20 newest updates. Times in unix ms.
 */
export function listMaintenanceForPage(
  reader: Reader,
  { pageId, now, until }: { pageId: string; now: number; until: number },
): MaintenanceRecord[] {
  const shown = listShownOfPage(reader, { pageId, now, until, limit: SHOWN_MAX });
  return assemble(reader, shown, UPDATES_IN_LISTS);
}

/**
 * What is over of what began from `from` until before `to` (unix ms): completed, or cancelled after its
 * beginning. The last begun first, each with its 20 newest updates.
 */
export function listPastMaintenance(
  reader: Reader,
  span: { pageId: string; from: number; to: number },
): MaintenanceRecord[] {
  return assemble(reader, listEndedOfPage(reader, span), UPDATES_IN_LISTS);
}

/**
 * The next moment after `now` at which time alone changes what a page shows of its maintenance, both in
 * unix ms: something comes within 30 days, or its planned beginning or end is reached. Undefined if
 * nothing is planned.
 */
export function nextEdge(
  reader: Reader,
  { pageId, now }: { pageId: string; now: number },
): number | undefined {
  return findNextEdge(reader, { pageId, now, ahead: UPCOMING_MS })?.at ?? undefined;
}

/** Two statements, however many there are. */
function assemble(reader: Reader, found: readonly Found[], each: number): MaintenanceRecord[] {
  if (found.length === 0) return [];
  const ids = JSON.stringify(found.map(({ row }) => row.id));
  const components = Map.groupBy(
    listComponentsOfMaintenances(reader, { ids }),
    (row) => row.maintenanceId,
  );
  const updates = Map.groupBy(
    listUpdatesOfMaintenances(reader, { ids, each }),
    (row) => row.maintenanceId,
  );
  return found.map((one) => ({
    ...one,
    components: components.get(one.row.id) ?? [],
    updates: updates.get(one.row.id) ?? [],
  }));
}
