import { type Static, Type } from "@sinclair/typebox";
import { type Role, ROLES } from "../../base/actor";
import { OneOf, Text } from "../../base/schema";
import { NameText } from "../../base/texts";
import { toIso, toIsoOrNull } from "../../base/time";
import type { UserRow } from "./store";

/** The longest address that mail can be sent to (RFC 5321, erratum 1690), in characters. */
export const EMAIL_MAX_LENGTH = 254;

/**
 * Fields of a new user. The first user becomes the owner with or without a role; later ones need a
 * role.
 */
export const NewUser = Type.Object(
  {
    email: Text({ minLength: 1, maxLength: EMAIL_MAX_LENGTH }),
    name: NameText,
    role: Type.Optional(OneOf(ROLES)),
  },
  { additionalProperties: false },
);
export type NewUser = Static<typeof NewUser>;

/** Fields of a user that can be changed. */
export const UserChange = Type.Partial(Type.Object({ name: NameText, role: OneOf(ROLES) }));

/** A user as other users see them. Times are ISO 8601 in UTC. */
export interface UserResource {
  id: string;
  email: string;
  name: string;
  role: Role;
  disabled_at: string | null;
  last_login_at: string | null;
  /** False until an invited user has chosen a password. */
  has_password: boolean;
  created_at: string;
  version: number;
}

export function presentUser(row: UserRow): UserResource {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    disabled_at: toIsoOrNull(row.disabledAt),
    last_login_at: toIsoOrNull(row.lastLoginAt),
    has_password: row.passwordHash !== null,
    created_at: toIso(row.createdAt),
    version: row.version,
  };
}
