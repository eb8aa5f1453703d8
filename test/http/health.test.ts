import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { settle } from "../support/clock";
import { committedTransactions } from "../support/database";
import { readHtml } from "../support/html";
import { damageTable } from "../support/damage-table";
import { temporaryFolder } from "../support/temporary-folder";
import { hasTinyDisks, mountTinyDisk } from "../support/tiny-disk";

const READY = { status: "ok", writable: true, reason: null };
const FULL = "The disk is full.";
const MOVED = "The data directory was moved, deleted or replaced while the server ran.";
const NOT_STORED = "The change could not be stored. Nothing was written; try again.";
const DAMAGED = "The database file is damaged.";

/** Answers of the two checks: the body of `/readyz` and the status and reason of `/readyz/write`. */
async function readinessOf(app: TestApp) {
  const ready = await app.call("/readyz");
  expect(ready.status).toBe(200);
  const write = await app.call("/readyz/write");
  return { ready: ready.body, write: [write.status, write.body.detail ?? write.body.reason] };
}

/** App on a file in `folder`, with one component and a function that sets its status over HTTP. */
async function createSite(folder: string) {
  const databasePath = join(folder, "allclear.db");
  const app = await createTestApp({ databasePath });
  const { components } = await app.page({ slug: "acme" }, ["API"]);
  const key = await app.keyWith("read:status", "write:components");
  const setStatus = (status: string) =>
    app.call(`/api/v1/components/${components["API"]}`, { method: "PATCH", key, json: { status } });
  const history = () => app.call(`/api/v1/components/${components["API"]}/history`, { key });
  const session = await app.signedIn("viewer");
  const notices = async () =>
    readHtml((await app.call("/admin", { session })).text).texts(".notice");
  const scraper = await app.keyWith("read:analytics");
  const metric = async (name: string) => {
    const { text } = await app.call("/metrics", { key: scraper });
    return new RegExp(`^allclear_database_${name} (.*)$`, "m").exec(text)?.[1];
  };
  return { app, databasePath, setStatus, history, notices, metric };
}

test("a draining server answers, and closes each connection after its answer", async () => {
  await using app = await createTestApp();
  await app.page({ slug: "acme" });
  const paths = ["/healthz", "/readyz", "/status/acme", "/unknown"];
  const closes = () =>
    Promise.all(paths.map(async (path) => (await app.call(path)).headers.get("connection")));
  expect(await closes()).toEqual(paths.map(() => null));
  app.app.readiness.isDraining = true;
  expect(await closes()).toEqual(paths.map(() => "close"));
});

describe("the readiness of a healthy server", () => {
  test("a healthy server is ready and writable", async () => {
    await using app = await createTestApp();
    expect(await readinessOf(app)).toEqual({ ready: READY, write: [200, null] });
  });

  test("readiness for writes needs at most one write in two seconds, and none after a stored change", async () => {
    using folder = temporaryFolder();
    const { app, databasePath, setStatus } = await createSite(folder.path);
    await using _ = app;
    const committed = () => committedTransactions(databasePath);
    const atStart = committed();
    for (let i = 0; i < 20; i++) expect((await app.call("/readyz/write")).status).toBe(200);
    expect(committed() - atStart).toBe(0);
    await app.clock.advance(2_000);
    const concurrent = Array.from({ length: 20 }, () => app.call("/readyz/write"));
    expect(new Set((await Promise.all(concurrent)).map(({ status }) => status))).toEqual(
      new Set([200]),
    );
    expect(committed() - atStart).toBe(1);
    await app.clock.advance(2_000);
    expect((await setStatus("degraded_performance")).status).toBe(200);
    const afterChange = committed();
    expect((await app.call("/readyz/write")).status).toBe(200);
    expect(committed()).toBe(afterChange);
  });

  test("readiness is 503 while the server shuts down", async () => {
    await using app = await createTestApp();
    app.app.readiness.isDraining = true;
    for (const path of ["/readyz", "/readyz/write"]) {
      const { detail } = expectProblem(await app.call(path), "unavailable");
      expect(detail).toBe("The server is shutting down.");
    }
  });
});

