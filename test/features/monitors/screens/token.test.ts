import { describe, expect, test } from "bun:test";
import { cronTimes } from "../../../../src/features/monitors/screens/token";
import { addImportedTokens, tokensOf } from "../../../../src/features/monitors/tokens";
import {
  insertMonitorToken,
  insertSignal,
  saveRun,
} from "../../../../src/features/monitors/job-store";
import { sha256 } from "../../../../src/base/hash";
import { DAY_MS, MINUTE_MS } from "../../../../src/base/time";
import type { Answer } from "../../../support/app";
import { openForm } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import {
  createMonitorDashboard,
  type MonitorDashboard,
  MONITORS,
  revealedToken,
} from "../../../support/monitor-dashboard";

const PUSH = { type: "push", config_grace_seconds: "60", interval_seconds: "300" };

async function rotate(dashboard: MonitorDashboard, id: string): Promise<Answer> {
  const path = `${MONITORS}/${id}/rotate`;
  const form = { form: await openForm(dashboard.app, path, dashboard.session) };
  return dashboard.send(path, form);
}

describe("the heartbeat address of a push monitor", () => {
  test("a new push monitor shows its heartbeat address, which works and is not cached", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const answer = await dashboard.create(PUSH);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const token = revealedToken(answer);
    expect((await app.call(`/api/v1/heartbeats/${token}`)).status).toBe(200);
  });

  test("a new push monitor shows a command and a crontab line that work unchanged", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const answer = await dashboard.create(PUSH);
    const codes = readHtml(answer.text).texts(".code code");
    const url = `https://status.test/api/v1/heartbeats/${revealedToken(answer)}`;
    const command = `curl -fsS -m 10 --retry 3 -o /dev/null ${url}`;
    expect(codes).toEqual([
      url,
      command,
      `${command}/start`,
      `${command}/fail`,
      `${command}/$?`,
      `*/5 * * * * ${command}`,
    ]);
    for (const end of ["", "/start", "/fail", "/0"]) {
      expect((await app.call(new URL(url).pathname + end)).status).toBe(200);
    }
  });

  test("the crontab line of a push monitor with a schedule has its times", async () => {
    await using dashboard = await createMonitorDashboard();
    const fields = { timing: "schedule", config_schedule: "30 2 * * 1-5" };
    const answer = await dashboard.create({ ...PUSH, ...fields });
    expect(readHtml(answer.text).texts(".code code").at(-1)).toStartWith("30 2 * * 1-5 curl ");
    expect(answer.text).toContain("Cron uses the time zone of its machine, this schedule UTC.");
  });

  test.each(["0 3 L * *", "0 3 15W * *", "0 3 LW * *", "0 3 * * SUN#1", "0 3 * * 5L"])(
    "the schedule %s, which cron does not know, has no crontab line",
    async (schedule) => {
      await using dashboard = await createMonitorDashboard();
      const fields = { timing: "schedule", config_schedule: schedule };
      const answer = await dashboard.create({ ...PUSH, ...fields });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain("Crontab line");
    },
  );

  test("a schedule with names of months and days has a crontab line", async () => {
    await using dashboard = await createMonitorDashboard();
    const fields = { timing: "schedule", config_schedule: "0 3 * JUL WED" };
    expect((await dashboard.create({ ...PUSH, ...fields })).text).toContain("Crontab line");
  });

  test("the heartbeat token is on no other screen and in no log, audit entry or event", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const token = revealedToken(await dashboard.create(PUSH));
    const list = await dashboard.open();
    const [home = ""] = readHtml(list.text).attributes(".row-link", "href");
    const pages = [
      list,
      ...(await Promise.all(["", "/edit", "/rotate"].map((it) => dashboard.open(home + it)))),
    ];
    const seen = JSON.stringify([pages, app.audit(), app.events(), app.logged]);
    expect(seen).not.toContain(token);
    expect(seen).toContain(home);
  });

  test("rotating the heartbeat token shows the new one and ends the old one", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const before = revealedToken(await dashboard.create(PUSH));
    const [home = ""] = readHtml((await dashboard.open()).text).attributes(".row-link", "href");
    const after = revealedToken(await rotate(dashboard, home.slice(MONITORS.length + 1)));
    expect(after).not.toBe(before);
    expect((await app.call(`/api/v1/heartbeats/${before}`)).status).toBe(404);
    expect((await app.call(`/api/v1/heartbeats/${after}`)).status).toBe(200);
    expect(app.audit().at(-1)?.action).toBe("monitor.rotate_token");
  });

  test("a monitor without heartbeats has no token to rotate", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    const before = dashboard.written();
    expect((await dashboard.open(`${MONITORS}/${id}/rotate`)).headers.get("location")).toBe(
      `${MONITORS}/${id}`,
    );
    expect((await dashboard.send(`${MONITORS}/${id}/rotate`, { form: "x" })).status).toBe(409);
    expect(dashboard.written()).toEqual(before);
  });
});

