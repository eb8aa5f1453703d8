/** Roles of users, most powerful first. Each role may do everything that later roles may. */
export const ROLES = ["owner", "admin", "editor", "viewer"] as const;

export type Role = (typeof ROLES)[number];

/** Description of each role, for the dashboard. */
export const ROLE_SENTENCES: Readonly<Record<Role, string>> = {
  owner: "Manages users, settings and API keys.",
  admin: "Manages pages, components, monitors, webhooks and API keys.",
  editor: "Writes incidents and maintenance, and marks components.",
  viewer: "Reads every status page, private ones too.",
};

/** Returns true if a role includes the rights of `needed`. */
export function roleAllows(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) <= ROLES.indexOf(needed);
}
