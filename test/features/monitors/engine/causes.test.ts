import { describe, expect, test } from "bun:test";
import { pauseMonitor } from "../../../../src/features/monitors";
import { deleteMonitor, updateMonitor } from "../../../../src/features/monitors/update";
import { CLI_ACTOR } from "../../../../src/domain/actor";
import { MINUTE_MS } from "../../../../src/kernel/time";
import { answers, fails, openWatch, type Watch } from "../../../support/engine-site";

async function openTwo(): Promise<Watch & { api: string; web: string; pageId: string }> {
  const watch = await openWatch();
  const { page, components } = await watch.app.page({}, ["API", "Web"]);
  return Object.assign(watch, {
    api: components["API"] ?? "",
    web: components["Web"] ?? "",
    pageId: page.id,
  });
}

const DOWN = { failure_threshold: 1 } as const;

describe("components of monitors", () => {
  test("a component shows the worst status of two monitors and is operational after both recover", async () => {
    await using watch = await openTwo();
    const { api } = watch;
    await watch.monitor({ name: "a", component_ids: [api], on_down: "partial_outage", ...DOWN });
    await watch.monitor({ name: "b", component_ids: [api], on_down: "major_outage", ...DOWN });
    await watch.clock.advance(MINUTE_MS);
    watch.let("a.test", fails());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.status(api)).toBe("partial_outage");
    watch.let("b.test", fails());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.status(api)).toBe("major_outage");
    watch.let("b.test", answers());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.status(api)).toBe("partial_outage");
    watch.let("a.test", answers());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.status(api)).toBe("operational");
  });

  test("a component of another page gets a cause from the first failed check on", async () => {
    await using watch = await openTwo();
    const other = await watch.app.page({ slug: "other", name: "Other" }, ["Checkout"]);
    const checkout = other.components["Checkout"] ?? "";
    const { id } = await watch.monitor({ component_ids: [watch.api, checkout] });
    await watch.clock.advance(MINUTE_MS);
    watch.let("api.test", fails());
    await watch.clock.advance(3 * MINUTE_MS);
    expect(watch.status(checkout)).toBe("major_outage");
    const [down] = watch.timeline(id).filter((span) => span.startsWith("down"));
    expect(watch.marks(other.page.id)).toEqual([(down ?? "").replace("down", "major_outage")]);

    const key = await watch.app.keyWith("read:status");
    const { body } = await watch.app.call(`/api/v1/components/${checkout}/history`, { key });
    expect(body.data[0]).toMatchObject({
      to: "major_outage",
      source: "monitor",
      actor: { kind: "system" },
    });
    expect((await watch.app.call(`/api/v1/components/${checkout}`, { key })).body.causes).toEqual([
      { source: "monitor", id, status: "major_outage" },
    ]);
  });

  test("a component is degraded while responses are slow", async () => {
    await using watch = await openTwo();
    const { id } = await watch.monitor({
      component_ids: [watch.api],
      degraded_after_ms: 500,
      failure_threshold: 2,
    });
    await watch.clock.advance(MINUTE_MS);
    watch.let("api.test", answers(900));
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.state(id)).toBe("degraded");
    expect(watch.status(watch.api)).toBe("degraded_performance");
    watch.let("api.test", answers(100));
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.state(id)).toBe("up");
    expect(watch.status(watch.api)).toBe("operational");
  });

  test("a component has its manual status after its monitor recovers", async () => {
    await using watch = await openTwo();
    await watch.monitor({ component_ids: [watch.api], on_down: "partial_outage", ...DOWN });
    const key = await watch.app.keyWith("write:components");
    await watch.app.call(`/api/v1/components/${watch.api}`, {
      key,
      method: "PATCH",
      json: { status: "degraded_performance" },
    });
    watch.let("api.test", fails());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.status(watch.api)).toBe("partial_outage");
    watch.let("api.test", answers());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.status(watch.api)).toBe("degraded_performance");
  });
});

describe("the causes of a monitor that is down", () => {
  async function openDown() {
    const watch = await openTwo();
    const { id } = await watch.monitor({ component_ids: [watch.api], ...DOWN });
    watch.let("api.test", fails());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.status(watch.api)).toBe("major_outage");
    const { ctx } = watch.app;
    return { watch, id, write: ctx.db.write.bind(ctx.db), ctx };
  }

  test("pausing a down monitor ends its causes", async () => {
    const { watch, id, write, ctx } = await openDown();
    await using _ = watch;
    await write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    expect(watch.status(watch.api)).toBe("operational");
    expect(watch.marks(watch.pageId)[0]).toEndWith("→ 120");
  });

  test("deleting a down monitor ends its causes", async () => {
    const { watch, id, write, ctx } = await openDown();
    await using _ = watch;
    await write((tx) => deleteMonitor(ctx, tx, id, CLI_ACTOR));
    expect(watch.status(watch.api)).toBe("operational");
  });

  test("moving a down monitor to another component moves its cause", async () => {
    const { watch, id, write, ctx } = await openDown();
    await using _ = watch;
    await write((tx) =>
      updateMonitor(
        ctx,
        tx,
        id,
        { component_ids: [watch.web], on_down: "partial_outage" },
        CLI_ACTOR,
      ),
    );
    expect(watch.status(watch.api)).toBe("operational");
    expect(watch.status(watch.web)).toBe("partial_outage");
  });
});
