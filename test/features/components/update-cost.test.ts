import { describe, expect, test } from "bun:test";
import { setManualStatuses } from "../../../src/features/components/statuses";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp } from "../../support/app";
import { counted } from "../../support/counted-transaction";
import { addUpdate, createIncident } from "../../support/examined";

/**
 * Measures each update of an incident that alternately worsens and improves all of its components.
 */
async function costsOf(components: number, updates: number) {
  await using app = await createTestApp();
  const names = Array.from({ length: components }, (_, i) => `Component ${i}`);
  const ids = Object.values((await app.page({ slug: "acme" }, names)).components);
  const naming = (round: number) =>
    Object.fromEntries(
      ids.map((id) => [id, round % 2 ? "major_outage" : "partial_outage"] as const),
    );
  const { ctx } = app;
  const id = await ctx.db.write((tx) => {
    const input = { page: "acme", name: "Errors", body: "Hm.", components: naming(0) };
    return createIncident(ctx, tx, input, "api", CLI_ACTOR).row.id;
  });
  const costs: { reads: number; writes: number }[] = [];
  for (let round = 1; round <= updates; round++) {
    await app.clock.advance(1_000);
    const cost = await ctx.db.write((tx) => {
      const counting = counted(tx);
      addUpdate(ctx, counting.tx, id, { body: "More.", components: naming(round) }, CLI_ACTOR);
      const [statements, writes] = [counting.statements(), counting.writes()];
      return { reads: statements - writes, writes };
    });
    costs.push(cost);
  }
  return costs;
}

describe("an update that names many components", () => {
  test("an update that names many components writes as many rows after many updates as after the first", async () => {
    const costs = await costsOf(20, 25);
    expect(costs.at(-1)?.writes).toBe(costs[0]?.writes ?? 0);
    // Of each component: the naming, the mark that ends and the one that begins, what it shows, the
    // change of that, and its event.
    expect(costs[0]?.writes).toBeLessThanOrEqual(20 * 6 + 10);
  });

  test("an update reads with as few statements for a hundred components as for ten", async () => {
    const [few] = await costsOf(10, 1);
    const [many] = await costsOf(100, 1);
    expect(many?.reads).toBe(few?.reads);
  });
});

describe("a change of one manual status", () => {
  test("a change of one manual status runs nine statements, and a status that is set already two", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({ slug: "acme" }, ["API"]);
    const why = { source: "manual", actor: CLI_ACTOR, reason: null } as const;
    const set = () =>
      app.ctx.db.write((tx) => {
        const counting = counted(tx);
        const statuses = new Map([[components["API"] ?? "", "major_outage"]] as const);
        const [component] = setManualStatuses(app.ctx, counting.tx, statuses, why);
        expect(component).toMatchObject({ page: "acme", status: "major_outage", version: 2 });
        expect(component?.causes).toHaveLength(1);
        return counting.statements();
      });
    expect(await set()).toBe(9);
    expect(await set()).toBe(2);
  });

  test("components that change and components that do not are returned in the order of the request", async () => {
    await using app = await createTestApp();
    const ids = Object.values((await app.page({ slug: "acme" }, ["A", "B", "C"])).components);
    const why = { source: "manual", actor: CLI_ACTOR, reason: null } as const;
    const [first = "", second = "", third = ""] = ids;
    const set = (statuses: [string, "major_outage" | "operational"][]) =>
      app.ctx.db.write((tx) => setManualStatuses(app.ctx, tx, new Map(statuses), why));
    await set([[second, "major_outage"]]);
    const components = await set([
      [third, "major_outage"],
      [second, "major_outage"],
      [first, "major_outage"],
    ]);
    expect(components.map(({ id, version }) => [id, version])).toEqual([
      [third, 2],
      [second, 2],
      [first, 2],
    ]);
    expect(components.map(({ causes }) => causes.length)).toEqual([1, 1, 1]);
  });
});

describe("a bulk change of manual statuses", () => {
  test("a bulk change of manual statuses needs four statements per 64 components and a fixed number of others", async () => {
    const statementsOf = async (components: number) => {
      await using app = await createTestApp();
      const names = Array.from({ length: components }, (_, i) => `Component ${i}`);
      const ids = Object.values((await app.page({ slug: "acme" }, names)).components);
      const statuses = new Map(ids.map((id) => [id, "major_outage"] as const));
      return app.ctx.db.write((tx) => {
        const counting = counted(tx);
        const why = { source: "manual", actor: CLI_ACTOR, reason: null } as const;
        setManualStatuses(app.ctx, counting.tx, statuses, why);
        return counting.statements();
      });
    };
    const [few, many] = [await statementsOf(64), await statementsOf(640)];
    expect(many - few).toBe((4 * (640 - 64)) / 64);
  });
});
