import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CARRIED_TABLES } from "../../src/db/restore-rules";
import { copyDatabase } from "../../src/db/copies";
import { openDataDirectory } from "../../src/db/data-directory";
import { migrate, MIGRATIONS } from "../../src/db/migrations";
import { openSqlite, readApplied } from "../../src/db/open";
import { restoreDatabase } from "../../src/db/restore";
import { endOldValues, revokeKey, rotateKey } from "../../src/features/keys/keys";
import { deleteLocation, rotateLocationToken } from "../../src/features/locations/locations";
import { findLocationToken } from "../../src/features/locations/store";
import { disconnectIdentity } from "../../src/features/users/identities";
import { resetSecondFactor } from "../../src/features/users/recovery";
import { confirmByCode, replaceRecoveryCodes } from "../../src/features/users/second-factors";
import { changePassword } from "../../src/features/users/sign-in";
import { insertIdentity, listIdentitiesOf } from "../../src/features/users/store";
import {
  createUser,
  disableUser,
  enableUser,
  getUser,
  setRole,
} from "../../src/features/users/users";
import { inviteUser } from "../../src/features/users/invitations";
import { sha256 } from "../../src/base/hash";
import { CLI_ACTOR, userActor } from "../../src/base/actor";
import { MINUTE_MS } from "../../src/base/time";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { TEST_START } from "../support/clock";
import { trySignIn, userWithPassword } from "../support/dashboard";
import { addLocation } from "../support/locations";
import { expectSound } from "../support/old-database";
import { backedUpSite } from "../support/restored-app";
import {
  type Authenticator,
  enrol,
  listFactors,
  passwordStep,
  PERIOD_MS,
  sendCode,
} from "../support/second-factors";
import { temporaryFolder } from "../support/temporary-folder";

const count = (file: string, table: string): unknown => {
  using sqlite = new Database(file, { readonly: true });
  return Object.values(sqlite.prepare(`SELECT count(*) FROM ${table}`).get() as object)[0];
};

/** One row of a table by its id, as it is stored. */
const stored = (file: string, table: string, id: string): Record<string, unknown> => {
  using sqlite = new Database(file, { readonly: true });
  return sqlite.prepare(`SELECT * FROM ${table} WHERE id = ?`).get(id) as Record<string, unknown>;
};

/** Result of a request with a key: "accepted", or the code of the refusal. */
const tryKey = async (app: TestApp, key: string): Promise<string> => {
  const answer = await app.call("/api/v1/status/acme", { key });
  return answer.status === 401 ? answer.body.code : "accepted";
};

const person = (name: string, role: "owner" | "admin" | "editor" | "viewer") => ({
  email: `${name}@example.com`,
  name,
  role,
  passwordHash: `hash of ${name}`,
});

const addUser = (app: TestApp, name: string, role: "owner" | "admin" | "editor" | "viewer") =>
  app.ctx.db.write((tx) => createUser(app.ctx, tx, person(name, role), CLI_ACTOR));

