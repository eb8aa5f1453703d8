import { describe, expect, test } from "bun:test";
import { MINUTE_MS, toIso } from "../../../../src/base/time";
import { answers, fails, openEngineSite } from "../../../support/engine-site";

const SECRET = "s3cr3t-of-the-target";

describe("the events of a monitor", () => {
  test("an outage records monitor.down and monitor.up with its times", async () => {
    await using site = await openEngineSite();
    const { page, components } = await site.app.page({}, ["API"]);
    const { id } = await site.monitor({ component_ids: Object.values(components) });
    await site.clock.advance(MINUTE_MS);
    site.let("api.test", fails("The connection was refused."));
    await site.clock.advance(3 * MINUTE_MS);
    site.let("api.test", answers());
    await site.clock.advance(2 * MINUTE_MS);

    const results = site.checks(id);
    const downAt = results.find(({ outcome }) => outcome === "failed")?.at ?? 0;
    const upAt = results.find(({ at, outcome }) => outcome === "ok" && at > downAt)?.at ?? 0;
    const [down, up, ...rest] = site.app.events().filter(({ type }) => type.startsWith("monitor."));
    expect(rest).toEqual([]);
    expect(down).toMatchObject({
      type: "monitor.down",
      subjectId: id,
      pageId: page.id,
      data: {
        id,
        name: "api",
        state: "down",
        state_since: toIso(downAt),
        last_check: { outcome: "failed", message: "The connection was refused." },
        outage: { started_at: toIso(downAt), ended_at: null, duration_ms: null },
      },
    });
    expect(up).toMatchObject({
      type: "monitor.up",
      data: {
        state: "up",
        last_check: { at: toIso(upAt), outcome: "ok", message: null },
        outage: {
          started_at: toIso(downAt),
          ended_at: toIso(upAt),
          duration_ms: upAt - downAt,
        },
      },
    });
  });

  test("slow responses record monitor.degraded without an outage", async () => {
    await using site = await openEngineSite();
    await site.monitor({ degraded_after_ms: 100, failure_threshold: 1 });
    await site.clock.advance(MINUTE_MS);
    site.let("api.test", answers(500));
    await site.clock.advance(2 * MINUTE_MS);
    site.let("api.test", answers(5));
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.eventTypes()).toEqual(["monitor.degraded", "monitor.up"]);
    const [degraded] = site.app.events().filter(({ type }) => type === "monitor.degraded");
    expect(degraded?.data["outage"]).toBeNull();
  });

  test("a successful first check records no event", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor();
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(id)).toBe("up");
    expect(site.eventTypes()).toEqual([]);
  });

  test("the event of a monitor with components of several pages belongs to no page", async () => {
    await using site = await openEngineSite();
    const acme = await site.app.page({}, ["API"]);
    const other = await site.app.page({ slug: "other", name: "Other" }, ["Checkout"]);
    const ids = [acme, other].flatMap(({ components }) => Object.values(components));
    await site.monitor({ component_ids: ids, failure_threshold: 1 });
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    const event = site.app.events().find(({ type }) => type === "monitor.down");
    expect(event).toMatchObject({ pageId: null, data: { component_ids: ids } });
  });

  test("the event of a monitor contains no secret of its configuration", async () => {
    await using site = await openEngineSite();
    await site.monitor({
      failure_threshold: 1,
      config: {
        url: "https://api.test/",
        method: "POST",
        headers: { "X-Key": SECRET },
        body: `{"token":"${SECRET}"}`,
      },
    });
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    expect(JSON.stringify(site.app.events())).not.toContain(SECRET);
    expect(JSON.stringify(site.app.audit())).not.toContain(SECRET);
    expect(JSON.stringify(site.app.logged)).not.toContain(SECRET);
  });

  test("events have the group and tags of a monitor, but not its notes", async () => {
    await using site = await openEngineSite();
    await site.monitor({
      failure_threshold: 1,
      reminder_seconds: 300,
      group: "Data centre 2",
      tags: ["production"],
      notes: "Ask Ann before a restart.",
    });
    site.let("api.test", fails());
    await site.clock.advance(8 * MINUTE_MS);
    const labels = { group: "Data centre 2", tags: ["production"] };
    expect(site.app.events()).toMatchObject([
      { type: "monitor.down", data: labels },
      { type: "monitor.reminder", data: { monitor: labels } },
    ]);
    expect(JSON.stringify(site.app.events())).not.toContain("notes");
  });

  test("the event of a monitor stays below 20 kB for a large configuration", async () => {
    await using site = await openEngineSite();
    const value = "x".repeat(1_000);
    const assertions = Array.from({ length: 20 }, () => ({
      source: "body",
      op: "contains",
      value,
    }));
    await site.monitor({
      failure_threshold: 1,
      config: { url: "https://api.test/", assertions },
    });
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    const [event] = site.app.events().filter(({ type }) => type === "monitor.down");
    expect(Buffer.byteLength(JSON.stringify(event?.data))).toBeLessThan(20_000);
    expect(event?.data).toMatchObject({ name: "api", state: "down", truncated: true });
  });
});
