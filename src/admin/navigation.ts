import { type Role, roleAllows } from "../domain/role";
import {
  ACCOUNT_PATH,
  ACTIVITY_PATH,
  ANALYTICS_PATH,
  COMPONENTS_PATH,
  GENERAL_PATH,
  HOME_PATH,
  INCIDENTS_PATH,
  KEYS_PATH,
  MAINTENANCE_PATH,
  MONITORS_PATH,
  PAGES_PATH,
  USERS_PATH,
  WEBHOOKS_PATH,
} from "./paths";

interface Destination {
  href: string;
  label: string;
  /** Role required by its routes. */
  role: Role;
}

const DESTINATIONS: readonly { label?: string; items: readonly Destination[] }[] = [
  {
    items: [
      { href: HOME_PATH, label: "Overview", role: "viewer" },
      { href: INCIDENTS_PATH, label: "Incidents", role: "viewer" },
      { href: MAINTENANCE_PATH, label: "Maintenance", role: "viewer" },
      { href: COMPONENTS_PATH, label: "Components", role: "viewer" },
      { href: MONITORS_PATH, label: "Monitors", role: "viewer" },
      { href: ANALYTICS_PATH, label: "Analytics", role: "viewer" },
      { href: PAGES_PATH, label: "Pages", role: "viewer" },
    ],
  },
  {
    label: "Settings",
    items: [
      { href: KEYS_PATH, label: "API Keys", role: "admin" },
      { href: WEBHOOKS_PATH, label: "Webhooks", role: "admin" },
      { href: USERS_PATH, label: "Users", role: "owner" },
      { href: ACTIVITY_PATH, label: "Activity", role: "admin" },
      { href: GENERAL_PATH, label: "General", role: "owner" },
      { href: ACCOUNT_PATH, label: "Account", role: "viewer" },
    ],
  },
];

/** Returns the navigation links that a role may open, with the open screen marked. */
export function navigationFor(role: Role, path: string) {
  return DESTINATIONS.map(({ label, items }) => ({
    ...(label === undefined ? {} : { label }),
    items: items
      .filter((item) => roleAllows(role, item.role))
      .map(({ href, label: name }) => ({ href, label: name, isCurrent: isAt(href, path) })),
  })).filter(({ items }) => items.length > 0);
}

function isAt(href: string, path: string): boolean {
  return path === href || (href !== HOME_PATH && path.startsWith(`${href}/`));
}