describe("the tokens of a push monitor", () => {
  /** Creates a push monitor with a generated token and one of another product. Returns its id. */
  async function makeJob({ app, make }: MonitorDashboard): Promise<string> {
    const id = await make({ type: "push", name: "Backup", config: {} });
    const token = { hash: sha256("kuma-token"), monitorId: id, kind: "kuma" } as const;
    await app.ctx.db.write((tx) => {
      insertMonitorToken(tx, { ...token, createdAt: app.clock.now() + 1, lastUsedAt: 1 });
    });
    return id;
  }

  const tokenRows = (html: string) =>
    readHtml(html)
      .texts("#monitor-tokens li")
      .map((text) => text.replace(/\s+/g, " "));
  const linksOn = (html: string) => readHtml(html).attributes("#monitor-tokens a", "href");

  test("the screen of a push monitor lists kind, creation and last use of each token, and no value or hash", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await makeJob(dashboard);
    const { text } = await dashboard.open(`${MONITORS}/${id}`);
    const rows = tokenRows(text);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(/^Generated by Allclear.*never used/);
    expect(rows[1]).toMatch(/^From Uptime Kuma.*last used/);
    expect(text).not.toContain(sha256("kuma-token").toString("hex"));
    expect(text).not.toContain("kuma-token");
  });

  test.each([
    ["admin", true],
    ["viewer", false],
  ] as const)(
    "a %s is told of an imported token with fewer than 16 characters: rotation %p",
    async (role, canRotate) => {
      await using dashboard = await createMonitorDashboard();
      const { app } = dashboard;
      const id = await makeJob(dashboard);
      const path = `${MONITORS}/${id}`;
      const session = await app.signedIn(role);
      const card = async () =>
        readHtml((await app.call(path, { session })).text).texts("#monitor-tokens")[0];
      expect(await card()).not.toContain("Fewer than 16 characters");
      const { db } = app.ctx;
      const token = { kind: "kuma", value: "a".repeat(15) } as const;
      await db.write((tx) => addImportedTokens(app.ctx, tx, id, [token]));
      const html = readHtml((await app.call(path, { session })).text);
      expect(html.texts("#monitor-tokens")[0]).toContain("so it can be guessed");
      expect(
        html.texts("#monitor-tokens li").filter((text) => text.includes("Fewer than 16")),
      ).toHaveLength(1);
      const links = html.attributes("#monitor-tokens a", "href");
      expect(links.includes(`${path}/rotate`)).toBe(canRotate);
      const [short] = tokensOf(db, id).filter(({ isShort }) => isShort);
      await dashboard.send(`${path}/tokens/${short?.key}/end`, {});
      expect(await card()).not.toContain("Fewer than 16 characters");
    },
  );

  test("ending a token asks first, keeps the other and is audited", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await makeJob(dashboard);
    const [, path = ""] = linksOn((await dashboard.open(`${MONITORS}/${id}`)).text);
    const question = await dashboard.open(path);
    expect(question.text).toContain("From Uptime Kuma. Calls with it are refused from now on");
    const ended = await dashboard.send(path, {});
    expect([ended.status, ended.headers.get("location")]).toEqual([303, `${MONITORS}/${id}`]);
    expect(dashboard.app.audit().at(-1)).toMatchObject({
      action: "monitor.end_token",
      summary: "Ended a token of the monitor “Backup” (kuma)",
    });
    const { text } = await dashboard.open(`${MONITORS}/${id}`);
    expect(tokenRows(text)).toHaveLength(1);
    expect(dashboard.stored(id).row.version).toBe(2);
  });

  test("ending the generated token ends its calls, and a rotation generates another", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const token = revealedToken(await dashboard.create(PUSH));
    const [home = ""] = readHtml((await dashboard.open()).text).attributes(".row-link", "href");
    const [path = ""] = linksOn((await dashboard.open(home)).text);
    expect((await dashboard.send(path, {})).status).toBe(303);
    expect((await app.call(`/api/v1/heartbeats/${token}`)).status).toBe(404);
    expect((await dashboard.open(home)).text).toContain("No token. Rotate the token");
    const after = revealedToken(await rotate(dashboard, home.slice(MONITORS.length + 1)));
    expect((await app.call(`/api/v1/heartbeats/${after}`)).status).toBe(200);
  });

  test("an ended or unknown token cannot be ended", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await makeJob(dashboard);
    const [path = ""] = linksOn((await dashboard.open(`${MONITORS}/${id}`)).text);
    await dashboard.send(path, {});
    const before = dashboard.written();
    expect((await dashboard.open(path)).headers.get("location")).toBe(`${MONITORS}/${id}`);
    expect((await dashboard.send(path, {})).status).toBe(404);
    expect((await dashboard.send(`${MONITORS}/${id}/tokens/x/end`, {})).status).toBe(404);
    expect(dashboard.written()).toEqual(before);
  });

  test("an editor sees the tokens and cannot end them", async () => {
    await using dashboard = await createMonitorDashboard("editor");
    const id = await makeJob(dashboard);
    const { text } = await dashboard.open(`${MONITORS}/${id}`);
    expect(tokenRows(text)).toHaveLength(2);
    expect(linksOn(text)).toEqual([]);
    const [token] = tokensOf(dashboard.app.ctx.db, id);
    const path = `${MONITORS}/${id}/tokens/${token?.key}/end`;
    expect((await dashboard.open(path)).status).toBe(403);
    expect((await dashboard.send(path, {})).status).toBe(403);
  });
});

