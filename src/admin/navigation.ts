import { type Role, roleAllows } from "../kernel/role";

interface Destination {
  href: string;
  label: string;
  /** The role that its routes declare. */
  role: Role;
}

const DESTINATIONS: readonly { label?: string; items: readonly Destination[] }[] = [
  { items: [{ href: "/admin", label: "Overview", role: "viewer" }] },
  {
    label: "Settings",
    items: [
      { href: "/admin/settings/keys", label: "API Keys", role: "admin" },
      { href: "/admin/settings/users", label: "Users", role: "owner" },
      { href: "/admin/settings/general", label: "General", role: "owner" },
      { href: "/admin/settings/account", label: "Account", role: "viewer" },
    ],
  },
];

/** The way to every screen that a role may open, the one that is open marked. */
export function navigationFor(role: Role, path: string) {
  return DESTINATIONS.map(({ label, items }) => ({
    ...(label === undefined ? {} : { label }),
    items: items
      .filter((item) => roleAllows(role, item.role))
      .map(({ href, label: name }) => ({ href, label: name, isCurrent: isAt(href, path) })),
  })).filter(({ items }) => items.length > 0);
}

function isAt(href: string, path: string): boolean {
  return path === href || (href !== "/admin" && path.startsWith(`${href}/`));
}
