import { describe, expect, test } from "bun:test";
import { count } from "drizzle-orm";
import { selectOne } from "../../../src/db/statements";
import { componentCauses } from "../../../src/db/tables/components";
import { deleteComponent } from "../../../src/features/components/components";
import { type ComponentCause, replaceCauses } from "../../../src/features/components/statuses";
import { touchPage } from "../../../src/features/pages/pages";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createComponentSite, type ComponentSite } from "../../support/component-site";

const countCauses = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ count: count() }).from(componentCauses),
);

const NOW = Date.parse("2026-03-10T12:00:00Z");

/** Marks the site's component as a source does, which touches the page itself. */
function cause(
  { app, id, pageId }: ComponentSite,
  source: "incident" | "maintenance",
  sourceId: string,
  ...causes: Omit<ComponentCause, "componentId">[]
): Promise<void> {
  const why = { source, actor: CLI_ACTOR, reason: "Test" };
  const own = causes.map((each) => ({ componentId: id, ...each }));
  return app.ctx.db.write((tx) => {
    replaceCauses(app.ctx, tx, source, sourceId, own, why);
    touchPage(app.ctx, tx, pageId);
  });
}

async function read({ app, path, key }: ComponentSite) {
  const { body } = await app.call(path, { key });
  return { status: body.status, causes: body.causes.length, version: body.version };
}

describe("the causes of a source", () => {
  test("replacing the causes of a source keeps those of other sources", async () => {
    await using site = await createComponentSite();
    await cause(site, "incident", "inc_a", { status: "major_outage", from: NOW, to: null });
    await cause(site, "maintenance", "mnt_a", { status: "under_maintenance", from: NOW, to: null });
    expect(await read(site)).toMatchObject({ status: "major_outage", causes: 2 });
    await cause(site, "incident", "inc_a", { status: "degraded_performance", from: NOW, to: null });
    expect(await read(site)).toMatchObject({ status: "degraded_performance", causes: 2 });
    await cause(site, "incident", "inc_a");
    expect(await read(site)).toMatchObject({ status: "under_maintenance", causes: 1 });
    await cause(site, "maintenance", "mnt_a");
    expect(await read(site)).toMatchObject({ status: "operational", causes: 0 });
    const statuses = site.app.events().map(({ data }) => data["status"]);
    expect(statuses).toEqual([
      "major_outage",
      "degraded_performance",
      "under_maintenance",
      "operational",
    ]);
  });

  test("replacing causes with the same causes in another order changes nothing", async () => {
    await using site = await createComponentSite();
    const past = { status: "partial_outage" as const, from: NOW - 20, to: NOW - 10 };
    const open = { status: "major_outage" as const, from: NOW, to: null };
    await cause(site, "incident", "inc_a", past, open);
    const before = await site.state();
    await cause(site, "incident", "inc_a", open, past);
    expect(await site.state()).toEqual(before);
  });

  test("causes that are over, empty or operational do not change the current status", async () => {
    await using site = await createComponentSite();
    await cause(
      site,
      "incident",
      "inc_a",
      { status: "major_outage", from: NOW - 20, to: NOW - 10 },
      { status: "major_outage", from: NOW, to: NOW },
      { status: "major_outage", from: NOW, to: NOW - 1 },
      { status: "operational", from: NOW, to: null },
    );
    expect(await read(site)).toMatchObject({ status: "operational", causes: 0 });
    expect(site.app.events()).toEqual([]);
  });

  test("a past cause changes the uptime that the page shows", async () => {
    await using site = await createComponentSite();
    await site.app.clock.advance(10_000);
    const uptime = async () =>
      (await site.app.call("/api/v1/status/acme", { key: site.key })).body.components[0].uptime_90d;
    expect(await uptime()).toBe(1);
    await cause(site, "incident", "inc_a", { status: "major_outage", from: NOW, to: NOW + 5_000 });
    expect(await uptime()).toBe(0.5);
  });

  test("a cause records the change of status with actor, reason and time of writing", async () => {
    await using site = await createComponentSite();
    await cause(site, "maintenance", "mnt_a", {
      status: "under_maintenance",
      from: NOW - 5_000,
      to: null,
    });
    const history = await site.app.call(`${site.path}/history`, { key: site.key });
    expect(history.body.data).toMatchObject([
      {
        from: "operational",
        to: "under_maintenance",
        source: "maintenance",
        reason: "Test",
        actor: { kind: "cli" },
        at: "2026-03-10T12:00:00.000Z",
      },
    ]);
  });

  test("a deleted component keeps its causes and gets no new ones", async () => {
    await using site = await createComponentSite();
    await cause(site, "incident", "inc_a", { status: "major_outage", from: NOW, to: null });
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteComponent(ctx, tx, site.id, CLI_ACTOR));
    const eventCount = site.app.events().length;
    await cause(site, "incident", "inc_a");
    await cause(site, "incident", "inc_b", { status: "major_outage", from: NOW, to: null });
    expect(site.app.events()).toHaveLength(eventCount);
    expect(countCauses(ctx.db, {})).toEqual({ count: 1 });
  });
});
