import { type Static, Type } from "@sinclair/typebox";
import { Instant, Nullable, OneOf } from "../../base/schema";
import { NameText } from "../../base/texts";
import { toIso, toIsoOrNull } from "../../base/time";
import { SCOPE_NAMES } from "./scopes";
import type { KeyRow, KeyValueRow } from "./store";

export const DEFAULT_RATE_LIMIT = 1_000;
const MAX_RATE_LIMIT = 1_000_000;

const RateLimit = Type.Integer({
  minimum: 1,
  maximum: MAX_RATE_LIMIT,
  description: "Requests per minute.",
});

/** Fields of a new key. `expires` is an instant, or the last UTC day on which the key works. */
export const CreateKeyBody = Type.Object(
  {
    name: NameText,
    scopes: Type.Array(OneOf(SCOPE_NAMES), {
      minItems: 1,
      maxItems: SCOPE_NAMES.length,
      uniqueItems: true,
    }),
    rate_limit: Type.Optional(RateLimit),
    expires: Type.Optional(Nullable(Type.String())),
  },
  { additionalProperties: false },
);
export type CreateKeyBody = Static<typeof CreateKeyBody>;

/** Fields of a key that can be changed. Scopes and expiration cannot. */
export const UpdateKeyBody = Type.Object(
  { name: Type.Optional(NameText), rate_limit: Type.Optional(RateLimit) },
  { additionalProperties: false, minProperties: 1 },
);
export type UpdateKeyBody = Static<typeof UpdateKeyBody>;

/** A key as shown to its bearer by `GET /api/v1/key`. */
export const OwnKey = Type.Object(
  {
    id: Type.String({ examples: ["key_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    name: Type.String(),
    start: Type.String({
      description: "The first 13 characters of the key's newest value.",
      examples: ["allclear_ab12"],
    }),
    scopes: Type.Array(OneOf(SCOPE_NAMES)),
    rate_limit: RateLimit,
    remaining: Type.Integer({
      minimum: 0,
      description: "Requests that the key can make now, after this one.",
    }),
    expires_at: Nullable(Instant),
    last_used_at: Nullable(Instant),
    created_at: Instant,
  },
  { title: "Key" },
);
export type OwnKey = Static<typeof OwnKey>;

/** A key as the dashboard and the command line show it. It never contains a whole value. */
export interface KeyResource {
  id: string;
  name: string;
  /** First 13 characters of the newest value. */
  start: string;
  scopes: string[];
  rate_limit: number;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  last_used_ip: string | null;
  created_at: string;
  created_by: { kind: string; id: string | null; label: string };
  version: number;
  /** All values of the key, newest first. */
  values: {
    start: string;
    created_at: string;
    /** Time from which the value is rejected; null if it does not end. */
    ends_at: string | null;
    last_used_at: string | null;
    last_used_ip: string | null;
  }[];
}

/** Last use of a key value. */
export interface LastUse {
  /** Unix ms. */
  at: number;
  ip: string;
}

/**
 * Returns a key as the dashboard and the command line show it. `values` are its values, newest
 * first, at least one. `pendingUse` returns a use that is not in the database yet, by the SHA-256 of
 * the value in hexadecimal.
 */
export function presentKey(
  key: KeyRow,
  values: readonly KeyValueRow[],
  pendingUse: (hash: string) => LastUse | undefined = () => undefined,
): KeyResource {
  const presented = values.map((value) => {
    const pending = pendingUse(value.hash.toString("hex"));
    return {
      start: value.start,
      created_at: toIso(value.createdAt),
      ends_at: toIsoOrNull(value.endsAt),
      last_used_at: toIsoOrNull(pending?.at ?? value.lastUsedAt),
      last_used_ip: pending?.ip ?? value.lastUsedIp,
    };
  });
  const newest = presented[0];
  return {
    id: key.id,
    name: key.name,
    start: newest?.start ?? "",
    scopes: key.scopes,
    rate_limit: key.rateLimit,
    expires_at: toIsoOrNull(key.expiresAt),
    revoked_at: toIsoOrNull(key.revokedAt),
    last_used_at: newest?.last_used_at ?? null,
    last_used_ip: newest?.last_used_ip ?? null,
    created_at: toIso(key.createdAt),
    created_by: {
      kind: key.createdByKind,
      id: key.createdById,
      label: key.createdByLabel,
    },
    version: key.version,
    values: presented,
  };
}
