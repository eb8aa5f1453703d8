import { describe, expect, test } from "bun:test";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { answers, fails, openEngineSite } from "../../../support/engine-site";

describe("inverted monitors", () => {
  test("an inverted monitor is up while its checks fail and down while they succeed", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ inverted: true, failure_threshold: 2 });
    site.let("api.test", fails("The connection was refused."));
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("up");
    expect(site.checks(id).at(-1)).toMatchObject({
      outcome: "ok",
      message: "Inverted: the check itself failed. The connection was refused.",
    });
    site.let("api.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    expect(site.checks(id).at(-1)).toMatchObject({
      outcome: "failed",
      message: "Inverted: the check itself succeeded.",
    });
    expect(site.eventTypes()).toEqual(["monitor.down"]);
  });

  test("a check that this server could not perform stays unknown", async () => {
    await using site = await openEngineSite({
      env: { ALLCLEAR_REFERENCE_TARGETS: "192.0.2.1:443" },
    });
    const { id } = await site.monitor({ inverted: true });
    site.let("api.test", fails());
    site.isOnline = false;
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("no_data");
    expect(site.checks(id).at(-1)?.outcome).toBe("unknown");
  });

  test("the incident of an inverted monitor says that the check succeeded, without its configuration", async () => {
    await using site = await openEngineSite();
    const { components } = await site.app.page({}, ["API"]);
    await site.monitor({
      inverted: true,
      failure_threshold: 1,
      open_incident: "automatic",
      component_ids: Object.values(components),
    });
    await site.clock.advance(MINUTE_MS);
    const created = site.app.events().find(({ type }) => type === "incident.created");
    expect(created?.data).toMatchObject({
      latest_update: {
        body: "Automatic checks are failing. The check succeeded unexpectedly.",
      },
    });
  });

  test("an inverted push monitor is up without calls and down after a successful one", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({
      type: "push",
      config: { grace_seconds: 0 },
      inverted: true,
    });
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    expect(site.state(id)).toBe("up");
    await site.engine.heartbeat(id, { outcome: "ok", latencyMs: null, message: "Leak" });
    expect(site.state(id)).toBe("down");
    expect(site.checks(id).at(-1)?.message).toBe("Inverted: the check itself succeeded. Leak");
  });
});
