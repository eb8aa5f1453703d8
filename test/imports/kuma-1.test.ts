import { describe, expect, test } from "bun:test";
import { monitorNamed, readFixture } from "../support/kuma-fixture";
import { SECRET } from "./fixtures/uptime-kuma/objects";

const found = await readFixture("1.23.17");
const newer = await readFixture("2.5.3");
const monitor = (name: string) => monitorNamed(found, name);

describe("a database of Uptime Kuma 1.23.17", () => {
  test("has only tables, columns and types that are known, but for the planted type", () => {
    expect(found.notRead).toEqual(["monitor type of-the-future"]);
  });

  test("gives the same monitors as 2.5.3, but for what only that has", () => {
    for (const { body, tokens, disabled, held } of found.monitors) {
      const same = monitorNamed(newer, body.name);
      expect({ name: body.name, type: body.type }).toEqual({
        name: same.body.name,
        type: same.body.type,
      });
      expect([body.name, tokens, disabled, held]).toEqual([
        same.body.name,
        same.tokens,
        same.disabled,
        same.held,
      ]);
      expect(body.group).toBe(same.body.group as string);
    }
    expect(found.monitors).toHaveLength(38);
  });

  test("has requests, whose newer settings have no values", () => {
    const { body, changes } = monitor("Request");
    expect(body.config).toMatchObject({
      url: "http://127.0.0.1/path?a=b",
      headers: { Authorization: `Basic ${btoa(`kuma:${SECRET}url`)}` },
      assertions: [{ source: "status", op: "in", value: ["200-299", "401"] }],
    });
    expect(body.config).not.toHaveProperty("ip_family");
    expect(changes.map(({ field }) => field)).toEqual(["maxredirects"]);
  });

  test("compares JSON for equality, since it knows no other comparison", () => {
    expect(monitor("JSON").body.config).toMatchObject({
      assertions: [{}, { property: "$.checks[0].status", op: "eq", value: "ok" }],
    });
  });

  test("counts the days of maintenance with an interval from its start", () => {
    const schedule = found.schedules.find(({ body }) => body.name === "Every third day");
    expect(schedule).toMatchObject({
      body: { cron: "30 2 * * *", every_days: 3, starts_on: "2026-02-01" },
      changes: [{ field: "cron", from: "30 2 */3 * *", to: "every 3 days" }],
    });
  });

  test("has open only the incident that its page shows", () => {
    const statuses = found.incidents.map(({ body }) => [body.name, body.updates[0]?.status]);
    expect(statuses).toEqual([
      ["Slow answers", "resolved"],
      ["Outage", "resolved"],
      ["News", "investigating"],
    ]);
  });

  test("has pages, places and notifications as 2.5.3 has them", () => {
    const namesOf = (list: readonly { body: object }[]) =>
      list.map(({ body }) => ("name" in body ? body.name : JSON.stringify(body)));
    expect(namesOf(found.pages)).toEqual(namesOf(newer.pages));
    expect(namesOf(found.groups)).toEqual(namesOf(newer.groups));
    expect(namesOf(found.components)).toEqual(
      namesOf(newer.components).filter((name) => name !== "By hand"),
    );
    expect(namesOf(found.webhooks)).toEqual(namesOf(newer.webhooks));
    expect(namesOf(found.maintenance)).toEqual(namesOf(newer.maintenance));
  });
});