describe("a restored database", () => {
  test("a restore revives no session or one-time link and keeps users and keys", async () => {
    using site = await backedUpSite(async (app) => {
      const { ctx } = app;
      await app.signedIn("owner");
      await app.createKey();
      const guest = { email: "guest@example.com", name: "Guest", role: "viewer" as const };
      await ctx.db.write((tx) => inviteUser(ctx, tx, guest, CLI_ACTOR));
    });
    const { backup, directory } = site;
    expect(["sessions", "one_time_links"].map((table) => count(backup, table))).toEqual([1, 1]);
    site.restore();
    const { database } = directory;
    expect(["sessions", "one_time_links"].map((table) => count(database, table))).toEqual([0, 0]);
    expect(count(database, "users")).toBe(3);
    expect(count(database, "api_keys")).toBe(1);
    // The backup itself is left as it is.
    expect(count(backup, "sessions")).toBe(1);
  });

  test("keys revoked since the backup stay revoked after a restore, and others work", async () => {
    using site = await backedUpSite(
      async (app) => [await app.createKey(), await app.createKey()] as const,
      async ({ ctx }, [gone]) => ctx.db.write((tx) => revokeKey(ctx, tx, gone.key.id, CLI_ACTOR)),
    );
    const [gone, live] = site.made;
    const report = site.restore();
    expect(report).toMatchObject({
      carried: [{ what: "revoked key", count: 1 }],
      couldReadReplaced: true,
      revived: [],
    });
    await site.withApp(async (app) => {
      expect(await tryKey(app, gone.value)).toBe("revoked_key");
      expect(await tryKey(app, live.value)).toBe("accepted");
    });
  });

  test("a key rotated since the backup works with its new value, and the old one during its overlap", async () => {
    const values: string[] = [];
    using site = await backedUpSite(
      async (app) => [await app.createKey(), await app.createKey(), await app.createKey()] as const,
      async ({ ctx }, keys) =>
        ctx.db.write((tx) => {
          const [ended, overlapping, endedEarly] = keys.map(({ key }) => key.id);
          values.push(rotateKey(ctx, tx, ended ?? "", "now", CLI_ACTOR).value);
          values.push(rotateKey(ctx, tx, overlapping ?? "", "7d", CLI_ACTOR).value);
          values.push(rotateKey(ctx, tx, endedEarly ?? "", "7d", CLI_ACTOR).value);
          endOldValues(ctx, tx, endedEarly ?? "", CLI_ACTOR);
        }),
    );
    const [ended, overlapping, endedEarly] = site.made;
    expect(site.restore().carried).toEqual([
      { what: "ended key value", count: 3 },
      { what: "new value of a rotated key", count: 3 },
    ]);
    await site.withApp(async (app) => {
      expect(await tryKey(app, ended.value)).toBe("expired_key");
      expect(await tryKey(app, endedEarly.value)).toBe("expired_key");
      expect(await tryKey(app, overlapping.value)).toBe("accepted");
      for (const value of values) expect(await tryKey(app, value)).toBe("accepted");
    });
  });

  test("users stay disabled, and lowered roles and changed passwords are kept after a restore", async () => {
    using site = await backedUpSite(
      async (app) => {
        await addUser(app, "owner", "owner");
        return {
          disabled: await addUser(app, "disabled", "editor"),
          lowered: await addUser(app, "lowered", "admin"),
          raised: await addUser(app, "raised", "viewer"),
          changed: await addUser(app, "changed", "editor"),
          same: await addUser(app, "same", "editor"),
        };
      },
      async ({ ctx }, users) =>
        ctx.db.write((tx) => {
          disableUser(ctx, tx, users.disabled.id, CLI_ACTOR);
          setRole(ctx, tx, users.lowered.id, "viewer", CLI_ACTOR);
          setRole(ctx, tx, users.raised.id, "owner", CLI_ACTOR);
          const change = { userId: users.changed.id, passwordHash: "hash of another" };
          changePassword(ctx, tx, change, CLI_ACTOR);
        }),
    );
    expect(site.restore()).toMatchObject({
      carried: [
        { what: "lowered role", count: 1 },
        { what: "changed password", count: 1 },
        { what: "disabled user", count: 1 },
      ],
      lacksOwner: false,
    });
    const row = (user: { id: string }) => stored(site.directory.database, "users", user.id);
    const { disabled, lowered, raised, changed, same } = site.made;
    expect(row(disabled).disabled_at).not.toBeNull();
    expect(row(lowered)).toMatchObject({ role: "viewer", disabled_at: null });
    expect(row(raised).role).toBe("viewer");
    expect(row(changed)).toMatchObject({ role: "editor", password_hash: "hash of another" });
    expect(row(same)).toMatchObject({ role: "editor", password_hash: "hash of same" });
  });

  test("second factors of the replaced database are kept, with the codes that were used and those that were not", async () => {
    const since: Record<string, Authenticator> = {};
    const email = (name: string) => `${name}@example.com`;
    const use = async (app: TestApp, name: string, recovery_code: string) =>
      sendCode(app, await passwordStep(app, email(name)), { recovery_code });
    using site = await backedUpSite(
      async (app) => {
        const made: Record<string, { id: string; factor?: Authenticator }> = {};
        for (const name of ["used", "off", "renewed", "fresh", "coded", "same", "added"]) {
          const { id } = await userWithPassword(app, email(name));
          made[name] = name === "added" ? { id } : { id, factor: await enrol(app, id) };
        }
        await passwordStep(app, email("same"));
        return made;
      },
      async (app, made) => {
        const { ctx } = app;
        const [id, factor] = [
          (name: string) => made[name]?.id ?? "",
          (name: string) => made[name]?.factor,
        ];
        const [code = ""] = factor("used")?.recoveryCodes ?? [];
        expect((await use(app, "used", code)).status).toBe(303);
        await ctx.db.write((tx) => resetSecondFactor(ctx, tx, id("off"), CLI_ACTOR));
        await ctx.db.write((tx) => resetSecondFactor(ctx, tx, id("renewed"), CLI_ACTOR));
        since["renewed"] = await enrol(app, id("renewed"));
        since["added"] = await enrol(app, id("added"));
        const typed = { recoveryCode: factor("fresh")?.recoveryCodes[0] ?? "" };
        const actor = userActor(getUser(ctx.db, id("fresh")));
        const fresh = await ctx.db.write((tx) =>
          replaceRecoveryCodes(ctx, tx, { userId: id("fresh"), typed }, actor),
        );
        if ("rejection" in fresh) throw new Error(fresh.rejection);
        since["fresh"] = { ...(factor("fresh") as Authenticator), recoveryCodes: fresh };
        const cookie = await passwordStep(app, email("coded"));
        expect((await sendCode(app, cookie, { code: factor("coded")?.code() ?? "" })).status).toBe(
          303,
        );
      },
    );
    const { made } = site;
    expect(count(site.backup, "sign_in_steps")).toBe(1);
    expect(site.restore().carried).toEqual([
      { what: "removed second factor", count: 2 },
      { what: "new second factor", count: 2 },
      { what: "used recovery code", count: 11 },
      { what: "new recovery code", count: 30 },
    ]);
    expect(count(site.directory.database, "sign_in_steps")).toBe(0);
    await site.withApp(async (app) => {
      const worksFor = async (name: string, code = "") =>
        (await use(app, name, code)).status === 303;
      const [first = "", second] = made["used"]?.factor?.recoveryCodes ?? [];
      expect([await worksFor("used", first), await worksFor("used", second)]).toEqual([
        false,
        true,
      ]);
      expect((await trySignIn(app, email("off"))).headers.get("set-cookie")).toStartWith(
        "__Host-allclear=",
      );
      for (const name of ["renewed", "added", "fresh"]) {
        const [now] = since[name]?.recoveryCodes ?? [];
        const earlier = made[name]?.factor?.recoveryCodes[1];
        expect([await worksFor(name, earlier), await worksFor(name, now)]).toEqual([false, true]);
      }
      expect(await worksFor("same", made["same"]?.factor?.recoveryCodes[0])).toBe(true);
      const periods = listFactors(app.ctx.db, {}).map(({ userId, lastPeriod }) => [
        userId,
        lastPeriod,
      ]);
      const enrolled = Math.floor(TEST_START / PERIOD_MS);
      expect(Object.fromEntries(periods)).toMatchObject({
        [made["coded"]?.id ?? ""]: enrolled + 2,
        [made["same"]?.id ?? ""]: enrolled,
      });
    });
  });

  test("restoring the replaced database takes no second factor and no recovery code away", async () => {
    let factor: Authenticator | undefined;
    using site = await backedUpSite(
      (app) => userWithPassword(app, "ada@example.com"),
      async (app, { id }) => {
        factor = await enrol(app, id);
      },
    );
    const { kept } = site.restore();
    await site.withApp(async (app) => {
      const cookie = await passwordStep(app, "ada@example.com");
      const recovery_code = factor?.recoveryCodes[0] ?? "";
      expect((await sendCode(app, cookie, { recovery_code })).status).toBe(303);
    });
    expect(site.restore(kept).carried).toEqual([{ what: "used recovery code", count: 1 }]);
    expect(count(site.directory.database, "recovery_codes")).toBe(9);
  });

  test("codes that are refused since the backup stay refused, and no used code works again", async () => {
    /** Types ten wrong codes, and returns the time until which codes are refused. */
    const guess = async (app: TestApp, userId: string, factor: Authenticator) => {
      const actor = userActor(getUser(app.ctx.db, userId));
      for (let i = 0; i < 10; i++) {
        const typed = { code: factor.wrongCode() };
        await app.ctx.db.write((tx) => confirmByCode(app.ctx, tx, { userId, typed }, actor));
      }
      return app.clock.now() + 15 * MINUTE_MS;
    };
    const enrolled = Math.floor(TEST_START / PERIOD_MS);
    let until = 0;
    using site = await backedUpSite(
      async (app) => {
        const { id } = await userWithPassword(app, "ada@example.com");
        return { id, factor: await enrol(app, id) };
      },
      async (app, { id, factor }) => {
        until = await guess(app, id, factor);
      },
    );
    const { id } = site.made;
    const factors = () =>
      site.withApp(async (app) =>
        listFactors(app.ctx.db, {}).map(({ userId, lastPeriod, pauses, pausedUntil }) => [
          userId,
          lastPeriod,
          pauses,
          pausedUntil,
        ]),
      );
    const { kept = "" } = site.restore();
    expect(await factors()).toEqual([[id, enrolled, 1, until]]);
    {
      // A backup in which codes were not refused, but one more was used.
      using sqlite = new Database(kept);
      sqlite.run("UPDATE second_factors SET paused_until = 0, pauses = 0, last_period = ?", [
        enrolled + 3,
      ]);
    }
    site.restore(kept);
    expect(await factors()).toEqual([[id, enrolled + 3, 1, until]]);
  });

  test("tokens of locations that were rotated, ended or deleted since the backup stay so after a restore", async () => {
    const rotated = { token: "" };
    using site = await backedUpSite(
      async (app) => {
        const [berlin, oregon, kept] = await Promise.all(
          ["Berlin", "Oregon", "Tokyo"].map((name) => addLocation(app, name)),
        );
        if (!berlin || !oregon || !kept) throw new Error("three were added");
        return { berlin, oregon, kept };
      },
      async ({ ctx }, { berlin, oregon }) =>
        ctx.db.write((tx) => {
          rotated.token = rotateLocationToken(ctx, tx, berlin.row.id, "now", CLI_ACTOR).token;
          deleteLocation(ctx, tx, oregon.row.id, CLI_ACTOR);
        }),
    );
    const { berlin, oregon, kept } = site.made;
    const report = site.restore();
    expect(report.carried).toEqual([
      { what: "ended location token", count: 2 },
      { what: "new location token", count: 1 },
    ]);
    await site.withApp(async ({ ctx }) => {
      const isStored = (token: string) =>
        findLocationToken(ctx.db, { hash: sha256(token) }) !== undefined;
      const tokens = [berlin.token, oregon.token, rotated.token, kept.token];
      expect(tokens.map(isStored)).toEqual([false, false, true, true]);
    });
  });

  test("heartbeat tokens and signing secrets rotated since the backup are kept after a restore", async () => {
    const rotated = { token: "", secret: "" };
    const post = (app: TestApp, key: string, path: string, json?: unknown) =>
      app.call(`/api/v1${path}`, { key, method: "POST", ...(json ? { json } : {}) });
    using site = await backedUpSite(
      async (app) => {
        const key = await app.keyWith("manage:monitors", "manage:webhooks");
        const push = { name: "Backup", type: "push", interval_seconds: 60 };
        const hook = { url: "https://receiver.example.com/hooks", events: ["*"] };
        const monitor = (await post(app, key, "/monitors", push)).body;
        const other = (await post(app, key, "/monitors", { ...push, name: "Other" })).body;
        const webhook = (await post(app, key, "/webhooks", hook)).body;
        return { key, monitor, other, webhook };
      },
      async (app, { key, monitor, webhook }) => {
        const token = await post(app, key, `/monitors/${monitor.id}/rotate-token`);
        const secret = await post(app, key, `/webhooks/${webhook.id}/rotate-secret`);
        rotated.token = token.body.token;
        rotated.secret = secret.body.secret;
      },
    );
    const { monitor, other, webhook } = site.made;
    expect(site.restore()).toMatchObject({
      carried: [
        { what: "rotated signing secret", count: 1 },
        { what: "ended heartbeat token", count: 1 },
        { what: "new heartbeat token", count: 1 },
      ],
      revived: [],
    });
    await site.withApp(async (app) => {
      const beat = (token: string) => app.call(`/api/v1/heartbeats/${token}`);
      expectProblem(await beat(monitor.token), "not_found");
      expect((await beat(rotated.token)).status).toBe(200);
      expect((await beat(other.token)).status).toBe(200);
    });
    expect(stored(site.directory.database, "webhooks", webhook.id)).toMatchObject({
      secret: rotated.secret,
      previous_secret: webhook.secret,
    });
  });

  test("webhooks changed, disabled or deleted since the backup send nothing after a restore", async () => {
    const HOOK = "https://receiver.example.com/";
    const key = { value: "" };
    const send = (app: TestApp, method: string, path: string, json?: unknown) =>
      app.call(`/api/v1/webhooks${path}`, { key: key.value, method, ...(json ? { json } : {}) });
    using site = await backedUpSite(
      async (app) => {
        key.value = await app.keyWith("manage:webhooks");
        const ids: Record<string, string> = {};
        for (const name of ["moved", "token", "off", "on", "deleted", "renamed", "same"]) {
          const topic = { format: "ntfy", settings: { token: `tk_${name}_before` } };
          const hook = { url: HOOK + name, description: name, ...(name === "token" ? topic : {}) };
          const { body } = await send(app, "POST", "", hook);
          ids[name] = body.id;
        }
        await send(app, "PATCH", `/${ids["on"]}`, { enabled: false });
        return ids;
      },
      async (app, ids) => {
        await send(app, "PATCH", `/${ids["moved"]}`, { url: `${HOOK}elsewhere` });
        await send(app, "PATCH", `/${ids["token"]}`, { settings: { token: "tk_after" } });
        await send(app, "PATCH", `/${ids["off"]}`, { enabled: false });
        await send(app, "PATCH", `/${ids["on"]}`, { enabled: true });
        await send(app, "PATCH", `/${ids["renamed"]}`, { description: "Another" });
        await send(app, "DELETE", `/${ids["deleted"]}`);
      },
    );
    const { kept, ...report } = site.restore();
    expect(report).toMatchObject({
      carried: [
        { what: "changed destination of a webhook", count: 2 },
        { what: "disabled webhook", count: 2 },
      ],
      revived: [],
      couldReadReplaced: true,
    });
    const { made, directory } = site;
    const row = (name: string) => stored(directory.database, "webhooks", made[name] ?? "");
    expect(row("moved")).toMatchObject({ url: `${HOOK}elsewhere`, enabled: 1, version: 2 });
    expect(row("token")).toMatchObject({ settings: '{"token":"tk_after"}', enabled: 1 });
    expect(row("off")).toMatchObject({ enabled: 0, disabled_reason: null });
    expect(row("deleted")).toMatchObject({
      url: `${HOOK}deleted`,
      enabled: 0,
      disabled_reason: "It was deleted after the restored backup was made.",
    });
    for (const name of ["renamed", "same"]) {
      expect(row(name)).toMatchObject({ url: HOOK + name, description: name, enabled: 1 });
    }
    await site.withApp(async (app) => {
      const { body } = await send(app, "GET", `/${made["deleted"]}`);
      expect(body).toMatchObject({ enabled: false });
      const on = await send(app, "PATCH", `/${made["deleted"]}`, { enabled: true });
      expect(on.body).toMatchObject({ enabled: true, disabled_reason: null });
    });
    expect(site.restore(kept)).toMatchObject({ carried: [] });
    expect(row("deleted").deleted_at).not.toBeNull();
    expect([row("off").enabled, row("on").enabled]).toEqual([0, 1]);
  });

  test("the audit log says that a database was restored and what was carried over", async () => {
    using site = await backedUpSite(
      (app) => app.createKey(),
      async ({ ctx }, { key }) => ctx.db.write((tx) => revokeKey(ctx, tx, key.id, CLI_ACTOR)),
    );
    site.restore();
    await site.withApp(async (app) => {
      expect(app.audit().at(-1)).toMatchObject({
        action: "database.restore",
        actorKind: "cli",
        summary: "Restored a backup of the database, with 1 revoked key from the replaced database",
      });
    });
  });

  test("restoring the replaced database brings all roles back", async () => {
    using site = await backedUpSite(
      async (app) => {
        await addUser(app, "owner", "owner");
        const enabled = await addUser(app, "enabled", "editor");
        await app.ctx.db.write((tx) => disableUser(app.ctx, tx, enabled.id, CLI_ACTOR));
        return { raised: await addUser(app, "raised", "viewer"), enabled };
      },
      async ({ ctx }, { raised, enabled }) =>
        ctx.db.write((tx) => {
          setRole(ctx, tx, raised.id, "owner", CLI_ACTOR);
          changePassword(ctx, tx, { userId: raised.id, passwordHash: "another" }, CLI_ACTOR);
          enableUser(ctx, tx, enabled.id, CLI_ACTOR);
        }),
    );
    const { raised, enabled } = site.made;
    const row = (user: { id: string }) => stored(site.directory.database, "users", user.id);
    const { kept } = site.restore();
    expect(row(raised).role).toBe("viewer");
    expect(row(enabled).disabled_at).not.toBeNull();
    expect(site.restore(kept)).toMatchObject({ carried: [], couldReadReplaced: true });
    expect(row(raised)).toMatchObject({ role: "owner", password_hash: "another" });
    expect(row(enabled).disabled_at).toBeNull();
  });
});

