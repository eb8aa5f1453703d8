import { describe, expect, test } from "bun:test";
import { cronTimes } from "../../../src/admin/monitors/token";
import { DAY_MS, MINUTE_MS } from "../../../src/kernel/time";
import type { Answer } from "../../support/app";
import { openForm } from "../../support/dashboard";
import { readHtml } from "../../support/html";
import {
  createMonitorDashboard,
  type MonitorDashboard,
  MONITORS,
  revealedToken,
} from "../../support/monitor-dashboard";

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
    expect(codes).toEqual([url, command, `*/5 * * * * ${command}`]);
    expect((await app.call(new URL(url).pathname)).status).toBe(200);
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
