import { describe, expect, test } from "bun:test";
import { trimKeyUse } from "../../../src/features/keys/usage";
import { CLI_ACTOR } from "../../../src/base/actor";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../src/base/time";
import { createAnalyticsSite } from "../../support/analytics";
import { createPage } from "../../support/examined";

describe("request analytics", () => {
  test("requests are counted by key, hour and result, with the last use of each key", async () => {
    await using site = await createAnalyticsSite();
    const { app } = site;
    const busy = await app.createKey({ name: "Busy", rate_limit: 5, scopes: ["read:status"] });
    const idle = await app.createKey({ name: "Idle" });
    const status = (path = "acme") => app.call(`/api/v1/status/${path}`, { key: busy.value });
    for (let i = 0; i < 3; i++) await status();
    await status("nowhere");
    await app.clock.advance(HOUR_MS);
    for (let i = 0; i < 7; i++) await status();
    await app.clock.advance(10 * SECOND_MS);
    const path = "requests?from=2026-03-10T12:00:00Z&interval=hour";
    const { body } = await site.read(`${path}&key=${busy.key.id}`);
    const head = { id: busy.key.id, name: "Busy", last_used_at: "2026-03-10T13:00:00.000Z" };
    expect(body.data).toEqual([
      {
        ...head,
        from: "2026-03-10T12:00:00.000Z",
        to: "2026-03-10T13:00:00.000Z",
        total: 4,
        ok: 3,
        client_error: 1,
        limited: 0,
      },
      {
        ...head,
        from: "2026-03-10T13:00:00.000Z",
        to: "2026-03-10T13:00:10.000Z",
        total: 7,
        ok: 5,
        client_error: 0,
        limited: 2,
      },
    ]);
    expect(body.total).toEqual({ total: 11, ok: 8, client_error: 1, limited: 2 });

    const all = (await site.read("requests")).body;
    const lines = all.data.map(({ name, total }: { name: string; total: number }) => [name, total]);
    // The newest first; the last is the one that asks.
    expect(lines).toEqual([
      ["Idle", 0],
      ["Busy", 11],
      ["test", 0],
    ]);
    expect(all.data[0]).toMatchObject({ id: idle.key.id, last_used_at: null });
    for (const { value } of [busy, idle]) expect(JSON.stringify(all)).not.toContain(value);
    await site.expectRejected("requests?key=key_nobody", "key");
  });

  test("requests are counted by whole hours, which the answer states", async () => {
    await using site = await createAnalyticsSite();
    const { app } = site;
    const { key, value } = await app.createKey({ scopes: ["read:status"] });
    await app.call("/api/v1/status/acme", { key: value });
    await app.clock.advance(3 * HOUR_MS);
    const between = "from=2026-03-10T12:20:00Z&to=2026-03-10T12:40:00Z";
    const { body } = await site.read(`requests?key=${key.id}&${between}`);
    expect([body.from, body.to]).toEqual(["2026-03-10T12:00:00.000Z", "2026-03-10T13:00:00.000Z"]);
    expect(body.total.total).toBe(1);
    const after = "from=2026-03-10T13:00:00Z&to=2026-03-10T14:00:00Z";
    expect((await site.read(`requests?key=${key.id}&${after}`)).body.total.total).toBe(0);
  });

  test("request counts by day and month stay the same after hourly counts were removed", async () => {
    await using site = await createAnalyticsSite();
    const { app } = site;
    const { key, value } = await app.createKey({ scopes: ["read:status"] });
    await app.ctx.db.write((tx) =>
      createPage(app.ctx, tx, { slug: "other", name: "Other" }, CLI_ACTOR),
    );
    for (let day = 0; day < 3; day++) {
      await app.call("/api/v1/status/other", { key: value });
      await app.clock.advance(DAY_MS);
    }
    const path = `requests?key=${key.id}&from=2026-03-01T00:00:00Z&to=2026-03-20T00:00:00Z`;
    const figures = async () => {
      const days = (await site.read(`${path}&interval=day`)).body.data;
      const months = (await site.read(`${path}&interval=month`)).body.data;
      return { days: days.map(({ ok }: { ok: number }) => ok), month: months[0].ok };
    };
    const before = await figures();
    expect(before.days.slice(8, 13)).toEqual([0, 1, 1, 1, 0]);
    expect(before.month).toBe(3);
    const kept = { now: app.clock.now(), hoursDays: 0, addressesDays: 90 };
    await app.ctx.db.write((tx) => trimKeyUse(tx, kept, ""));
    expect(await figures()).toEqual(before);
  });

  test("requests cannot be filtered by page, nor uptime by key", async () => {
    await using site = await createAnalyticsSite();
    await site.expectRejected("requests?page=acme", "page");
    await site.expectRejected("uptime?key=key_x", "key");
  });
});