test("restoring a backup of an older schema keeps revoked keys revoked", async () => {
  using folder = temporaryFolder();
  const { database } = openDataDirectory(folder.path);
  const backup = join(folder.path, "backup.db");
  {
    using sqlite = openSqlite(database, 0);
    migrate(sqlite, undefined, MIGRATIONS.slice(0, 1));
    sqlite.run(
      `INSERT INTO api_keys VALUES ('key_1', 'CI', '[]', 100, NULL, NULL, 1, 1, 'cli', NULL, 'x')`,
    );
    copyDatabase(sqlite, backup);
    migrate(sqlite, undefined);
    sqlite.run("UPDATE api_keys SET revoked_at = 5");
  }
  const report = restoreDatabase(openDataDirectory(folder.path), backup);
  expect(report.carried).toEqual([{ what: "revoked key", count: 1 }]);
  expect(report).toMatchObject({ couldReadReplaced: true, revived: [] });
  expect(stored(database, "api_keys", "key_1").revoked_at).toBe(5);
  using sqlite = openSqlite(database, 0);
  expect(migrate(sqlite, undefined)).toMatchObject({ from: 1, to: MIGRATIONS.length });
});

// `incidents` is the first migration after the table of users.
test.each(["second_factors", "incidents"])(
  "second factors stay on when a backup from before the migration %s is restored",
  (first) => {
    using folder = temporaryFolder();
    const { database } = openDataDirectory(folder.path);
    const backup = join(folder.path, "backup.db");
    const before = MIGRATIONS.findIndex(({ name }) => name === first);
    {
      using sqlite = openSqlite(database, 0);
      migrate(sqlite, undefined, MIGRATIONS.slice(0, before));
      for (const name of ["ada", "bob"]) {
        sqlite.run(`INSERT INTO users (id, email, name, role, password_hash, version, created_at, updated_at)
        VALUES ('usr_${name}', '${name}@example.com', '${name}', 'owner', 'x', 1, 1, 1)`);
      }
      copyDatabase(sqlite, backup);
      migrate(sqlite, undefined);
      sqlite.run(
        `INSERT INTO second_factors VALUES ('usr_ada', X'${"07".repeat(20)}', 5, '[]', 0, 0, 5)`,
      );
      sqlite.run(`INSERT INTO recovery_codes VALUES (X'${"01".repeat(32)}', 'usr_ada')`);
      sqlite.run("UPDATE users SET version = 2, updated_at = 5 WHERE id = 'usr_ada'");
    }
    const report = restoreDatabase(openDataDirectory(folder.path), backup);
    expect(report).toMatchObject({
      carried: [
        { what: "new second factor", count: 1 },
        { what: "new recovery code", count: 1 },
      ],
      couldReadReplaced: true,
      revived: [],
    });
    using sqlite = openSqlite(database, 0);
    expect(readApplied(sqlite)).toHaveLength(MIGRATIONS.length);
    expect(sqlite.query("SELECT user_id, hex(secret) AS secret FROM second_factors").all()).toEqual(
      [{ user_id: "usr_ada", secret: "07".repeat(20) }],
    );
    expect(sqlite.query("SELECT user_id FROM recovery_codes").all()).toEqual([
      { user_id: "usr_ada" },
    ]);
    expectSound(sqlite);
  },
);

