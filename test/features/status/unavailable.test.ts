import { describe, expect, test } from "bun:test";
import type { Ctx } from "../../../src/context";
import { unavailable } from "../../../src/base/errors";
import { createSnapshots } from "../../../src/features/status/snapshots";
import { HOUR_MS } from "../../../src/base/time";
import { createTestApp, expectProblem } from "../../support/app";

/** A context whose database answers as long as `error` is undefined. */
function withFault(ctx: Ctx) {
  const fault: { error: Error | undefined } = { error: undefined };
  const db = Object.create(ctx.db, {
    statements: {
      get() {
        if (fault.error) throw fault.error;
        return ctx.db.statements;
      },
    },
  }) as Ctx["db"];
  return { ctx: { ...ctx, db }, fault };
}

const UNAVAILABLE = unavailable("The database cannot answer now; try again.", 5);

/** Returns an error of SQLite, which no statement has translated. */
const sqliteError = (code: string) => Object.assign(new Error("SQLite failed"), { code });

describe("a status page while the database is unavailable", () => {
  test.each([
    ["the database cannot be opened again", UNAVAILABLE],
    ["a read fails", sqliteError("SQLITE_IOERR_READ")],
    ["a read is too short", sqliteError("SQLITE_IOERR_SHORT_READ")],
    ["a page is damaged", sqliteError("SQLITE_CORRUPT")],
    ["the file is no database any more", sqliteError("SQLITE_NOTADB")],
    ["another process has locked it", sqliteError("SQLITE_BUSY")],
  ])("an outdated snapshot is served while %s, and a new one afterwards", async (_, error) => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const { ctx, fault } = withFault(app.ctx);
    const snapshots = createSnapshots(ctx);
    const first = snapshots.read("acme", app.clock.now());
    const later = app.clock.now() + HOUR_MS;
    fault.error = error;
    expect(snapshots.read("acme", later)).toBe(first as NonNullable<typeof first>);
    fault.error = undefined;
    expect(snapshots.read("acme", later)).not.toBe(first);
  });

  test("a changed page, and one that was never read, are not served", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "acme" });
    const { ctx, fault } = withFault(app.ctx);
    const snapshots = createSnapshots(ctx);
    snapshots.read("acme", app.clock.now());
    fault.error = UNAVAILABLE;
    expect(() => snapshots.read("other", app.clock.now())).toThrow("cannot answer now");
    ctx.signals.pageChanged.emit(page.id);
    expect(() => snapshots.read("acme", app.clock.now())).toThrow("cannot answer now");
  });

  test("an outdated snapshot does not hide an error of the program", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const { ctx, fault } = withFault(app.ctx);
    const snapshots = createSnapshots(ctx);
    snapshots.read("acme", app.clock.now());
    fault.error = new TypeError("a mistake");
    expect(() => snapshots.read("acme", app.clock.now() + HOUR_MS)).toThrow("a mistake");
  });

  test("while reads fail, pages and the API are answered from memory, and what is not there is 503", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const key = await app.keyWith("read:status");
    const inMemory = ["/", "/status/acme", "/status/acme/feed.atom", "/status/acme/history"];
    const read = (path: string) => app.call(path, path.startsWith("/api/v1") ? { key } : {});
    const paths = [...inMemory, "/api/v2/summary.json", "/api/v1/status/acme"];
    for (const path of paths) expect((await read(path)).status).toBe(200);
    const { statements } = app.ctx.db;
    Object.defineProperty(app.ctx.db, "statements", {
      get: () => {
        throw sqliteError("SQLITE_IOERR_READ");
      },
    });
    await app.clock.advance(HOUR_MS);
    for (const path of paths) expect((await read(path)).status).toBe(200);
    const { status, body } = await app.call("/readyz");
    expect([status, body]).toEqual([
      200,
      { status: "ok", writable: false, reason: "The disk reports errors." },
    ]);
    expectProblem(await app.call("/readyz/write"), "unavailable");
    expect((await app.call("/healthz")).status).toBe(200);
    expectProblem(await app.call("/api/v1/incidents", { key }), "unavailable");
    Object.defineProperty(app.ctx.db, "statements", { value: statements });
    const again = await app.call("/readyz");
    expect([again.status, again.body]).toEqual([
      200,
      { status: "ok", writable: true, reason: null },
    ]);
  });

  test("a server that cannot read and has no page in memory is not ready", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const page = await app.page({ slug: "other" });
    const { statements } = app.ctx.db;
    const fail = () =>
      Object.defineProperty(app.ctx.db, "statements", {
        configurable: true,
        get: () => {
          throw sqliteError("SQLITE_IOERR_READ");
        },
      });
    const mend = () =>
      Object.defineProperty(app.ctx.db, "statements", { configurable: true, value: statements });
    fail();
    expectProblem(await app.call("/readyz"), "unavailable");
    mend();
    await app.call("/status/other");
    fail();
    expect((await app.call("/readyz")).status).toBe(200);
    // The snapshot of a changed page is dropped.
    app.ctx.signals.pageChanged.emit(page.page.id);
    expectProblem(await app.call("/readyz"), "unavailable");
    mend();
    await app.call("/status/other");
    fail();
    app.app.readiness.isDraining = true;
    expectProblem(await app.call("/readyz"), "unavailable");
  });
});
