import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { createBackups } from "../../../../src/features/backups/backups";
import {
  recordScheduledBackup,
  type ScheduledBackup,
} from "../../../../src/features/backups/schedule";
import { disableUser, listUsers } from "../../../../src/features/users/users";
import { createTestApp, expectProblem, type TestApp } from "../../../support/app";
import { holds } from "../../../support/binary";
import { HTML } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { temporaryFolder } from "../../../support/temporary-folder";
import { hasTinyDisks, mountTinyDisk } from "../../../support/tiny-disk";

const GENERAL = "/admin/settings/general";
const BACKUP = `${GENERAL}/backup`;

function backUp(app: TestApp, session: string, headers: Record<string, string> = {}) {
  return app.call(BACKUP, { session, form: {}, headers });
}

describe("a backup in the dashboard", () => {
  test("an owner downloads the database, and the last backup is audited and shown", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const empty = readHtml((await app.call(GENERAL, { session })).text).texts("#general-backups p");
    expect(empty[0]).toBe("The last backup from the dashboard or the command line appears here.");
    const { status, headers, text } = await backUp(app, session);
    expect([status, headers.get("cache-control"), headers.get("content-type")]).toEqual([
      200,
      "no-store",
      "application/vnd.sqlite3",
    ]);
    const stamp = new Date(app.clock.now()).toISOString().slice(0, 19).replaceAll(":", "-");
    expect(headers.get("content-disposition")).toBe(`attachment; filename="allclear-${stamp}Z.db"`);
    expect(text).toStartWith("SQLite format 3");
    expect(Number(headers.get("content-length"))).toBeGreaterThan(100_000);
    expect(app.audit().at(-1)).toMatchObject({
      action: "database.backup",
      actorKind: "user",
      summary: expect.stringMatching(/^Downloaded a backup of the database, [\d.]+ [KM]B$/),
    });
    const page = readHtml((await app.call(GENERAL, { session })).text);
    expect(page.texts("#general-backups .detail-note")).toEqual([
      expect.stringMatching(/^[\d.]+ [KM]B · Test owner · just now$/),
    ]);
  });

  test.each(["admin", "editor", "viewer"] as const)(
    "a backup is refused to the role %s, and nothing is recorded",
    async (role) => {
      await using app = await createTestApp();
      const session = await app.signedIn(role);
      const before = app.audit();
      expectProblem(await backUp(app, session), "insufficient_role");
      expect(app.audit()).toEqual(before);
    },
  );

  test("a backup is refused to another site and without a session", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const before = app.audit();
    const origin = "https://evil.example";
    expect((await backUp(app, session, { ...HTML, origin })).status).toBe(403);
    expect((await app.call(BACKUP, { form: {} })).status).toBe(401);
    expect((await app.call(BACKUP, { session })).status).toBe(303);
    expect(app.audit()).toEqual(before);
  });

  test("an owner who loses the role while the backup is written gets no file", async () => {
    using folder = temporaryFolder();
    let ownerId = "";
    await using app = await createTestApp({
      backups: (ctx) =>
        createBackups(ctx, {
          folder: () => folder.path,
          async copy(_, file) {
            ctx.db.copyTo(file);
            await ctx.db.write((tx) => disableUser(ctx, tx, ownerId, CLI_ACTOR));
            return undefined;
          },
        }),
    });
    await app.signedIn();
    const others = new Set(listUsers(app.ctx.db).map(({ id }) => id));
    const session = await app.signedIn();
    ownerId = listUsers(app.ctx.db).find(({ id }) => !others.has(id))?.id ?? "";
    expectProblem(await backUp(app, session), "sign_in_required");
    expect(readdirSync(folder.path)).toEqual([]);
    expect(app.audit().map(({ action }) => action)).not.toContain("database.backup");
  });

  test("a second backup is rejected with a message while the first is written", async () => {
    const copying = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    using folder = temporaryFolder();
    await using app = await createTestApp({
      backups: (ctx) =>
        createBackups(ctx, {
          folder: () => folder.path,
          async copy(_, file) {
            copying.resolve();
            await end.promise;
            return void ctx.db.copyTo(file);
          },
        }),
    });
    const session = await app.signedIn();
    const first = backUp(app, session);
    await copying.promise;
    const second = await backUp(app, session);
    expect([second.status, ...readHtml(second.text).texts(".notice")]).toEqual([
      409,
      "No backup was writtenAnother backup is being written. Try again when it has ended.",
    ]);
    end.resolve();
    expect((await first).status).toBe(200);
    expect((await backUp(app, session)).status).toBe(200);
  });

  test("a failed backup shows its reason, and neither records nor leaves anything", async () => {
    using folder = temporaryFolder();
    let error = "database or disk is full";
    await using app = await createTestApp({
      backups: (ctx) =>
        createBackups(ctx, {
          folder: () => folder.path,
          async copy(_, file) {
            await Bun.write(`${file}.unfinished`, "part");
            return error;
          },
        }),
    });
    const session = await app.signedIn();
    const before = app.audit();
    const failed = async () => {
      const { status, text } = await backUp(app, session);
      return [status, ...readHtml(text).texts(".notice")];
    };
    const start = "No backup was written";
    expect(await failed()).toEqual([503, `${start}The disk is full.`]);
    error = "unknown";
    expect(await failed()).toEqual([503, `${start}The server's log has the reason.`]);
    expect([readdirSync(folder.path), app.audit()]).toEqual([[], before]);
  });

  test("the file is removed once the answer has started", async () => {
    using folder = temporaryFolder();
    await using app = await createTestApp({
      backups: (ctx) =>
        createBackups(ctx, {
          folder: () => folder.path,
          copy: async (_, file) => void ctx.db.copyTo(file),
        }),
    });
    const session = await app.signedIn();
    expect((await backUp(app, session)).status).toBe(200);
    expect(readdirSync(folder.path)).toHaveLength(1);
    await app.clock.advance(1_000);
    const isEmpty = async () => readdirSync(folder.path).length === 0;
    expect(await holds(isEmpty)).toBe(true);
  });

  test("a start removes the files that a killed server left, and no others", async () => {
    using folder = temporaryFolder();
    await Bun.write(join(folder.path, "dashboard-download-1.db.unfinished"), "part");
    await Bun.write(join(folder.path, "before-schema-8-1.db"), "kept");
    await using app = await createTestApp();
    await createBackups(app.ctx, { folder: () => folder.path }).sweep();
    expect(readdirSync(folder.path)).toEqual(["before-schema-8-1.db"]);
  });

  test.skipIf(!hasTinyDisks())(
    "needs room on the disk of its folder, also where the database is on another one",
    async () => {
      using databases = temporaryFolder();
      using disk = mountTinyDisk("16m");
      await using app = await createTestApp({
        databasePath: join(databases.path, "allclear.db"),
        backups: (ctx) =>
          createBackups(ctx, {
            folder: () => disk.path,
            copy: async (_, file) => void ctx.db.copyTo(file),
          }),
      });
      const session = await app.signedIn();
      app.ctx.db.disk = async () => ({ freeBytes: 0, totalBytes: 1e9 });
      expect((await backUp(app, session)).status).toBe(200);
      app.ctx.db.disk = async () => ({ freeBytes: 1e9, totalBytes: 1e9 });
      disk.fill();
      const { status, text } = await backUp(app, session);
      expect(status).toBe(503);
      expect(readHtml(text).texts(".notice").join()).toContain("The disk has no room for a backup");
    },
  );
});

