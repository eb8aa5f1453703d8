import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createMaintenanceSite } from "../../support/maintenance-site";
import { createComponent } from "../../support/examined";

const MAX_BYTES = 20 * 1024;
/** Size of the envelope around an event's data, such as type and time, in bytes. */
const ENVELOPE_BYTES = 200;

describe("a maintenance's event", () => {
  test("the event of a maintenance contains its API representation with the latest update instead of all updates", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    await site.update(id, { status: "in_progress", body: "Begun.", notify: false });
    const { updates, ...resource } = await site.get(id);
    expect(site.app.events().find(({ type }) => type === "maintenance.started")).toMatchObject({
      subjectId: id,
      data: { ...resource, latest_update: updates[0], notify: false },
    });
    const events = site.app.events().filter(({ subjectId }) => subjectId === id);
    expect(events.map(({ data }) => data["version"])).toEqual([1, 2]);
    for (const { data } of events) expect(Object.keys(data)).not.toContain("updates");
  });

  test("the event of a maintenance has the notify of its update, or else of its plan", async () => {
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

  test("the event of a maintenance truncates a text after 4,000 code points and sets truncated", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan({ body: "x".repeat(4_000) });
    await site.update(id, { body: `${"a".repeat(3_999)}👍b` });
    const [whole, cut] = site.app.events().map(({ data }) => data["latest_update"]);
    expect(whole).toMatchObject({ body: "x".repeat(4_000) });
    expect(whole).not.toHaveProperty("truncated");
    expect(cut).toMatchObject({ body: `${"a".repeat(3_999)}👍`, truncated: true });
    expect((await site.get(id)).updates[0].body).toEndWith("👍b");
  });

  test("the event of a maintenance stays below 20 KB and flags truncated content", async () => {
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
