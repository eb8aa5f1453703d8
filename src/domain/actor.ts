export type ActorKind = "user" | "key" | "cli" | "system";

/**
 * Author of a change. `id` is the user's or the key's; the command line and the system have none.
 */
export interface Actor {
  kind: ActorKind;
  id: string | null;
  label: string;
  /** The address that they came from, where there is one. Kept with the audit log only. */
  ip?: string;
}

/** A user as the one who does something, and from where. */
export function userActor(user: { id: string; name: string }, ip?: string): Actor {
  return { kind: "user", id: user.id, label: user.name, ...(ip === undefined ? {} : { ip }) };
}

/** Allclear itself: what happens by the clock or at the first start. */
export const SYSTEM_ACTOR: Actor = { kind: "system", id: null, label: "Allclear" };

/** Whoever holds the data directory and uses the command line. */
export const CLI_ACTOR: Actor = { kind: "cli", id: null, label: "Command line" };