describe("the signals of a push monitor", () => {
  test("the screen of a push monitor shows its last signals, open runs and commands", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const id = await dashboard.make({ type: "push", name: "Backup", config: {} });
    const monitorNum = dashboard.stored(id).row.num;
    const at = app.clock.now();
    const none = { rid: "", exitCode: null, startedAt: null, durationMs: null, message: null };
    await app.ctx.db.write((tx) => {
      insertSignal(tx, { ...none, monitorNum, at, kind: "log", message: "<b>half</b>" });
      insertSignal(tx, {
        ...none,
        monitorNum,
        at,
        kind: "fail",
        rid: "run-7",
        exitCode: 3,
        startedAt: at - 90_000,
        durationMs: 90_000,
      });
      saveRun(tx, { monitorNum, rid: "old", startedAt: at - 61_000 });
      saveRun(tx, { monitorNum, rid: "new", startedAt: at - 5_000 });
    });
    const { text } = await dashboard.open(`${MONITORS}/${id}`);
    const rows = readHtml(text).texts("#monitor-signals tbody tr");
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(/^FailedExit code 3Started at .*1 min ago.*Run run-7.*1 min 30 s$/);
    expect(rows[1]).toMatch(/^Message<b>half<\/b>/);
    const runs = readHtml(text).texts("#monitor-runs li");
    expect(runs[0]).toMatch(/^RunningStarted .*, run new$/);
    expect(runs[1]).toMatch(/^Not finished in timeStarted .*, run old$/);
    const command =
      "curl -fsS -m 10 --retry 3 -o /dev/null https://status.test/api/v1/heartbeats/TOKEN";
    expect(
      readHtml(text)
        .texts(".code code")
        .filter((code) => code.startsWith("curl")),
    ).toEqual([command, `${command}/start`, `${command}/fail`, `${command}/$?`]);
  });

  test("the screen of another type has no signals, tokens and commands", async () => {
    await using dashboard = await createMonitorDashboard();
    const { text } = await dashboard.open(`${MONITORS}/${await dashboard.make()}`);
    expect(text).not.toMatch(/monitor-(runs|signals|tokens)|heartbeats/);
  });
});

describe("the crontab line of a push monitor", () => {
  const TIMES: [seconds: number, times: string | undefined][] = [
    [5, undefined],
    [59, undefined],
    [60, "* * * * *"],
    [90, "* * * * *"],
    [300, "*/5 * * * *"],
    [420, "*/6 * * * *"],
    [3_599, "*/30 * * * *"],
    [3_600, "0 * * * *"],
    [18_000, "0 */4 * * *"],
    [86_400, "0 0 * * *"],
  ];
  test.each(TIMES)(
    "the times of the crontab line are never further apart than the interval of %d s",
    (seconds, times) => {
      expect(cronTimes(seconds)).toBe(times as string);
      expect(widestGap(times) ?? 0).toBeLessThanOrEqual(seconds * 1_000);
    },
  );
});

/** The longest time between two runs, in ms, from the minutes of two days. */
function widestGap(times: string | undefined): number | undefined {
  if (times === undefined) return undefined;
  const [minute = "", hour = ""] = times.split(" ");
  const fits = (field: string, value: number) =>
    field === "*" ||
    (field.startsWith("*/") ? value % Number(field.slice(2)) === 0 : value === Number(field));
  const minutes = Array.from({ length: (3 * DAY_MS) / MINUTE_MS }, (_, at) => at);
  const runs = minutes.filter(
    (at) => fits(minute, at % 60) && fits(hour, Math.floor(at / 60) % 24),
  );
  return Math.max(...runs.slice(1).map((at, index) => at - (runs[index] ?? at))) * MINUTE_MS;
}
