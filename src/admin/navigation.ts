import { type Role, roleAllows } from "../base/actor";
import type { IconName } from "../ui/icons";
import {
  ACTIVITY_PATH,
  ANALYTICS_PATH,
  COMPONENTS_PATH,
  FLEET_PATH,
  GENERAL_PATH,
  HOME_PATH,
  IMPORTS_PATH,
  INCIDENTS_PATH,
  KEYS_PATH,
  MAILINGS_PATH,
  MAINTENANCE_PATH,
  MONITORS_PATH,
  PAGES_PATH,
  SUBSCRIBERS_PATH,
  USERS_PATH,
  WEBHOOKS_PATH,
} from "./paths";
import type { ProblemCount } from "./side-state";

interface Destination {
  href: string;
  label: string;
  icon: IconName;
  /** Role required by its routes. */
  role: Role;
  /** Key that opens the screen after the key `g`. */
  letter: string;
}

const DESTINATIONS: readonly { label?: string; items: readonly Destination[] }[] = [
  {
    items: [
      { href: HOME_PATH, label: "Overview", icon: "layout-dashboard", role: "viewer", letter: "o" },
      { href: INCIDENTS_PATH, label: "Incidents", icon: "siren", role: "viewer", letter: "i" },
      { href: MAINTENANCE_PATH, label: "Maintenance", icon: "wrench", role: "viewer", letter: "t" },
      { href: COMPONENTS_PATH, label: "Components", icon: "blocks", role: "viewer", letter: "c" },
      { href: MONITORS_PATH, label: "Monitors", icon: "activity", role: "viewer", letter: "m" },
      {
        href: ANALYTICS_PATH,
        label: "Analytics",
        icon: "chart-no-axes-column",
        role: "viewer",
        letter: "a",
      },
      { href: MAILINGS_PATH, label: "Mailings", icon: "megaphone", role: "admin", letter: "e" },
      { href: PAGES_PATH, label: "Pages", icon: "globe", role: "viewer", letter: "p" },
      {
        href: SUBSCRIBERS_PATH,
        label: "Subscribers",
        icon: "mail",
        role: "editor",
        letter: "b",
      },
    ],
  },
  {
    label: "Settings",
    items: [
      { href: KEYS_PATH, label: "API Keys", icon: "key-round", role: "admin", letter: "k" },
      { href: WEBHOOKS_PATH, label: "Webhooks", icon: "webhook", role: "admin", letter: "w" },
      { href: USERS_PATH, label: "Users", icon: "users", role: "owner", letter: "u" },
      { href: ACTIVITY_PATH, label: "Activity", icon: "scroll-text", role: "admin", letter: "l" },
      { href: IMPORTS_PATH, label: "Import", icon: "download", role: "owner", letter: "r" },
      { href: FLEET_PATH, label: "Fleet", icon: "server", role: "admin", letter: "f" },
      { href: GENERAL_PATH, label: "General", icon: "settings", role: "owner", letter: "s" },
    ],
  },
];

/** Link of the sidebar. */
interface NavLink extends Omit<Destination, "role"> {
  /** True for the open screen and those above it. */
  isCurrent: boolean;
  /** Open problems on the screens of the link; undefined if there are none. */
  attention?: ProblemCount | undefined;
}

export interface NavGroup {
  label?: string;
  links: readonly NavLink[];
}

/** Returns the navigation links that a role may open, with the open screen marked. */
export function navigationFor(
  role: Role,
  path: string,
  attention: Readonly<Partial<Record<string, ProblemCount>>>,
): NavGroup[] {
  return DESTINATIONS.map(({ label, items }) => ({
    ...(label === undefined ? {} : { label }),
    links: items
      .filter((item) => roleAllows(role, item.role))
      .map(({ href, label: name, icon, letter }) => ({
        href,
        label: name,
        icon,
        letter,
        isCurrent: isAt(href, path),
        attention: attention[href],
      })),
  })).filter(({ links }) => links.length > 0);
}

function isAt(href: string, path: string): boolean {
  return path === href || (href !== HOME_PATH && path.startsWith(`${href}/`));
}