describe("daily backups in the dashboard", () => {
  const DAY_MS = 86_400_000;
  const note = "#general-backups .detail-note";

  async function showing(
    env: Record<string, string>,
    ...backups: Partial<ScheduledBackup>[]
  ): Promise<{ notes: string[]; hints: string[]; overview: string }> {
    await using app = await createTestApp({ env });
    const session = await app.signedIn();
    const now = app.clock.now();
    const facts = { target: "a", place: "s3://acme/nightly", name: "x" };
    await app.ctx.db.write((tx) => {
      for (const [index, backup] of backups.toReversed().entries()) {
        const at = now - (backups.length - index) * DAY_MS;
        recordScheduledBackup(tx, { dueAt: at, at, ...facts, ...backup }, now);
      }
    });
    const page = readHtml((await app.call(GENERAL, { session })).text);
    const settings = readHtml((await app.call("/admin/settings", { session })).text);
    return {
      notes: page.texts(note),
      hints: page.texts("#general-backups .hint"),
      overview: settings.texts("main").join(" "),
    };
  }

  test("the last five are listed with size and place, an error, or a warning", async () => {
    const { notes, overview } = await showing(
      {},
      { error: "The store s3://acme/nightly answered 403 AccessDenied: write x." },
      { bytes: 2_000_000, warning: "Old backups were not removed. No." },
      { bytes: 1_000_000 },
      {},
      { bytes: 3_000_000 },
      { bytes: 4_000_000 },
    );
    expect(notes).toEqual([
      "Failed The store s3://acme/nightly answered 403 AccessDenied: write x. · 1 day ago",
      "2 MB · s3://acme/nightly · Old backups were not removed. No. · 2 days ago",
      "1 MB · s3://acme/nightly · 3 days ago",
      "Not complete · s3://acme/nightly · 4 days ago",
      "3 MB · s3://acme/nightly · 5 days ago",
    ]);
    expect(overview).toContain("Last 2 days ago, 2 MB, daily backup failed");
  });

  test("the schedule is shown without credentials, or how to set one up", async () => {
    const none = await showing({});
    expect(none.hints[0]).toBe("--backup-to writes one every day into a folder or a bucket.");
    const { hints } = await showing({
      ALLCLEAR_BACKUP_TO: "s3://acme/nightly?endpoint=https://store.example.com",
      ALLCLEAR_BACKUP_AT: "04:05",
      ALLCLEAR_BACKUP_STORE_KEY_ID: "KEYID",
      ALLCLEAR_BACKUP_STORE_SECRET: "hidden-secret",
    });
    expect(hints[0]).toBe("Daily at 04:05 UTC to s3://acme/nightly, not encrypted.");
    const recipient = "age1t2zfvvh9yslfd20w0wjrakyashjzkqdz85sjh6r2xhq7p84dlg0s06suxf";
    const encrypted = await showing({
      ALLCLEAR_BACKUP_TO: "/backups",
      ALLCLEAR_BACKUP_AGE_RECIPIENT: recipient,
    });
    expect(encrypted.hints[0]).toBe("Daily at 03:00 UTC to /backups, encrypted.");
  });
});
