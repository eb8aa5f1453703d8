export type ActorKind = "user" | "key" | "cli" | "system";

/** Kind of author of mailings, which are counted apart. The command line is a person. */
export type AuthorKind = "monitor" | "key" | "person";

/**
 * Author of a change. `id` is the user's or the key's; the command line and the system have none.
 */
export interface Actor {
  kind: ActorKind;
  id: string | null;
  label: string;
  /** Client address, if there is one. Stored in the audit log only. */
  ip?: string;
  /** Action of which the changes are parts: the audit log has that one alone. */
  partOf?: string;
  /** Author for whom the system makes a planned change; absent for changes that monitors cause. */
  author?: AuthorKind;
}

/** Returns the kind of author of an actor's changes. */
export function authorOf({ kind, author }: Actor): AuthorKind {
  if (kind === "system") return author ?? "monitor";
  return kind === "key" ? "key" : "person";
}

/** Returns a user as author of a change, with the client address. */
export function userActor(user: { id: string; name: string }, ip?: string): Actor {
  return { kind: "user", id: user.id, label: user.name, ...(ip === undefined ? {} : { ip }) };
}

/** Author of scheduled changes and of those at the first start. */
export const SYSTEM_ACTOR: Actor = { kind: "system", id: null, label: "Allclear" };

/** Author of changes by the command line. */
export const CLI_ACTOR: Actor = { kind: "cli", id: null, label: "Command line" };

/** Roles of users, most powerful first. Each role may do everything that later roles may. */
export const ROLES = ["owner", "admin", "editor", "viewer"] as const;

export type Role = (typeof ROLES)[number];

/** Description of each role, for the dashboard. */
export const ROLE_SENTENCES: Readonly<Record<Role, string>> = {
  owner: "Manages users, settings and API keys.",
  admin: "Manages pages, components, monitors, webhooks and API keys.",
  editor: "Writes incidents and maintenance, sets component statuses, and acknowledges outages.",
  viewer: "Reads every status page, including private ones.",
};

/** Returns true if a role includes the rights of `needed`. */
export function roleAllows(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) <= ROLES.indexOf(needed);
}
