import { describe, expect, test } from "bun:test";
import { recordAudits } from "../../../../src/events/audit";
import type { Actor } from "../../../../src/base/actor";
import { createTestApp, type TestApp } from "../../../support/app";

const FILE = "/admin/settings/activity.csv";
const HEAD = "at,actor_kind,actor_id,actor,action,target,summary,address";
const ADA: Actor = { kind: "user", id: "usr_1", label: "Ada", ip: "192.0.2.9" };

async function audit(app: TestApp, actor: Actor, ...summaries: string[]) {
  const at = app.ctx.clock.now();
  const entry = { action: "test.changed", targetId: "inc_1", at };
  await app.ctx.db.write((tx) => {
    recordAudits(
      tx,
      summaries.map((summary) => ({ ...entry, actor, summary })),
    );
  });
}

async function read(app: TestApp, query = "?action=test"): Promise<string[]> {
  const { status, text } = await app.call(FILE + query, { session: await app.signedIn("admin") });
  expect(status).toBe(200);
  expect(text).toEndWith("\r\n");
  return text.split("\r\n").slice(0, -1);
}

describe("the CSV file of the audit log", () => {
  test("the CSV file contains every field of an entry, is downloaded as a file and is not cached", async () => {
    await using app = await createTestApp();
    await audit(app, ADA, "Opened the incident");
    const session = await app.signedIn("admin");
    const { headers } = await app.call(FILE, { session });
    expect(headers.get("content-type")).toBe("text/csv;charset=utf-8");
    expect(headers.get("content-disposition")).toBe(
      'attachment; filename="allclear-activity-2026-03-10.csv"',
    );
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(await read(app)).toEqual([
      HEAD,
      "2026-03-10T12:00:00.000Z,user,usr_1,Ada,test.changed,inc_1,Opened the incident,192.0.2.9",
    ]);
  });

  test("the CSV file contains only its header if no entry matches", async () => {
    await using app = await createTestApp();
    expect(await read(app, "?q=mainframe")).toEqual([HEAD]);
  });

  test("the CSV file contains only entries that match the filters", async () => {
    await using app = await createTestApp();
    await audit(app, ADA, "One", "Two");
    await audit(app, { ...ADA, id: "usr_2" }, "Three");
    expect(await read(app, "?actor=usr_1&q=tw")).toHaveLength(2);
    expect(await read(app, "?actor=usr_1&to=2026-03-09")).toHaveLength(1);
  });

  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "  =1"])(
    "the CSV file escapes a text that a spreadsheet would read as a formula: %p",
    async (text) => {
      await using app = await createTestApp();
      await audit(app, { ...ADA, label: text }, text);
      const [, line = ""] = await read(app);
      const cells = line.split(",");
      for (const cell of [cells[3], cells[6]]) expect(cell).toMatch(/^"?'/);
    },
  );

  test("the CSV file keeps commas, quotes and line breaks within their cell", async () => {
    await using app = await createTestApp();
    await audit(app, ADA, 'Called it "a, b"\nand c');
    const text = (await read(app)).join("\r\n");
    expect(text).toContain(',"Called it ""a, b""\nand c",192.0.2.9');
  });

  test("the CSV file contains more than 1,000 entries, each once, newest first", async () => {
    await using app = await createTestApp();
    const summaries = Array.from({ length: 1_201 }, (_, index) => `Change ${index}`);
    await audit(app, ADA, ...summaries);
    const lines = await read(app);
    expect(lines.slice(1).map((line) => line.split(",")[6])).toEqual(summaries.toReversed());
  });
});