/** A monitor with the token that hashes to this byte, in the schema in which each monitor has one token. */
const pushMonitor = (byte: string) => `
  INSERT INTO monitors (id, num, ref, name, type, config, token_hash, interval_seconds, timeout_ms, failure_threshold,
      success_threshold, retry_interval_seconds, on_down, open_incident, paused, version, created_at, updated_at)
    VALUES ('mon_1', 1, 'job', 'Job', 'push', '{}', X'${byte.repeat(32)}', 60, 1000, 1, 1, 10, 'partial_outage',
      'never', 0, 1, 1, 1)`;

const ONE_TOKEN_EACH = 11;

test("a heartbeat token rotated after an upgrade is kept when a backup from before the upgrade is restored", () => {
  using folder = temporaryFolder();
  const { database } = openDataDirectory(folder.path);
  const backup = join(folder.path, "backup.db");
  {
    using sqlite = openSqlite(database, 0);
    migrate(sqlite, undefined, MIGRATIONS.slice(0, ONE_TOKEN_EACH));
    sqlite.run(pushMonitor("aa"));
    copyDatabase(sqlite, backup);
    migrate(sqlite, undefined);
    sqlite.run(`UPDATE monitor_tokens SET hash = X'${"bb".repeat(32)}'`);
    sqlite.run("UPDATE monitors SET version = 2, updated_at = 5");
  }
  const report = restoreDatabase(openDataDirectory(folder.path), backup);
  expect(report).toMatchObject({
    carried: [{ what: "rotated heartbeat token", count: 1 }],
    couldReadReplaced: true,
    revived: [],
  });
  using sqlite = openSqlite(database, 0);
  migrate(sqlite, undefined);
  expect(
    sqlite.prepare("SELECT hex(hash) AS hash, monitor_id, kind FROM monitor_tokens").all(),
  ).toEqual([{ hash: "BB".repeat(32), monitor_id: "mon_1", kind: "native" }]);
});

