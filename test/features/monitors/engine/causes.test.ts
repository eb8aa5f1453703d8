import { describe, expect, test } from "bun:test";
import { deleteMonitor, pauseMonitor } from "../../../../src/features/monitors/monitors";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { MINUTE_MS } from "../../../../src/base/time";
import { answers, fails, openEngineSite, type EngineSite } from "../../../support/engine-site";
import { updateMonitor } from "../../../support/examined";

async function openTwo(): Promise<EngineSite & { api: string; web: string; pageId: string }> {
  const site = await openEngineSite();
  const { page, components } = await site.app.page({}, ["API", "Web"]);
  return Object.assign(site, {
    api: components["API"] ?? "",
    web: components["Web"] ?? "",
    pageId: page.id,
  });
}

const DOWN = { failure_threshold: 1 } as const;

describe("components of monitors", () => {
  test("a component shows the worst status of two monitors and is operational after both recover", async () => {
    await using site = await openTwo();
    const { api } = site;
    await site.monitor({ name: "a", component_ids: [api], on_down: "partial_outage", ...DOWN });
    await site.monitor({ name: "b", component_ids: [api], on_down: "major_outage", ...DOWN });
    await site.clock.advance(MINUTE_MS);
    site.let("a.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.status(api)).toBe("partial_outage");
    site.let("b.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.status(api)).toBe("major_outage");
    site.let("b.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.status(api)).toBe("partial_outage");
    site.let("a.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.status(api)).toBe("operational");
  });

  test("a component of another page gets a cause from the first failed check on", async () => {
    await using site = await openTwo();
    const other = await site.app.page({ slug: "other", name: "Other" }, ["Checkout"]);
    const checkout = other.components["Checkout"] ?? "";
    const { id } = await site.monitor({ component_ids: [site.api, checkout] });
    await site.clock.advance(MINUTE_MS);
    site.let("api.test", fails());
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.status(checkout)).toBe("major_outage");
    const [down] = site.timeline(id).filter((span) => span.startsWith("down"));
    expect(site.causes(other.page.id)).toEqual([(down ?? "").replace("down", "major_outage")]);

    const key = await site.app.keyWith("read:status");
    const { body } = await site.app.call(`/api/v1/components/${checkout}/history`, { key });
    expect(body.data[0]).toMatchObject({
      to: "major_outage",
      source: "monitor",
      actor: { kind: "system" },
    });
    expect((await site.app.call(`/api/v1/components/${checkout}`, { key })).body.causes).toEqual([
      { source: "monitor", id, status: "major_outage" },
    ]);
  });

  test("a component is degraded while responses are slow", async () => {
    await using site = await openTwo();
    const { id } = await site.monitor({
      component_ids: [site.api],
      degraded_after_ms: 500,
      failure_threshold: 2,
    });
    await site.clock.advance(MINUTE_MS);
    site.let("api.test", answers(900));
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("degraded");
    expect(site.status(site.api)).toBe("degraded_performance");
    site.let("api.test", answers(100));
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("up");
    expect(site.status(site.api)).toBe("operational");
  });

  test("a component has its manual status after its monitor recovers", async () => {
    await using site = await openTwo();
    await site.monitor({ component_ids: [site.api], on_down: "partial_outage", ...DOWN });
    const key = await site.app.keyWith("write:components");
    await site.app.call(`/api/v1/components/${site.api}`, {
      key,
      method: "PATCH",
      json: { status: "degraded_performance" },
    });
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.status(site.api)).toBe("partial_outage");
    site.let("api.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.status(site.api)).toBe("degraded_performance");
  });
});

describe("the causes of a monitor that is down", () => {
  async function openDown() {
    const site = await openTwo();
    const { id } = await site.monitor({ component_ids: [site.api], ...DOWN });
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.status(site.api)).toBe("major_outage");
    const { ctx } = site.app;
    return { site, id, write: ctx.db.write.bind(ctx.db), ctx };
  }

  test("pausing a down monitor ends its causes", async () => {
    const { site, id, write, ctx } = await openDown();
    await using _ = site;
    await write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    expect(site.status(site.api)).toBe("operational");
    expect(site.causes(site.pageId)[0]).toEndWith("→ 120");
  });

  test("deleting a down monitor ends its causes", async () => {
    const { site, id, write, ctx } = await openDown();
    await using _ = site;
    await write((tx) => deleteMonitor(ctx, tx, id, CLI_ACTOR));
    expect(site.status(site.api)).toBe("operational");
  });

  test("moving a down monitor to another component moves its cause", async () => {
    const { site, id, write, ctx } = await openDown();
    await using _ = site;
    await write((tx) =>
      updateMonitor(
        ctx,
        tx,
        id,
        { component_ids: [site.web], on_down: "partial_outage" },
        CLI_ACTOR,
      ),
    );
    expect(site.status(site.api)).toBe("operational");
    expect(site.status(site.web)).toBe("partial_outage");
  });
});
