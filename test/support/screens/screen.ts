import type { Page } from "playwright-core";
import { listComponentsOfPage, listGroups } from "../../../src/features/components";
import { listIncidents } from "../../../src/features/incidents";
import { listMaintenance } from "../../../src/features/maintenance";
import { listMonitors } from "../../../src/features/monitors";
import { findPageBySlug } from "../../../src/features/pages";
import type { BrowserSite } from "../browser-site";
import type { Furnished } from "../furnished";
import type { Houses } from "../houses";

/** A screen of the dashboard, in one of its states. */
export interface Screen {
  name: string;
  /** Of the document; 200 unless given. */
  status?: number;
  open(houses: Houses): { site: BrowserSite; path: string; session?: string };
  /** Whether it lies over another, so that what is to be seen of it is in the window. */
  isOverlay?: boolean;
  /** Whether it is there in a small window only. */
  isSmallOnly?: boolean;
  /** What is to be done until the screen is there. */
  reach?(page: Page, houses: Houses): Promise<void>;
}

type Role = keyof Furnished["sessions"];

export function inEmpty(site: Houses["empty"], path: string) {
  return { site, path, session: site.session };
}

export function inFurnished(
  path: (furnished: Furnished) => string,
  role: Role = "owner",
): Screen["open"] {
  return ({ furnished }) => ({
    site: furnished,
    path: path(furnished),
    session: furnished.sessions[role],
  });
}

/** A screen of the first page. */
export function inPage(path: string, role?: Role): Screen["open"] {
  return (houses) => inFurnished(() => `/admin/pages/${pageId(houses)}${path}`, role)(houses);
}

/** A screen of a component of the first page, by its name. */
export function inComponent(name: string, path: string, role?: Role): Screen["open"] {
  return (houses) => {
    const rows = listComponentsOfPage(databaseOf(houses), { pageId: pageId(houses) });
    return inFurnished(() => `/admin/components/${named(rows, name)}${path}`, role)(houses);
  };
}

/** A screen of a group of the first page, by its name. */
export function inGroup(name: string, path: string): Screen["open"] {
  return (houses) => {
    const rows = listGroups(databaseOf(houses), { pageId: pageId(houses) });
    return inFurnished(() => `/admin/components/groups/${named(rows, name)}${path}`)(houses);
  };
}

/** A screen of an incident, by its name. */
export function inIncident(name: string, path: string, role?: Role): Screen["open"] {
  return (houses) => {
    const [record] = listIncidents(databaseOf(houses), { name, limit: 1 });
    return inFurnished(() => `/admin/incidents/${record?.row.id}${path}`, role)(houses);
  };
}

/** A screen of the newest update of an incident, by the incident's name. */
export function inNewestUpdate(name: string): Screen["open"] {
  return (houses) => {
    const [record] = listIncidents(databaseOf(houses), { name, limit: 1 });
    const [update] = record?.updates ?? [];
    return inIncident(name, `/updates/${update?.id}`)(houses);
  };
}

/** A screen of a maintenance, by its name. */
export function inMaintenance(name: string, path: string, role?: Role): Screen["open"] {
  return (houses) => {
    const rows = listMaintenance(databaseOf(houses), { limit: 100 }).map(({ row }) => row);
    return inFurnished(() => `/admin/maintenance/${named(rows, name)}${path}`, role)(houses);
  };
}

/** A screen of a monitor, by its name. */
export function inMonitor(name: string, path: string, role?: Role): Screen["open"] {
  return (houses) => {
    const rows = listMonitors(databaseOf(houses), { limit: 100 }).map(({ row }) => row);
    return inFurnished(() => `/admin/monitors/${named(rows, name)}${path}`, role)(houses);
  };
}

function databaseOf({ furnished }: Houses) {
  return furnished.app.ctx.db;
}

function pageId(houses: Houses): string {
  return findPageBySlug(databaseOf(houses), { slug: "northwind" })?.id ?? "";
}

function named(rows: readonly { id: string; name: string }[], name: string): string {
  const row = rows.find((one) => one.name === name);
  if (!row) throw new Error(`nothing is called ${name}`);
  return row.id;
}

export function keyPath(keys: Furnished["keys"], name: string): string {
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
  await page.getByRole("link", { name: link, exact: true }).click();
  await page.getByRole("dialog").waitFor();
}

/** Has a form previewed in this tab, which it would leave as it is. */
export async function preview(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Preview", exact: true });
  await button.evaluate((element) => element.removeAttribute("formtarget"));
  await send(page, "Preview");
}

/** Has a form say that it was opened before somebody else changed what it is about. */
export async function sendLate(page: Page, button: string): Promise<void> {
  await page.locator("main [name=version]").evaluate((field: HTMLInputElement) => {
    field.value = "0";
  });
  await send(page, button);
}
