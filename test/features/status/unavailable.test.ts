import { describe, expect, test } from "bun:test";
import type { AppContext } from "../../../src/context";
import { unavailable } from "../../../src/errors";
import { createSnapshots } from "../../../src/features/status";
import { HOUR_MS } from "../../../src/kernel/time";
import { createTestApp } from "../../support/app";

/** A context whose database answers as long as `error` is undefined. */
function withFault(ctx: AppContext) {
  const fault: { error: Error | undefined } = { error: undefined };
  const db = Object.create(ctx.db, {
    statements: {
      get() {
        if (fault.error) throw fault.error;
        return ctx.db.statements;
      },
    },
  }) as AppContext["db"];
  return { ctx: { ...ctx, db }, fault };
}

describe("a status page while the database is unavailable", () => {
  test("an outdated snapshot is served until the database can be read again", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const { ctx, fault } = withFault(app.ctx);
    const snapshots = createSnapshots(ctx);
    const first = snapshots.read("acme", app.clock.now());
    const later = app.clock.now() + HOUR_MS;
    fault.error = unavailable("The database cannot answer now; try again.", 5);
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
    fault.error = unavailable("The database cannot answer now; try again.", 5);
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
});
