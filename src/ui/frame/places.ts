/*
 * Places of the dashboard: the entries of the sidebar, and the screens that one of them leads to. Sidebar, *Settings*,
 * search, shortcuts and breadcrumbs take names and ways from here.
 */
import { type Role, roleAllows } from "../../base/actor";
import { worstTone } from "../../base/status";
import type { Ctx } from "../../context";
import type { Fleet } from "../../features/alarms/fleet";
import { mailReadiness } from "../../features/mail/settings";
import { countSubscribers } from "../../features/subscribers/store";
import type { IconName } from "../icons";
import {
  ACTIVITY_PATH,
  ANALYTICS_PATH,
  BACKUPS_PATH,
  COMPONENTS_PATH,
  FLEET_PATH,
  GENERAL_PATH,
  HOME_PATH,
  IMPORTS_PATH,
  INCIDENTS_PATH,
  KEYS_PATH,
  LOCATIONS_PATH,
  MAIL_PATH,
  MAILINGS_PATH,
  MAINTENANCE_PATH,
  MONITORS_PATH,
  PAGES_PATH,
  SETTINGS_PATH,
  SIGN_IN_SETTINGS_PATH,
  SUBSCRIBERS_PATH,
  USERS_PATH,
  WEBHOOKS_PATH,
} from "./paths";
import type { ProblemCount } from "./side-state";

/** Screen with a name and a way to it. */
export interface Place {
  href: string;
  label: string;
  icon: IconName;
  /** Role required by its routes. */
  role: Role;
  /** Key that opens the screen after the key `g`. */
  letter?: string;
  /** Place that leads to it; absent for an entry of the sidebar. */
  above?: string;
}

/** All places: entries of the sidebar in its order, each followed by the places that it leads to. */
const PLACES: readonly Place[] = [
  { href: HOME_PATH, label: "Overview", icon: "layout-dashboard", role: "viewer", letter: "o" },
  { href: INCIDENTS_PATH, label: "Incidents", icon: "siren", role: "viewer", letter: "i" },
  { href: MAINTENANCE_PATH, label: "Maintenance", icon: "wrench", role: "viewer", letter: "t" },
  { href: COMPONENTS_PATH, label: "Components", icon: "blocks", role: "viewer", letter: "c" },
  {
    href: PAGES_PATH,
    label: "Pages",
    icon: "globe",
    role: "viewer",
    letter: "p",
    above: COMPONENTS_PATH,
  },
  { href: MONITORS_PATH, label: "Monitors", icon: "activity", role: "viewer", letter: "m" },
  {
    href: ANALYTICS_PATH,
    label: "Analytics",
    icon: "chart-no-axes-column",
    role: "viewer",
    letter: "a",
  },
  { href: SUBSCRIBERS_PATH, label: "Subscribers", icon: "bell", role: "editor", letter: "b" },
  {
    href: MAILINGS_PATH,
    label: "Mailings",
    icon: "megaphone",
    role: "admin",
    letter: "e",
    above: SUBSCRIBERS_PATH,
  },
  { href: SETTINGS_PATH, label: "Settings", icon: "settings", role: "admin", letter: "s" },
  ...(
    [
      { href: KEYS_PATH, label: "API Keys", icon: "key-round", role: "admin", letter: "k" },
      { href: USERS_PATH, label: "Users", icon: "users", role: "owner", letter: "u" },
      { href: SIGN_IN_SETTINGS_PATH, label: "Sign-in", icon: "lock", role: "owner" },
      { href: ACTIVITY_PATH, label: "Activity", icon: "scroll-text", role: "admin", letter: "l" },
      { href: WEBHOOKS_PATH, label: "Webhooks", icon: "webhook", role: "admin", letter: "w" },
      { href: MAIL_PATH, label: "Mail", icon: "mail", role: "owner", letter: "d" },
      { href: GENERAL_PATH, label: "General", icon: "settings", role: "owner", letter: "n" },
      { href: LOCATIONS_PATH, label: "Locations", icon: "map-pin", role: "admin" },
      { href: IMPORTS_PATH, label: "Import", icon: "import", role: "owner", letter: "r" },
      { href: BACKUPS_PATH, label: "Backups", icon: "archive", role: "owner" },
      { href: FLEET_PATH, label: "Fleet", icon: "server", role: "admin", letter: "f" },
    ] as const
  ).map((place) => ({ ...place, above: SETTINGS_PATH })),
];