test("a heartbeat token rotated before an upgrade is kept when a newer backup is restored over it", () => {
  using folder = temporaryFolder();
  const { database } = openDataDirectory(folder.path);
  const backup = join(folder.path, "backup.db");
  {
    using sqlite = openSqlite(backup, 0);
    migrate(sqlite, undefined, MIGRATIONS.slice(0, ONE_TOKEN_EACH));
    sqlite.run(pushMonitor("aa"));
    migrate(sqlite, undefined);
  }
  {
    using sqlite = openSqlite(database, 0);
    migrate(sqlite, undefined, MIGRATIONS.slice(0, ONE_TOKEN_EACH));
    sqlite.run(pushMonitor("bb"));
    sqlite.run("UPDATE monitors SET version = 2");
  }
  const report = restoreDatabase(openDataDirectory(folder.path), backup);
  expect(report).toMatchObject({
    carried: [
      { what: "ended heartbeat token", count: 1 },
      { what: "new heartbeat token", count: 1 },
    ],
    couldReadReplaced: true,
    revived: [],
  });
  using sqlite = openSqlite(database, 0);
  const stored = sqlite.prepare("SELECT hex(hash) AS hash FROM monitor_tokens").all();
  expect(stored).toEqual([{ hash: "BB".repeat(32) }]);
  expect(sqlite.prepare("SELECT version FROM monitors").get()).toEqual({ version: 3 });
});

