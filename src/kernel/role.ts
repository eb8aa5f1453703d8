/** What users may do, from most to least. Each role may do what those behind it may. */
export const ROLES = ["owner", "admin", "editor", "viewer"] as const;

export type Role = (typeof ROLES)[number];

/** What each role may do, as people read it. */
export const ROLE_SENTENCES: Readonly<Record<Role, string>> = {
  owner: "Manages users, settings and API keys.",
  admin: "Manages pages, components, monitors, webhooks and API keys.",
  editor: "Writes incidents and maintenance, and marks components.",
  viewer: "Reads every status page, private ones too.",
};

/** Whether a role may do what asks for `needed`. */
export function roleAllows(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) <= ROLES.indexOf(needed);
}
