import type { Reader } from "../../db";
import {
  type ComponentRow,
  findComponent,
  listComponentsOfPage,
  resolveComponentId,
} from "../components";
import { resolveMonitorId } from "../monitors";
import { findPage, findPageBySlugOrId } from "../pages";
import { badQuery, LINES_MAX } from "./period";
import {
  findMonitor,
  listComponents,
  listMonitors,
  listMonitorsOfComponent,
  listMonitorsOfPage,
} from "./store";

/** What figures are asked of: one of these, or, where none is named, all there is. */
export interface SubjectInput {
  /** Slug or id. */
  page?: string | undefined;
  /** Id, or page slug and ref. */
  component?: string | undefined;
  /** Id or ref. */
  monitor?: string | undefined;
}

/** The same, found. */
export interface Subject {
  page: { id: string; slug: string } | undefined;
  component: ComponentRow | undefined;
  monitor: MonitorName | undefined;
}

/** A monitor as figures name it. */
export interface MonitorName {
  id: string;
  num: number;
  name: string;
}

export interface ComponentOnPage {
  row: ComponentRow;
  pageSlug: string;
}

/** One more than may be told of, so that too many are noticed. */
const LIMIT = LINES_MAX + 1;

/** Throws `invalid_request` for what is not there, and where more than one is named. */
export function findSubject(reader: Reader, input: SubjectInput): Subject {
  const [first, second] = (["page", "component", "monitor"] as const).filter(
    (name) => input[name] !== undefined,
  );
  if (first && second) throw badQuery(second, `cannot stand beside ${first}`);
  const named = input.page === undefined ? undefined : findPageBySlugOrId(reader, input.page);
  if (input.page !== undefined && !named) throw badQuery("page", "names no page");
  const component =
    input.component === undefined
      ? undefined
      : findComponent(reader, { id: resolveComponentId(reader, input.component) });
  if (input.component !== undefined && !component) {
    throw badQuery("component", "names no component");
  }
  const monitor =
    input.monitor === undefined
      ? undefined
      : findMonitor(reader, { id: resolveMonitorId(reader, input.monitor) });
  if (input.monitor !== undefined && !monitor) throw badQuery("monitor", "names no monitor");
  const page = component ? findPage(reader, { id: component.pageId }) : named;
  return { page, component, monitor };
}

/** The components that a subject has: itself, or those of the page in its order, or all. */
export function componentsOf(reader: Reader, { page, component }: Subject): ComponentOnPage[] {
  if (!page) {
    return listComponents(reader, { limit: LIMIT }).map(({ component: row, pageSlug }) => ({
      row,
      pageSlug,
    }));
  }
  const rows = component ? [component] : listComponentsOfPage(reader, { pageId: page.id });
  return rows.map((row) => ({ row, pageSlug: page.slug }));
}

/** The monitors that a subject has: itself, or those of the component or the page, or all. */
export function monitorsOf(reader: Reader, { page, component, monitor }: Subject): MonitorName[] {
  if (monitor) return [monitor];
  if (component) return listMonitorsOfComponent(reader, { componentId: component.id });
  if (page) return listMonitorsOfPage(reader, { pageId: page.id });
  return listMonitors(reader, { limit: LIMIT });
}
