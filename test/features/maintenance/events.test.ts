import { describe, expect, test } from "bun:test";
import { createComponent } from "../../../src/features/components";
import { CLI_ACTOR } from "../../../src/kernel/actor";
import { createMaintenanceSite } from "../../support/maintenance-site";

const MAX_BYTES = 20 * 1024;
/** What stands around the data when it is sent: a type and a time. */
const ENVELOPE_BYTES = 200;

describe("a maintenance's event", () => {
  test("is the resource as the API shows it, with what was told last in the place of all updates", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    await site.update(id, { status: "in_progress", body: "Begun.", notify: false });
    const { updates, ...resource } = await site.get(id);
    expect(site.app.events().find(({ type }) => type === "maintenance.started")).toMatchObject({
      subjectId: id,
      data: { ...resource, latest_update: updates[0], notify: false },
    });
    const told = site.app.events().filter(({ subjectId }) => subjectId === id);
    expect(told.map(({ data }) => data["version"])).toEqual([1, 2]);
    for (const { data } of told) expect(Object.keys(data)).not.toContain("updates");
  });

  test("is for people as its update says, and as its plan said where nothing says otherwise", async () => {
    await using site = await createMaintenanceSite();
    const silent = await site.plan({ notify: false });
    await site.patch(silent, { name: "Other" });
    await site.update(silent, { body: "Heads up." });
    await site.cancel(silent);
    const notify = site.app.events().map(({ type, data }) => [type, data["notify"]]);
    expect(notify).toEqual([
      ["maintenance.scheduled", false],
      ["maintenance.updated", false],
      ["maintenance.updated", true],
      ["maintenance.cancelled", false],
    ]);
  });

  test("carries 4,000 characters of a text, never half of one, and says that it was cut", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan({ body: "x".repeat(4_000) });
    await site.update(id, { body: `${"a".repeat(3_999)}👍b` });
    const [whole, cut] = site.app.events().map(({ data }) => data["latest_update"]);
    expect(whole).toMatchObject({ body: "x".repeat(4_000) });
    expect(whole).not.toHaveProperty("truncated");
    expect(cut).toMatchObject({ body: `${"a".repeat(3_999)}👍`, truncated: true });
    expect((await site.get(id)).updates[0].body).toEndWith("👍b");
  });

  test("stays under 20 KB, whatever is in it, and says what was cut", async () => {
    await using site = await createMaintenanceSite();
    const { ctx } = site.app;
    const components = await ctx.db.write((tx) =>
      Array.from({ length: 300 }, (_, n) => {
        const input = { name: `${"部".repeat(250)}${n}`, ref: `c${n}` };
        const placement = { position: n, managedBy: null, groupId: null };
        return createComponent(ctx, tx, site.page, input, placement, CLI_ACTOR).id;
      }),
    );
    const id = await site.plan({
      name: "💥".repeat(255),
      body: "\u0001".repeat(10_000),
      components,
    });
    const [event] = site.app.events();
    const weight = Buffer.byteLength(JSON.stringify(event?.data)) + ENVELOPE_BYTES;
    expect(weight).toBeLessThan(MAX_BYTES);
    expect(event?.data).toMatchObject({ truncated: true, latest_update: { truncated: true } });
    expect((await site.get(id)).components).toHaveLength(300);
  });
});