test("a restore lists credentials whose tables the replaced schema lacks", async () => {
  using site = await backedUpSite((app) => addUser(app, "owner", "owner"));
  const { database } = site.directory;
  rmSync(database);
  {
    using sqlite = openSqlite(database, 0);
    migrate(sqlite, undefined, MIGRATIONS.slice(0, 1));
  }
  expect(site.restore()).toMatchObject({
    couldReadReplaced: false,
    revived: [{ kind: "user", id: site.made.id }],
  });
});

test("a restore without the replaced database lists the users whose recovery codes work again", async () => {
  using site = await backedUpSite(async (app) => {
    const user = await userWithPassword(app, "ada@example.com");
    await enrol(app, user.id);
    return user;
  });
  rmSync(site.directory.database);
  const { couldReadReplaced, revived } = site.restore();
  expect([couldReadReplaced, revived]).toEqual([
    false,
    [
      { kind: "user", id: site.made.id, label: "ada@example.com, owner" },
      { kind: "user", id: site.made.id, label: "ada@example.com, recovery codes" },
    ],
  ]);
});

test("every column that may hold a credential has a rule for restoring, or a reason to need none", () => {
  const needNone = new Set([
    // Their rows are deleted.
    "sessions.hash",
    "sign_in_steps.hash",
    "one_time_links.hash",
    // They recognise what was sent before, and open nothing.
    "form_submissions.hash",
    "idempotent_answers.idempotency_hash",
    "idempotent_answers.body_hash",
    // It names the password that a page has.
    "pages.password_id",
    // It recognises what was imported before.
    "import_refs.settings_hash",
    // Credentials for the targets of monitors, which end them; they open nothing here.
    "monitors.config",
  ]);
  using sqlite = openSqlite(":memory:", 0);
  migrate(sqlite, undefined);
  const columns = sqlite
    .query<{ tableName: string; name: string }, []>(
      `SELECT t.name AS tableName, c.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
       WHERE t.schema = 'main'`,
    )
    .all()
    .filter(({ name }) => /(^|_)(hash|secret|token|password|url|settings|config)(_|$)/.test(name));
  const isCovered = ({ tableName, name }: { tableName: string; name: string }) =>
    CARRIED_TABLES[tableName]?.columns.includes(name);
  const forgotten = columns
    .filter((column) => !isCovered(column) && !needNone.has(`${column.tableName}.${column.name}`))
    .map(({ tableName, name }) => `${tableName}.${name}`);
  expect(forgotten).toEqual([]);
  expect(columns.length).toBeGreaterThan(5);
});