/**
 * Returns the places that a role may open in this installation: those of subscribers while mail is set up or there
 * are any, and that of the fleet while a part of it is set up or an alarm holds.
 */
export function placesFor(ctx: Ctx, fleet: Fleet | undefined, role: Role): Place[] {
  const absent = new Set<string>();
  if (!hasSubscribers(ctx)) absent.add(SUBSCRIBERS_PATH);
  if (!hasFleet(fleet)) absent.add(FLEET_PATH);
  return PLACES.filter(
    ({ href, above = "", role: needed }) =>
      roleAllows(role, needed) && !absent.has(href) && !absent.has(above),
  );
}

function hasSubscribers(ctx: Ctx): boolean {
  if (mailReadiness(ctx).ready) return true;
  const { active, unsubscribed } = countSubscribers(ctx.db);
  return active + unsubscribed > 0;
}

function hasFleet(fleet: Fleet | undefined): boolean {
  const { mirror, cdn, nodes, alarms } = fleet ?? {};
  return [mirror, cdn, nodes].some(Boolean) || (alarms?.list().length ?? 0) > 0;
}

/** Entry of the sidebar. */
export interface NavLink extends Place {
  /** True for the open screen and those above it. */
  isCurrent: boolean;
  /** Open problems on its screens; undefined if there are none. */
  attention?: ProblemCount | undefined;
}

/** Returns the entries of the sidebar among places, with the one of the open screen marked. */
export function navigationFor(
  places: readonly Place[],
  path: string,
  attention: Readonly<Partial<Record<string, ProblemCount>>>,
): NavLink[] {
  const open = placeAt(path);
  const current = open?.above ?? open?.href;
  return places
    .filter(({ above }) => above === undefined)
    .map((entry) => {
      const below = places.filter(({ above }) => above === entry.href);
      const counts = [entry, ...below].flatMap(({ href }) => attention[href] ?? []);
      return { ...entry, isCurrent: entry.href === current, attention: sumOf(counts) };
    });
}

/** Returns the place that a screen belongs to; undefined for a screen such as the account. */
function placeAt(path: string): Place | undefined {
  return PLACES.findLast(
    ({ href }) =>
      path === href ||
      // The paths of the overview and the settings are also the beginnings of others.
      (href !== HOME_PATH && href !== SETTINGS_PATH && path.startsWith(`${href}/`)),
  );
}

/** Adds up problems, in the tone of the worst. */
function sumOf(counts: readonly ProblemCount[]): ProblemCount | undefined {
  const [first] = counts;
  if (first === undefined || counts.length === 1) return first;
  const tones = counts.flatMap(({ tone }) => tone ?? []);
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    what: `problems: ${counts.map(({ count, what }) => `${count.toLocaleString("en")} ${what}`).join(", ")}`,
    ...(tones.length > 0 ? { tone: worstTone(tones) } : {}),
  };
}

/** Link of a breadcrumb. */
interface Crumb {
  href: string;
  label: string;
}

/** Returns the breadcrumbs that lead to a place, without the place itself. */
export function crumbsAbove(href: string): Crumb[] {
  const above = PLACES.find((place) => place.href === href)?.above;
  return above === undefined ? [] : crumbsTo(above);
}

/** Returns the breadcrumbs that lead to a place and end with it, for the screens below it. */
export function crumbsTo(href: string): Crumb[] {
  const place = PLACES.find((one) => one.href === href);
  if (!place) throw new Error(`${href} is no place`);
  return [...crumbsAbove(href), { href, label: place.label }];
}
