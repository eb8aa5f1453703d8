/*
 * Subject of figures: a page, a component, a monitor, or everything.
 */
import { invalidParameter } from "../../base/errors";
import type { Reader } from "../../db/statements";
import { readComponentFilter } from "../components/references";
import { type ComponentRow, findComponent, listComponentsOfPage } from "../components/store";
import { resolveMonitorId } from "../monitors/records";
import { readPageFilter } from "../pages/pages";
import { findPage } from "../pages/store";
import { LINES_MAX } from "./period";
import {
  findMonitor,
  listComponents,
  listMonitors,
  listMonitorsOfComponent,
  listMonitorsOfPage,
} from "./store";

/** Subject of the figures: one of these, or everything if none is given. */
interface SubjectInput {
  /** Slug or id. */
  page?: string | undefined;
  /** Id, or page slug and ref. */
  component?: string | undefined;
  /** Id or ref. */
  monitor?: string | undefined;
}

/** The subject's objects. */
export interface Subject {
  page: { id: string; slug: string } | undefined;
  component: ComponentRow | undefined;
  monitor: MonitorName | undefined;
}

/** A monitor with the properties that figures show. */
export interface MonitorName {
  id: string;
  num: number;
  name: string;
}

export interface ComponentOnPage {
  row: ComponentRow;
  pageSlug: string;
}

/** One more than allowed, so that too many are noticed. */
const LIMIT = LINES_MAX + 1;

/**
 * Finds the subject of figures. Throws `invalid_request` for an unknown object and for more than
 * one.
 */
export function findSubject(reader: Reader, input: SubjectInput): Subject {
  const [first, second] = (["page", "component", "monitor"] as const).filter(
    (name) => input[name] !== undefined,
  );
  if (first && second) throw invalidParameter(second, `cannot be combined with ${first}`);
  const namedPageId = readPageFilter(reader, input);
  const componentId = readComponentFilter(reader, input);
  const component =
    componentId === undefined ? undefined : findComponent(reader, { id: componentId });
  const pageId = component?.pageId ?? namedPageId;
  const page = pageId === undefined ? undefined : findPage(reader, { id: pageId });
  const monitor =
    input.monitor === undefined
      ? undefined
      : findMonitor(reader, { id: resolveMonitorId(reader, input.monitor) });
  if (input.monitor !== undefined && !monitor) {
    throw invalidParameter("monitor", "names no monitor");
  }
  return { page, component, monitor };
}

/** Lists the components of a subject: itself, or those of the page in its order, or all. */
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

/** Lists the monitors of a subject: itself, or those of the component or the page, or all. */
export function monitorsOf(reader: Reader, { page, component, monitor }: Subject): MonitorName[] {
  if (monitor) return [monitor];
  if (component) return listMonitorsOfComponent(reader, { componentId: component.id });
  if (page) return listMonitorsOfPage(reader, { pageId: page.id });
  return listMonitors(reader, { limit: LIMIT });
}