test("an identity disconnected since the backup stays disconnected after a restore, and others work", async () => {
  const identity = (subject: string) => ({
    issuer: "https://login.example.com",
    subject,
    label: subject,
    createdAt: 1,
    lastUsedAt: 1,
  });
  using site = await backedUpSite(
    async (app) => {
      const gone = await addUser(app, "gone", "owner");
      const kept = await addUser(app, "kept", "editor");
      await app.ctx.db.write((tx) => {
        insertIdentity(tx, { userId: gone.id, ...identity("gone") });
        insertIdentity(tx, { userId: kept.id, ...identity("kept") });
      });
      return gone;
    },
    async ({ ctx }, { id }) =>
      ctx.db.write((tx) => {
        const [connected] = listIdentitiesOf(tx, { userId: id });
        disconnectIdentity(ctx, tx, id, connected?.id ?? 0, CLI_ACTOR);
      }),
  );
  expect(site.restore().carried).toEqual([{ what: "disconnected identity", count: 1 }]);
  using sqlite = new Database(site.directory.database, { readonly: true });
  expect(sqlite.query("SELECT subject FROM identities").all()).toEqual([{ subject: "kept" }]);
});

test("a restore without the replaced database lists the identities that sign in again", async () => {
  using site = await backedUpSite(async (app) => {
    const { id } = await addUser(app, "owner", "owner");
    const off = await addUser(app, "off", "viewer");
    await app.ctx.db.write((tx) => {
      const identity = { issuer: "https://login.example.com", label: "x" };
      const times = { createdAt: 1, lastUsedAt: 1 };
      insertIdentity(tx, { userId: id, subject: "owner", ...identity, ...times });
      const named = { issuer: "proxy", subject: "root", label: "root" };
      insertIdentity(tx, { userId: id, ...named, ...times });
      insertIdentity(tx, { userId: off.id, subject: "off", ...identity, ...times });
      disableUser(app.ctx, tx, off.id, CLI_ACTOR);
    });
  });
  rmSync(site.directory.database);
  expect(site.restore()).toMatchObject({
    couldReadReplaced: false,
    lacksOwner: false,
    revived: [
      {
        kind: "identity",
        id: "1",
        label: "owner@example.com at https://login.example.com",
      },
      { kind: "identity", id: "2", label: "owner@example.com at the identity proxy" },
      { kind: "user", label: "owner@example.com, owner" },
    ],
  });
});

