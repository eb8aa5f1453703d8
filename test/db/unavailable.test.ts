import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { startChild } from "../support/child";
import { settle } from "../support/clock";
import { temporaryFolder } from "../support/temporary-folder";
import { hasTinyDisks, mountTinyDisk } from "../support/tiny-disk";

/** An app with a page, a component, and a key that may do what the tests do. */
async function fillDemoData(databasePath: string) {
  const app = await createTestApp({ databasePath });
  const { components } = await app.page({ slug: "acme" }, ["API"]);
  const component = components["API"] ?? "";
  const key = await app.keyWith("read:status", "write:components");
  const setStatus = (status: string) =>
    app.call(`/api/v1/components/${component}`, { method: "PATCH", key, json: { status } });
  return { app, component, key, setStatus };
}

function expectNothingWritten(app: TestApp): void {
  expect(app.events()).toEqual([]);
  expect(app.audit().filter((entry) => entry.action.startsWith("component.update"))).toEqual([]);
}

/** Every read that a visitor or a program makes, and the clock's own work. */
async function expectReadsGoOn(app: TestApp, component: string, key: string): Promise<void> {
  let ticks = 0;
  const ticking = app.clock.every(1_000, () => ticks++);
  const page = await app.call("/api/v1/status/acme", { key });
  expect(page.status).toBe(200);
  expect(page.body.components[0].status).toBe("operational");
  const one = await app.call(`/api/v1/components/${component}`, { key });
  expect(one.status).toBe(200);
  expect(one.body.status).toBe("operational");
  expect((await app.call("/status/acme")).status).toBe(200);
  expect((await app.call("/healthz")).status).toBe(200);
  expect((await app.call("/readyz")).status).toBe(200);
  await app.clock.advance(3_000);
  ticking.cancel();
  expect(ticks).toBe(3);
}

describe.skipIf(!hasTinyDisks())("a server whose disk is full", () => {
  test("a change on a full disk is 503 with Retry-After and writes nothing, while reads continue", async () => {
    using disk = mountTinyDisk();
    const { app, component, key, setStatus } = await fillDemoData(join(disk.path, "allclear.db"));
    await using _ = app;
    disk.fill();

    const rejected = await setStatus("major_outage");
    expectProblem(rejected, "unavailable");
    expect(rejected.headers.get("retry-after")).toBe("5");
    expect(rejected.text).not.toMatch(/sqlite|disk|full/i);
    await expectReadsGoOn(app, component, key);
    expectNothingWritten(app);

    disk.free();
    const stored = await setStatus("major_outage");
    expect(stored.status).toBe(200);
    expect(stored.body).toMatchObject({ status: "major_outage", version: 2 });
    expect(app.events().map((event) => event.type)).toEqual(["component.status_changed"]);
    const page = await app.call("/api/v1/status/acme", { key });
    expect(page.body.components[0].status).toBe("major_outage");
  });

  test("counted requests of keys are kept on a full disk until they can be stored", async () => {
    using disk = mountTinyDisk();
    const { app, key } = await fillDemoData(join(disk.path, "allclear.db"));
    await using _ = app;
    const reader = new Database(join(disk.path, "allclear.db"), { readonly: true });
    using _reader = reader;
    const count = () =>
      reader.query<{ ok: number | null }, []>("SELECT sum(ok) AS ok FROM api_key_hours").get()?.ok;
    disk.fill();
    for (let i = 0; i < 3; i++) await app.call("/api/v1/status/acme", { key });
    await app.clock.advance(10_000);
    expect(count()).toBeNull();

    disk.free();
    await app.clock.advance(5_000);
    expect(count()).toBe(3);
  });
});

describe("a server whose database another process has locked", () => {
  test("a change is 503 after another process held the database for five seconds, while reads continue", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    const { app, component, key, setStatus } = await fillDemoData(databasePath);
    await using _ = app;
    await using child = startChild("hold-write-lock.ts", databasePath);
    expect(await child.line()).toBe("held");

    const waiting = setStatus("major_outage");
    await settle();
    await expectReadsGoOn(app, component, key);
    await app.clock.advance(2_000);
    const rejected = await waiting;
    expectProblem(rejected, "unavailable");
    expect(rejected.headers.get("retry-after")).toBe("5");
    expect(rejected.text).not.toMatch(/sqlite|lock/i);
    expectNothingWritten(app);

    child.send("let go");
    expect(await child.line()).toBe("released");
    const again = setStatus("major_outage");
    await app.clock.advance(25);
    expect((await again).status).toBe(200);
    expect(app.events()).toHaveLength(1);
  });

  test("a change that waited less than five seconds is stored and answered as usual", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    const { app, setStatus } = await fillDemoData(databasePath);
    await using _ = app;
    using other = new Database(databasePath);
    other.run("BEGIN IMMEDIATE");

    const waiting = setStatus("major_outage");
    await app.clock.advance(4_000);
    expectNothingWritten(app);
    other.run("COMMIT");
    await app.clock.advance(25);
    const answer = await waiting;
    expect(answer.status).toBe(200);
    expect(answer.body.status).toBe("major_outage");
    expect(app.events()).toHaveLength(1);
  });
});
