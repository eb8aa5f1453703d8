import { expect } from "bun:test";
import type { Tx } from "../../src/db/statements";
import type { Problem } from "../../src/base/errors";
import { createUser } from "../../src/features/users/users";
import type { NewUser, UserResource } from "../../src/features/users/wire";
import { CLI_ACTOR } from "../../src/base/actor";
import { type AuthInstallation, openAuthInstallation } from "./auth-installation";
import { rejectionOf } from "./rejection";

/** Client that tests sign in from. */
export const FROM = { ip: "203.0.113.7", userAgent: "Firefox" };

/** Placeholder for a password's hash where none is verified. */
export const HASH = "$argon2id$stands-for-a-hash";

interface AuditRow {
  action: string;
  actor_kind: string;
  actor_id: string | null;
  target_id: string;
  summary: string;
  ip: string | null;
}

/** A database with users but without a gateway. */
export interface PeopleInstallation extends AuthInstallation {
  write<T>(change: (tx: Tx) => T): Promise<T>;
  /** Creates a user with a password; the first one is the owner, others are editors. */
  user(name: string, input?: Partial<NewUser & { passwordHash: string }>): Promise<UserResource>;
  /** Returns the audit log, oldest entry first. */
  audit(): AuditRow[];
  /** Expects a change to be rejected with nothing written, and returns the Problem. */
  rejectionFrom(change: (tx: Tx) => unknown): Promise<Problem>;
}

const TABLES = ["users", "sessions", "one_time_links", "settings", "audit_log", "events"];

/** Opens an installation, in memory unless a path is given. */
export function openPeopleInstallation(path?: string): PeopleInstallation {
  const installation = openAuthInstallation(path);
  const { ctx, sqlite } = installation;
  const contents = () =>
    TABLES.map((table) => JSON.stringify(sqlite.query(`SELECT * FROM ${table}`).all()));
  return {
    ...installation,
    write: ctx.db.write,
    user: (name, input = {}) =>
      ctx.db.write((tx) => {
        const isFirst = sqlite.query("SELECT 1 FROM users").get() === null;
        const email = `${name.toLowerCase()}@acme.test`;
        const role = isFirst ? "owner" : "editor";
        const plain = { email, name, role, passwordHash: HASH } as const;
        return createUser(ctx, tx, { ...plain, ...input }, CLI_ACTOR);
      }),
    audit: () => sqlite.query<AuditRow, []>("SELECT * FROM audit_log ORDER BY id").all(),
    async rejectionFrom(change) {
      const before = contents();
      const rejection = await rejectionOf(ctx.db.write(change));
      expect(contents()).toEqual(before);
      return rejection;
    },
  };
}

/** Returns the errors of a Problem by pointer. */
export function fieldErrorsOf(rejection: Problem): Record<string, string> {
  expect(rejection.code).toBe("validation_failed");
  return Object.fromEntries(rejection.fields.map(({ pointer, detail }) => [pointer, detail]));
}