describe("a restore without a complete database to carry over from", () => {
  const everything = async (app: TestApp) => {
    const owner = await addUser(app, "owner", "owner");
    const { key, value } = await app.createKey();
    const expired = await app.createKey({ expires: "2026-03-10T12:30:00Z" });
    const managing = await app.keyWith("manage:monitors", "manage:webhooks");
    const send = (path: string, json: unknown) =>
      app.call(`/api/v1${path}`, { key: managing, method: "POST", json });
    const monitor = await send("/monitors", { name: "Job", type: "push", interval_seconds: 60 });
    const hook = { url: "https://receiver.example.com/hooks", events: ["*"] };
    const webhook = await send("/webhooks", hook);
    await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, expired.key.id, CLI_ACTOR));
    return { owner, key, value, monitor: monitor.body, webhook: webhook.body };
  };

  test.each([
    ["missing", (file: string) => rmSync(file)],
    ["not a database", (file: string) => writeFileSync(file, "ruined ".repeat(1_000))],
    ["cut off", (file: string) => writeFileSync(file, readFileSync(file).subarray(0, 8_192))],
  ])("that is %s lists every credential that works again", async (_name, ruin) => {
    using site = await backedUpSite(everything);
    ruin(site.directory.database);
    const report = site.restore();
    const { owner, key, value, monitor, webhook } = site.made;
    expect(report.couldReadReplaced).toBe(false);
    expect(report.revived).toEqual([
      { kind: "key", id: key.id, label: "test" },
      expect.objectContaining({ kind: "key", label: "test" }),
      { kind: "user", id: owner.id, label: "owner@example.com, owner" },
      { kind: "webhook", id: webhook.id, label: webhook.ref },
      { kind: "monitor", id: monitor.id, label: monitor.ref },
    ]);
    await site.withApp(async (app) => expect(await tryKey(app, value)).toBe("accepted"));
  });

  test("a restore over a damaged table carries over what can be read and names the rest", async () => {
    using site = await backedUpSite(everything, async ({ ctx }, { key }) =>
      ctx.db.write((tx) => revokeKey(ctx, tx, key.id, CLI_ACTOR)),
    );
    const { database } = site.directory;
    ruinTable(database, "users");
    const report = site.restore();
    expect(report.carried).toEqual([{ what: "revoked key", count: 1 }]);
    expect(report.couldReadReplaced).toBe(false);
    expect(report.revived.map(({ id }) => id)).toEqual([site.made.owner.id]);
  });

  test("a restore over a database without the backup's credentials lists those that work again", async () => {
    using site = await backedUpSite(everything);
    rmSync(site.directory.database);
    await site.withApp(async (app) => void (await app.createKey()));
    const report = site.restore();
    expect(report.couldReadReplaced).toBe(true);
    expect(report.revived.map(({ kind }) => kind)).toEqual([
      "key",
      "key",
      "user",
      "webhook",
      "monitor",
    ]);
  });
});

/** Overwrites the pages of a table with garbage. */
function ruinTable(file: string, table: string): void {
  const bytes = readFileSync(file);
  const pageBytes = bytes.readUInt16BE(16);
  const pages = (() => {
    using sqlite = new Database(file, { readonly: true });
    return sqlite
      .query<{ pageno: number }, [string]>("SELECT pageno FROM dbstat WHERE name = ?")
      .all(table);
  })();
  for (const { pageno } of pages) bytes.fill(0xa5, (pageno - 1) * pageBytes, pageno * pageBytes);
  writeFileSync(file, bytes);
}

test("a new database can be read only by its owner and group, also in a public directory", async () => {
  using folder = temporaryFolder();
  const databasePath = join(folder.path, "open-to-all.db");
  await using app = await createTestApp({ databasePath });
  await app.signedIn();
  for (const file of [databasePath, `${databasePath}-wal`]) {
    expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o640]);
  }
});
