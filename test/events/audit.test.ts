import { describe, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { selectMany } from "../../src/db/statements";
import { auditLog } from "../../src/db/tables/events";
import { recordAudits } from "../../src/events/audit";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp } from "../support/app";
import { outcomesOf } from "../support/database";
import { createPage } from "../support/examined";

const listEntries = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(auditLog).orderBy(asc(auditLog.id)),
);

const ENTRY = {
  actor: { kind: "user" as const, id: "usr_1", label: "Ada", ip: "203.0.113.7" },
  action: "page.rename",
  targetId: "page_1",
  summary: "Renamed the page",
  at: 1_000,
};

describe("an audit entry", () => {
  test("an audit entry contains actor, action, target, time and client address", async () => {
    await using app = await createTestApp();
    await app.ctx.db.write((tx) => {
      recordAudits(tx, [ENTRY, { ...ENTRY, actor: CLI_ACTOR }]);
    });
    const { actor: _actor, ...facts } = ENTRY;
    expect(listEntries(app.ctx.db, {})).toEqual([
      {
        id: 1,
        ...facts,
        ip: "203.0.113.7",
        actorKind: "user",
        actorId: "usr_1",
        actorLabel: "Ada",
      },
      {
        id: 2,
        ...facts,
        ip: null,
        actorKind: CLI_ACTOR.kind,
        actorId: CLI_ACTOR.id,
        actorLabel: CLI_ACTOR.label,
      },
    ]);
  });

  test("a change that is part of an action leaves no audit entry besides that of the action", async () => {
    await using app = await createTestApp();
    const actor = { ...CLI_ACTOR, partOf: "import.run" };
    await app.ctx.db.write((tx) => {
      recordAudits(tx, [
        { ...ENTRY, actor },
        { ...ENTRY, actor, action: "import.run" },
        { ...ENTRY, action: "page.delete" },
      ]);
      recordAudits(tx, [{ ...ENTRY, actor }]);
    });
    const actions = listEntries(app.ctx.db, {}).map(({ action }) => action);
    expect(actions).toEqual(["import.run", "page.delete"]);
  });

  test("an audit entry is committed and rolled back with its change", async () => {
    await using app = await createTestApp();
    const create = (slug: string, fails: boolean) =>
      app.ctx.db.write((tx) => {
        createPage(app.ctx, tx, { slug, name: slug }, CLI_ACTOR);
        if (fails) throw new Error("the change failed");
      });
    const outcomes = await outcomesOf(create("undone", true), create("kept", false));
    expect(outcomes).toEqual(["the change failed", "stored"]);
    expect(app.audit().map((entry) => entry.summary)).toEqual([expect.stringContaining("kept")]);
    const key = await app.keyWith("read:status");
    const pages = await app.call("/api/v1/status", { key });
    expect(pages.body.data).toHaveLength(1);
    expect(pages.body.data[0].page.slug).toBe("kept");
  });

  test("an audit entry of an unknown kind of actor is rejected with its change", async () => {
    await using app = await createTestApp();
    const [outcome] = await outcomesOf(
      app.ctx.db.write((tx) => {
        createPage(app.ctx, tx, { slug: "acme", name: "Acme" }, CLI_ACTOR);
        recordAudits(tx, [{ ...ENTRY, actor: { ...ENTRY.actor, kind: "nobody" as never } }]);
      }),
    );
    expect(outcome).toContain("CHECK constraint failed");
    expect(app.audit()).toEqual([]);
  });
});
