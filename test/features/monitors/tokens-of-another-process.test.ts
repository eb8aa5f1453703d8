import { expect, test } from "bun:test";
import { addImportedTokens, type ImportedToken } from "../../../src/features/monitors/tokens";
import { createMonitoring } from "../../../src/features/monitors/engine/engine";
import { ofMonitors } from "../../../src/features/monitors/checks-store";
import { findMonitor } from "../../../src/features/monitors/store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import { anotherProcess } from "../../support/second-connection";
import { temporaryFolder } from "../../support/temporary-folder";
import { createKey, createMonitor } from "../../support/examined";

/** A server with a running engine, and a command that uses the same database. */
async function serverAndCommand() {
  const folder = temporaryFolder();
  const databasePath = `${folder.path}/allclear.db`;
  let engine: ReturnType<typeof createMonitoring> | undefined;
  const app = await createTestApp({
    databasePath,
    monitoring: (ctx) => (engine = createMonitoring(ctx)),
  });
  engine?.start();
  await app.page({ compat: ["uptime-kuma", "gatus"] });
  const command = anotherProcess(app, databasePath);
  return {
    app,
    command: command.ctx,
    /** Creates a push monitor by the command, with tokens of other products. */
    create: (name: string, tokens: readonly ImportedToken[] = []) =>
      command.ctx.db.write((tx) => {
        const body = { type: "push", name, interval_seconds: 3_600, config: {} } as const;
        const { record, token } = createMonitor(command.ctx, tx, body, CLI_ACTOR);
        addImportedTokens(command.ctx, tx, record.row.id, tokens);
        return { id: record.row.id, token: token ?? "" };
      }),
    async [Symbol.asyncDispose]() {
      await command[Symbol.asyncDispose]();
      await engine?.stop();
      await app[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Counts the statements that the server runs during `work`. */
async function statementsOf(app: TestApp, work: () => Promise<void>): Promise<number> {
  const { statements } = app.ctx.db;
  let count = 0;
  Object.defineProperty(app.ctx.db, "statements", {
    configurable: true,
    get() {
      count += 1;
      return statements;
    },
  });
  await work();
  Object.defineProperty(app.ctx.db, "statements", { configurable: true, get: () => statements });
  return count;
}

const UUID = "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278";

test.each([
  ["a generated token", undefined, (token: string) => `/api/v1/heartbeats/${token}`, {}],
  ["Uptime Kuma", { kind: "kuma", value: "abc" }, () => "/api/push/abc", {}],
  ["Healthchecks", { kind: "healthchecks", value: UUID }, () => `/ping/${UUID}`, {}],
  [
    "Gatus",
    { kind: "gatus", value: "jobs_backup\0secret" },
    () => "/api/v1/endpoints/jobs_backup/external?success=true",
    { method: "POST", headers: { authorization: "Bearer secret" } },
  ],
] as const)(
  "the first call with %s that a command has just created counts",
  async (_, imported, pathOf, options) => {
    await using both = await serverAndCommand();
    const { app, create } = both;
    // The server has read the tokens and monitors.
    expect((await app.call(pathOf("x".repeat(43)), options)).status).toBeOneOf([401, 404]);
    await app.clock.advance(1_000);
    const { id, token } = await create("Backup", imported ? [imported] : []);
    // Before the poll that notices commits of other processes.
    const calling = app.call(pathOf(token), options);
    await app.clock.advance(1_000);
    expect((await calling).status).toBe(200);
    const monitorNum = findMonitor(app.ctx.db, { id })?.num ?? 0;
    const before = Number.MAX_SAFE_INTEGER;
    expect(
      ofMonitors.listChecksBefore(app.ctx.db, { monitorNum, before, limit: 10 }),
    ).toMatchObject([{ outcome: "ok" }]);
  },
);

test("alerts count for a monitor that a command has just created", async () => {
  await using both = await serverAndCommand();
  const { app, command } = both;
  const key = await app.keyWith("write:components");
  const report = () =>
    app.call("/api/v1/alerts", {
      method: "POST",
      key,
      json: { version: "4", groupKey: "{}", alerts: [{ status: "firing", labels: { a: "1" } }] },
    });
  // The server has read the monitors.
  expect((await report()).body).toEqual({ alerts: 1, matched: 0, monitors: [] });
  const body = { type: "alert", name: "Alerts", config: { format: "alertmanager" } } as const;
  const id = await command.db.write(
    (tx) => createMonitor(command, tx, body, CLI_ACTOR).record.row.id,
  );
  // Before the poll that notices commits of other processes.
  expect((await report()).body).toEqual({ alerts: 1, matched: 1, monitors: [id] });
});

test("guessing a token or key costs no statement, or one after another process has written", async () => {
  await using both = await serverAndCommand();
  const { app, command, create } = both;
  await app.createKey();
  const stranger = await createTestApp();
  const { value } = await stranger.createKey();
  await stranger[Symbol.asyncDispose]();
  const guesses = [
    () => app.call(`/api/v1/heartbeats/${"x".repeat(43)}`),
    () => app.call("/api/push/unknown"),
    () => app.call("/api/v1/key", { key: value }),
  ];
  for (const guess of guesses) await guess();
  for (const [index, guess] of guesses.entries()) {
    const quiet = await statementsOf(app, async () => {
      for (let again = 0; again < 5; again++) expect((await guess()).status).toBeOneOf([401, 404]);
    });
    expect([index, quiet]).toEqual([index, 0]);
  }
  await create("Backup");
  await command.db.write((tx) =>
    createKey(command, tx, { name: "made elsewhere", scopes: ["read:status"] }, CLI_ACTOR),
  );
  for (const [index, guess] of guesses.entries()) {
    const after = await statementsOf(app, async () => {
      for (let again = 0; again < 5; again++) expect((await guess()).status).toBeOneOf([401, 404]);
    });
    expect([index, after]).toEqual([index, 5]);
  }
});

test("a wrong token is charged to the client address, also after another process has written", async () => {
  await using both = await serverAndCommand();
  const { app, create } = both;
  const remaining = async (path: string) => {
    const answer = await app.call(path, { from: "198.51.100.9" });
    return [answer.headers.get("ratelimit-policy")?.split(";")[0], answer.status];
  };
  const wrong = `/api/v1/heartbeats/${"x".repeat(43)}`;
  const charged = await remaining(wrong);
  expect(charged).toEqual(['"public"', 404]);
  await create("Backup");
  expect(await remaining(wrong)).toEqual(charged);
});
