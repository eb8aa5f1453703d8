/** Roles of users, most powerful first. Each role may do everything that later roles may. */
export const ROLES = ["owner", "admin", "editor", "viewer"] as const;

export type Role = (typeof ROLES)[number];

/** Description of each role, for the dashboard. */
export const ROLE_SENTENCES: Readonly<Record<Role, string>> = {
  owner: "Manages users, settings and API keys.",
  admin: "Manages pages, components, monitors, webhooks and API keys.",
  editor: "Writes incidents and maintenance, and sets component statuses.",
  viewer: "Reads every status page, including private ones.",
};

/** Returns true if a role includes the rights of `needed`. */
export function roleAllows(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) <= ROLES.indexOf(needed);
}