describe.skipIf(!hasTinyDisks())("the readiness of a server whose disk is full", () => {
  test("readiness for writes is 503 on a full disk until there is space", async () => {
    using disk = mountTinyDisk("4m");
    const { app, notices, metric } = await createSite(disk.path);
    await using _ = app;
    disk.fill();
    await app.clock.advance(5_000);
    expect(await readinessOf(app)).toMatchObject({ ready: READY, write: [503, FULL] });
    const ready = { status: "ok", writable: false, reason: FULL };
    expect(await readinessOf(app)).toEqual({ ready, write: [503, FULL] });
    expect((await app.call("/status/acme")).status).toBe(200);
    expect(await notices()).toEqual([expect.stringMatching(/^Changes cannot be stored.*full/)]);
    expect(await metric("writable")).toBe("0");

    disk.free();
    await app.clock.advance(1_000);
    expect(await readinessOf(app)).toEqual({ ready: READY, write: [200, null] });
    expect(await metric("writable")).toBe("1");
    expect(await notices()).toEqual([]);
  });

  test("readiness follows rejected and stored changes without a check in between", async () => {
    using disk = mountTinyDisk("4m");
    const { app, setStatus } = await createSite(disk.path);
    await using _ = app;
    disk.fill();
    expectProblem(await setStatus("major_outage"), "unavailable");
    expect((await app.call("/readyz")).body).toMatchObject({ writable: false, reason: FULL });
    disk.free();
    expect((await setStatus("major_outage")).status).toBe(200);
    expect(await readinessOf(app)).toEqual({ ready: READY, write: [200, null] });
    const said = app.logged.map(({ msg }) => msg);
    expect(said).toContain("changes cannot be stored; status pages are served read-only");
    expect(said.at(-1)).toBe("changes are stored again");
  });

  test("readiness for writes is not restored by a request that stores nothing", async () => {
    using disk = mountTinyDisk("4m");
    const { app, setStatus } = await createSite(disk.path);
    await using _ = app;
    disk.fill();
    expectProblem(await setStatus("major_outage"), "unavailable");
    await app.ctx.db.write(() => "nothing");
    expect((await app.call("/readyz")).body.writable).toBe(false);
  });
});

describe("the readiness of a server whose database another process has locked", () => {
  test("readiness for writes is 503 within five seconds while another process writes, until the lock is released", async () => {
    using folder = temporaryFolder();
    const { app, databasePath } = await createSite(folder.path);
    await using _ = app;
    using other = new Database(databasePath);
    other.run("BEGIN IMMEDIATE");
    const answers: Promise<{ second: number; status: number; detail: unknown }>[] = [];
    const answersAt = async (second: number) => {
      const { status, body } = await app.call("/readyz/write");
      return { second, status, detail: body.detail };
    };
    for (let second = 0; second <= 5; second++) {
      answers.push(answersAt(second));
      if (second < 5) await app.clock.advance(1_000);
    }
    const locked = { status: 503, detail: "Another process holds the database." };
    expect(await Promise.all(answers)).toEqual([
      { second: 0, status: 200, detail: undefined },
      { second: 1, status: 200, detail: undefined },
      ...[2, 3, 4, 5].map((second) => ({ second, ...locked })),
    ]);
    // The clock does not move while these are answered, so none waits for a timer.
    for (let second = 6; second <= 20; second++) {
      await app.clock.advance(1_000);
      expect(await answersAt(second)).toEqual({ second, ...locked });
    }
    other.run("COMMIT");
    await app.clock.advance(1_025);
    expect(await readinessOf(app)).toEqual({ ready: READY, write: [200, null] });
  });
});

describe("the readiness of a server whose change waits for a locked database", () => {
  test("readiness for writes is 503 at once if a change has waited two seconds, and 200 once that is stored", async () => {
    using folder = temporaryFolder();
    const { app, databasePath, setStatus } = await createSite(folder.path);
    await using _ = app;
    using other = new Database(databasePath);
    other.run("BEGIN IMMEDIATE");
    const change = setStatus("major_outage");
    await settle();
    await app.clock.advance(2_000);
    const { detail } = expectProblem(await app.call("/readyz/write"), "unavailable");
    expect(detail).toBe("Another process holds the database.");
    other.run("COMMIT");
    await app.clock.advance(25);
    expect((await change).status).toBe(200);
    expect(await readinessOf(app)).toEqual({ ready: READY, write: [200, null] });
  });
});

