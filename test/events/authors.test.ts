import { describe, expect, test } from "bun:test";
import { authorsOf } from "../../src/events/audit-search";
import { recordAudits } from "../../src/events/audit";
import type { Actor } from "../../src/base/actor";
import { createTestApp, type TestApp } from "../support/app";

const NOON = Date.parse("2026-03-10T12:00:00Z");

const by = (label: string): Actor => ({ kind: "user", id: null, label });

/** Writes an audit entry at a time in milliseconds after noon. */
function log(app: TestApp, label: string, after: number, action = "thing.add", targetId = "a") {
  return app.ctx.db.write((tx) =>
    recordAudits(tx, [{ actor: by(label), action, targetId, summary: "x", at: NOON + after }]),
  );
}

function authors(app: TestApp, steps: Record<string, number>) {
  const written = Object.entries(steps).map(([id, after]) => ({ id, createdAt: NOON + after }));
  const found = authorsOf(app.ctx.db, "a", ["thing.add"], written);
  return Object.fromEntries([...found].map(([id, { label }]) => [id, label]));
}

describe("authors of several updates", () => {
  test("authors are read from the audit log in order, even if updates are close together", async () => {
    await using app = await createTestApp();
    await log(app, "Ada", 0);
    await log(app, "Grace", 0);
    await log(app, "Jonas", 400);
    expect(authors(app, { one: 0, two: 0, three: 399 })).toEqual({
      one: "Ada",
      two: "Grace",
      three: "Jonas",
    });
  });

  test("an author is unknown if the audit entry is gone, and later ones are still known", async () => {
    await using app = await createTestApp();
    await log(app, "Grace", 60_000);
    expect(authors(app, { one: 0, two: 60_000, three: 120_000 })).toEqual({ two: "Grace" });
  });

  test("another action on the object or the same action on another object names no author", async () => {
    await using app = await createTestApp();
    await log(app, "Ada", 0, "thing.edit");
    await log(app, "Grace", 0, "thing.add", "b");
    expect(authors(app, { one: 0 })).toEqual({});
  });
});
