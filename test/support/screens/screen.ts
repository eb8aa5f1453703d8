import type { Page } from "playwright-core";
import { listComponentsOfPage, listGroups } from "../../../src/features/components/store";
import { listAllTemplates } from "../../../src/features/incident-templates/templates";
import { listIncidents } from "../../../src/features/incidents/records";
import { listMaintenance } from "../../../src/features/maintenance/records";
import { listSchedules } from "../../../src/features/maintenance/schedules/store";
import { listMonitors } from "../../../src/features/monitors/records";
import { findPageBySlug } from "../../../src/features/pages/store";
import type { BrowserSite } from "../browser-site";
import type { DemoData } from "../demo-data";
import type { DemoSites } from "../demo-sites";

/** A screen of the dashboard, in one of its states. */
export interface Screen {
  name: string;
  /** HTTP status of the document, by default 200. */
  status?: number;
  open(demoSites: DemoSites): { site: BrowserSite; path: string; session?: string };
  /** True if it overlays another screen, so that only the window shows all of it. */
  isOverlay?: boolean;
  /** True if it exists in a small window only. */
  isSmallOnly?: boolean;
  /** Performs the actions that lead from the opened page to the screen. */
  reach?(page: Page, demoSites: DemoSites): Promise<void>;
}

type Role = keyof DemoData["sessions"];

export function inEmpty(site: DemoSites["empty"], path: string) {
  return { site, path, session: site.session };
}

export function inDemoData(
  path: (demoData: DemoData) => string,
  role: Role = "owner",
): Screen["open"] {
  return ({ demoData }) => ({
    site: demoData,
    path: path(demoData),
    session: demoData.sessions[role],
  });
}

/** A screen of the incident that twenty monitors share, or of one that is over. */
export function inStorm(
  path: string,
  {
    which = "open",
    role = "session",
  }: { which?: "open" | "over"; role?: "session" | "viewer" } = {},
): Screen["open"] {
  return ({ storm }) => ({
    site: storm,
    path: storm[which].path + path,
    session: storm[role],
  });
}

/** A screen of the first page. */
export function inPage(path: string, role?: Role): Screen["open"] {
  return (demoSites) =>
    inDemoData(() => `/admin/pages/${pageId(demoSites)}${path}`, role)(demoSites);
}

/** A screen of the private page. */
export function inPrivatePage(path: string): Screen["open"] {
  return (demoSites) =>
    inDemoData(() => `/admin/pages/${pageId(demoSites, "northwind-internal")}${path}`)(demoSites);
}

/** A screen of a component of the first page, by its name. */
export function inComponent(name: string, path: string, role?: Role): Screen["open"] {
  return (demoSites) => {
    const rows = listComponentsOfPage(databaseOf(demoSites), { pageId: pageId(demoSites) });
    return inDemoData(() => `/admin/components/${named(rows, name)}${path}`, role)(demoSites);
  };
}

/** A screen of a group of the first page, by its name. */
export function inGroup(name: string, path: string): Screen["open"] {
  return (demoSites) => {
    const rows = listGroups(databaseOf(demoSites), { pageId: pageId(demoSites) });
    return inDemoData(() => `/admin/components/groups/${named(rows, name)}${path}`)(demoSites);
  };
}

/** A screen of an incident, by its name. */
export function inIncident(name: string, path: string, role?: Role): Screen["open"] {
  return (demoSites) => {
    const [record] = listIncidents(databaseOf(demoSites), { search: name, limit: 1 });
    return inDemoData(() => `/admin/incidents/${record?.row.id}${path}`, role)(demoSites);
  };
}

/** A screen of an incident template, by its name. */
export function inTemplate(name: string, path: string): Screen["open"] {
  return (demoSites) => {
    const rows = listAllTemplates(databaseOf(demoSites)).map(({ row }) => row);
    const id = named(rows, name);
    return inDemoData(() => `/admin/incidents/templates/${id}${path}`)(demoSites);
  };
}

/** A screen of the newest update of an incident, by the incident's name. */
export function inNewestUpdate(name: string): Screen["open"] {
  return (demoSites) => {
    const [record] = listIncidents(databaseOf(demoSites), { search: name, limit: 1 });
    const [update] = record?.updates ?? [];
    return inIncident(name, `/updates/${update?.id}`)(demoSites);
  };
}

/** A screen of a maintenance, by its name. */
export function inMaintenance(name: string, path: string, role?: Role): Screen["open"] {
  return (demoSites) => {
    const rows = listMaintenance(databaseOf(demoSites), { limit: 100 }).map(({ row }) => row);
    return inDemoData(() => `/admin/maintenance/${named(rows, name)}${path}`, role)(demoSites);
  };
}

/** A screen of a maintenance schedule, by its name. */
export function inSchedule(name: string, path: string): Screen["open"] {
  return (demoSites) => {
    const rows = listSchedules(databaseOf(demoSites)).map(({ row }) => row);
    return inDemoData(() => `/admin/maintenance/schedules/${named(rows, name)}${path}`)(demoSites);
  };
}

/** A screen of a monitor, by its name. */
export function inMonitor(name: string, path: string, role?: Role): Screen["open"] {
  return (demoSites) => {
    const rows = listMonitors(databaseOf(demoSites), { limit: 100 }).map(({ row }) => row);
    return inDemoData(() => `/admin/monitors/${named(rows, name)}${path}`, role)(demoSites);
  };
}

function databaseOf({ demoData }: DemoSites) {
  return demoData.app.ctx.db;
}

function pageId(demoSites: DemoSites, slug = "northwind"): string {
  return findPageBySlug(databaseOf(demoSites), { slug })?.id ?? "";
}

function named(rows: readonly { id: string; name: string }[], name: string): string {
  const row = rows.find((one) => one.name === name);
  if (!row) throw new Error(`nothing is called ${name}`);
  return row.id;
}

export function keyPath(keys: DemoData["keys"], name: string): string {
  return `/admin/settings/keys/${keys[name]}`;
}

/** Presses a form's button and waits for the page that comes. */
export async function send(page: Page, button: string): Promise<void> {
  const before = await page.evaluate(() => performance.timeOrigin);
  await page.getByRole("button", { name: button, exact: true }).click();
  await page.waitForFunction((origin) => performance.timeOrigin !== origin, before);
  await page.waitForLoadState();
}

export async function openDialog(page: Page, link: string): Promise<void> {
  const target = page.getByRole("link", { name: link, exact: true });
  if (!(await target.isVisible())) await page.locator(".screen-head .more-menu > summary").click();
  await target.click();
  await page.getByRole("dialog").waitFor();
}

/** Fills in a template of the form for the next update. */
export async function chooseTemplate(page: Page, name: string): Promise<void> {
  await page.getByText("Start from a template").click();
  await page.getByRole("button", { name, exact: true }).click();
}

/** Previews a form in this tab instead of a new one. */
export async function preview(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Preview", exact: true });
  await button.evaluate((element) => element.removeAttribute("formtarget"));
  await send(page, "Preview");
}

/** Makes the open form outdated before it is submitted. */
export async function sendLate(page: Page, button: string): Promise<void> {
  await page.locator("main [name=version]").evaluate((field: HTMLInputElement) => {
    field.value = "0";
  });
  await send(page, button);
}