describe("a server whose data directory was moved away", () => {
  test("a server whose data directory was moved rejects changes, serves pages, and stores changes once it is back", async () => {
    using folder = temporaryFolder();
    const [here, away] = [join(folder.path, "data"), join(folder.path, "elsewhere")];
    mkdirSync(here);
    const { app, setStatus, notices } = await createSite(here);
    await using _ = app;
    renameSync(here, away);
    const rejected = await setStatus("major_outage");
    expect(expectProblem(rejected, "unavailable").detail).toBe(NOT_STORED);
    expect(rejected.text).not.toContain(MOVED);
    const rejections = app.logged.filter(({ msg }) => msg === "changes could not be stored");
    expect(rejections).toMatchObject([{ err: { message: MOVED } }]);
    const ready = { status: "ok", writable: false, reason: MOVED };
    expect(await readinessOf(app)).toEqual({ ready, write: [503, MOVED] });
    expect((await app.call("/status/acme")).status).toBe(200);
    expect(app.events()).toEqual([]);
    expect(await notices()).toEqual([expect.stringContaining(MOVED)]);

    renameSync(away, here);
    expect((await setStatus("major_outage")).status).toBe(200);
    expect(await readinessOf(app)).toEqual({ ready: READY, write: [200, null] });
  });

  test("a server whose data directory was moved reports it at the next readiness check", async () => {
    using folder = temporaryFolder();
    const here = join(folder.path, "data");
    mkdirSync(here);
    const { app } = await createSite(here);
    await using _ = app;
    renameSync(here, `${here}-old`);
    expect((await app.call("/readyz")).body).toMatchObject({ writable: false, reason: MOVED });
  });

  test("a server whose database file was replaced rejects changes and does not alter the other file", async () => {
    using folder = temporaryFolder();
    const here = join(folder.path, "data");
    mkdirSync(here);
    const { app, databasePath, setStatus } = await createSite(here);
    await using _ = app;
    const copy = join(folder.path, "copy.db");
    copyFileSync(databasePath, copy);
    const before = readFileSync(copy);
    renameSync(copy, databasePath);
    expectProblem(await setStatus("major_outage"), "unavailable");
    expect(readFileSync(databasePath).equals(before)).toBe(true);
    expect((await app.call("/readyz/write")).body.detail).toBe(MOVED);
  });

  test("a server whose write-ahead log was deleted rejects changes", async () => {
    using folder = temporaryFolder();
    const { app, databasePath, setStatus } = await createSite(folder.path);
    await using _ = app;
    expect(statSync(`${databasePath}-wal`).size).toBeGreaterThan(0);
    rmSync(`${databasePath}-wal`);
    expectProblem(await setStatus("major_outage"), "unavailable");
    expect((await app.call("/readyz/write")).body.detail).toBe(MOVED);
  });
});

describe("a server whose database has damaged pages", () => {
  test("a damaged database is reported in readiness, metrics, log and overview, and other pages are served", async () => {
    using folder = temporaryFolder();
    const { app, databasePath, setStatus, history, notices, metric } = await createSite(
      folder.path,
    );
    await using _ = app;
    await setStatus("degraded_performance");
    expect((await history()).body.data).toHaveLength(1);
    expect((await app.call("/readyz")).body).toEqual(READY);
    expect(await metric("damaged")).toBe("0");
    damageTable(databasePath, "component_changes");
    expectProblem(await history(), "unavailable");
    expectProblem(await history(), "unavailable");
    const ready = { status: "ok", writable: true, reason: DAMAGED };
    expect((await app.call("/readyz")).body).toEqual(ready);
    expect((await app.call("/status/acme")).status).toBe(200);
    expect(await notices()).toEqual([expect.stringMatching(/^The database is damaged.*restore/)]);
    expect(await metric("damaged")).toBe("1");
    const said = app.logged.filter(({ msg }) => msg.startsWith("the database is damaged"));
    expect(said).toHaveLength(1);
  });
});
