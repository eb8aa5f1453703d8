import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { getIncident } from "../../../../src/features/incidents/records";
import { writeDueUpdates } from "../../../../src/features/incidents/automatic-updates";
import { deleteMonitor } from "../../../../src/features/monitors/monitors";
import { MINUTE_MS } from "../../../../src/base/time";
import { createTestApp } from "../../../support/app";
import { readHtml, typedIn } from "../../../support/html";
import { createStorm } from "../../../support/storm-site";
import { addUpdate, createIncident, updateIncident } from "../../../support/examined";

/** Opens a storm with a function that reads the incident's screen as an editor. */
async function createDetected(options: { count: number; opens?: "automatic" | "draft" }) {
  const app = await createTestApp();
  const storm = await createStorm(app, options);
  const session = await app.signedIn("editor");
  const viewer = await app.signedIn("viewer");
  const { ctx, clock } = app;
  return {
    app,
    storm,
    session,
    viewer,
    screen: async (by = session, path = storm.path) =>
      readHtml((await app.call(path, { session: by })).text),
    /** Writes an update as a person. */
    write: (status: "identified" | "resolved") =>
      ctx.db.write((tx) => {
        addUpdate(ctx, tx, storm.incidentId, { status, body: "A switch." }, CLI_ACTOR);
      }),
    /** Lets all monitors recover, each a minute after the other. */
    async recover(ids: readonly string[] = storm.monitors) {
      for (const id of ids) {
        clock.setWallClock(clock.now() + MINUTE_MS);
        // oxlint-disable-next-line no-await-in-loop
        await storm.enter(id, "up");
      }
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe("the monitors on the screen of an incident", () => {
  test("are listed with their outages, those that still fail first, and fold after five", async () => {
    await using site = await createDetected({ count: 12 });
    const { storm } = site;
    await site.recover(storm.monitors.slice(0, 2));
    const page = await site.screen();
    expect(page.texts("#detected-by h2")).toEqual(["Detected by 12"]);
    expect(page.texts("#detected-by .detail-head .muted")).toEqual(["10 still down"]);
    expect(page.texts("#detected-by .detail-picks > ul .detail-name")).toEqual([
      "Web app",
      "Card payments",
      "Search",
      "File uploads",
      "Job queue",
    ]);
    expect(page.texts("#detected-by details summary")).toEqual(["7 more"]);
    expect(page.attributes("#detected-by details", "open")).toEqual([]);
    expect(page.texts("#detected-by details .detail-name").slice(-2)).toEqual(["Sign-in", "API"]);
    expect(page.texts("#detected-by .detail-note")[1]).toBe(
      "Down since 12:00 · Down now · Payments",
    );
    expect(page.texts("#detected-by .detail-note").slice(-2)).toEqual([
      "Down 12:00–12:04 · Up now",
      "Down 12:00–12:05 · Up now",
    ]);
    expect(page.texts("#detected-by .detail-figure-end").slice(-2)).toEqual(["4 min", "5 min"]);
    expect(page.attributes("#detected-by .detail-name", "href")[0]).toBe(
      `/admin/monitors/${storm.monitors[2]}`,
    );
    expect(page.texts(".head-facts")[0]).toContain("12 monitors, 10 down");
  });

  test("a single one has its state and its last 24 hours", async () => {
    await using site = await createDetected({ count: 1 });
    const page = await site.screen();
    expect(page.texts("aside #detected-by .detail-note")[0]).toStartWith("Down for 3 min");
    expect(page.attributes("aside #detected-by svg[role=img]", "aria-label")[0]).toStartWith(
      "The last 24 hours of Sign-in",
    );
    expect(page.texts(".timeline-by")[0]).toStartWith("By the monitor Sign-in");
  });

  test("those that left say so, a deleted one has no link, and one that fails again counts its outages", async () => {
    await using site = await createDetected({ count: 4 });
    const { storm, app } = site;
    const [first = "", second = "", third = ""] = storm.monitors;
    await storm.pause(first);
    await app.ctx.db.write((tx) => deleteMonitor(app.ctx, tx, second, CLI_ACTOR));
    await site.recover([third]);
    app.clock.setWallClock(app.clock.now() + MINUTE_MS);
    await storm.enter(third, "down");
    const page = await site.screen();
    expect(page.texts("#detected-by .detail-row")).toEqual([
      "Select Card paymentsCard paymentsDown since 12:00 · Down now · Payments5 min",
      "Select Web appWeb appDown since 12:05, 2 times · Down now1 s",
      "Sign-inDown 12:00–12:03, left the incident · Paused now3 min",
      "APIDown 12:00–12:03, left the incident · Deleted now3 min",
    ]);
    expect(page.attributes("#detected-by .detail-name[href]", "href")).toHaveLength(3);
  });

  test("an outage whose status and components change is still one outage", async () => {
    await using site = await createDetected({ count: 2 });
    const { app, storm } = site;
    const key = await app.keyWith("manage:monitors");
    const { "Sign-in": own = "", Payments: other = "" } = storm.site.components;
    for (const json of [{ on_down: "partial_outage" }, { component_ids: [own, other] }]) {
      app.clock.setWallClock(app.clock.now() + MINUTE_MS);
      const path = `/api/v1/monitors/${storm.monitors[0]}`;
      // oxlint-disable-next-line no-await-in-loop
      expect((await app.call(path, { method: "PATCH", key, json })).status).toBe(200);
    }
    expect((await site.screen()).texts("#detected-by .detail-note")[0]).toBe(
      "Down since 12:00 · Down now · Sign-in, Payments",
    );
    await site.recover();
    expect((await site.screen()).texts("#detected-by .detail-note")[0]).toBe(
      "Down 12:00–12:06 · Up now · Sign-in, Payments",
    );
  });

  test("more than 500 are counted", async () => {
    await using site = await createDetected({ count: 502 });
    const page = await site.screen();
    expect(page.texts("#detected-by h2")).toEqual(["Detected by 502"]);
    expect(page.texts("#detected-by details summary")).toEqual(["497 more"]);
    expect(page.texts("#detected-by .detail-name")).toHaveLength(500);
    expect(page.texts("#detected-by details > ul > li").at(-1)).toBe("2 more are not listed.");
  });

  test("an outage that is linked to a person's incident is listed as linked", async () => {
    await using site = await createDetected({ count: 1 });
    const { storm, app } = site;
    const { ctx } = app;
    const { id } = (await app.ctx.db.write(
      (tx) =>
        createIncident(
          ctx,
          tx,
          {
            page: "acme",
            name: "A switch failed",
            body: "We replace it.",
            components: { [storm.site.components["Sign-in"] ?? ""]: "major_outage" },
          },
          "dashboard",
          CLI_ACTOR,
        ).row,
    )) as { id: string };
    await site.recover();
    app.clock.setWallClock(app.clock.now() + MINUTE_MS);
    await storm.enter(storm.monitors[0] ?? "", "down");
    const page = await site.screen(site.session, `/admin/incidents/${id}`);
    expect(page.texts("#detected-by .detail-name")).toEqual(["Sign-in"]);
    expect(page.texts("#detected-by .detail-note")[0]).toContain("linked");
    expect(page.texts("#incident-writer p")).toEqual([]);
  });

  test("a name with markup is shown as text", async () => {
    await using site = await createDetected({ count: 2 });
    const { app, storm } = site;
    const key = await app.keyWith("manage:monitors");
    const path = `/api/v1/monitors/${storm.monitors[0]}`;
    const json = { name: "<b>Shop</b>" };
    expect((await app.call(path, { method: "PATCH", key, json })).status).toBe(200);
    expect((await site.screen()).texts("#detected-by .detail-name")[0]).toBe("<b>Shop</b>");
  });
});

describe("the author of an incident", () => {
  test("is Allclear until a person has written, with the time of the update that is due", async () => {
    await using site = await createDetected({ count: 4 });
    const { app } = site;
    const said = async (by?: string) => (await site.screen(by)).texts("#incident-writer p");
    expect(await said()).toEqual([
      "Allclear writes and resolves this incident until you write in it.",
    ]);
    expect(await said(site.viewer)).toEqual([
      "Allclear writes and resolves this incident until a person writes in it.",
    ]);
    await app.ctx.db.write((tx) => void writeDueUpdates(app.ctx, tx));
    await site.recover(site.storm.monitors.slice(0, 1));
    expect(await said()).toEqual([
      "Allclear writes and resolves this incident until you write in it. Its next update is due at 12:08 UTC.",
    ]);
    await site.write("identified");
    expect(await said()).toEqual([]);
  });

  test("of a draft never publishes or resolves it, and of a resolved incident is not named", async () => {
    await using site = await createDetected({ count: 2, opens: "draft" });
    const said = async () => (await site.screen()).texts("#incident-writer p");
    expect(await said()).toEqual([
      "Allclear adds outages to this draft until you write in it, and never publishes or resolves it.",
    ]);
    const { ctx } = site.app;
    await ctx.db.write((tx) =>
      updateIncident(ctx, tx, site.storm.incidentId, { draft: false }, CLI_ACTOR),
    );
    expect(await said()).toEqual([
      "Allclear writes and resolves this incident until you write in it.",
    ]);
    await site.recover();
    expect(await said()).toEqual([]);
  });
});

describe("the offer to resolve an incident", () => {
  /** Fields of the form that resolves the incident with one click. */
  function resolveFields(html: string): Record<string, string> {
    const [form = ""] = /<form[^>]*>(?:(?!<\/form>).)*Resolve incident/s.exec(html) ?? [];
    const names = ["form", "seen_status", "intent", "status", "body", "notify"];
    return Object.fromEntries(names.map((name) => [name, typedIn(form, name)[0] ?? ""]));
  }

  test("is made if a person has written and all outages have ended", async () => {
    await using site = await createDetected({ count: 4 });
    await site.write("identified");
    await site.recover(site.storm.monitors.slice(0, 3));
    expect((await site.screen()).texts("#incident-recovered p")).toEqual([]);
    await site.recover(site.storm.monitors.slice(3));
    expect((await site.screen()).texts("#incident-recovered p")).toEqual([
      "All outages have ended. Sign-in, API, Web app and 1 more have been up for 1 s.",
    ]);
    expect((await site.screen(site.viewer)).texts("#incident-recovered button")).toEqual([]);
  });

  test("is made if only monitors that left remain, and resolves the incident", async () => {
    await using site = await createDetected({ count: 2 });
    const { app, storm, session } = site;
    await storm.pause(storm.monitors[0] ?? "");
    expect((await site.screen()).texts("#incident-recovered p")).toEqual([]);
    await storm.pause(storm.monitors[1] ?? "");
    const { text } = await app.call(storm.path, { session });
    expect(readHtml(text).texts("#incident-recovered p")).toEqual([
      "All outages have ended. Sign-in and API left the incident, so that Allclear does not resolve it.",
    ]);
    const answer = await app.call(`${storm.path}/updates`, { session, form: resolveFields(text) });
    expect(answer.status).toBe(303);
    expect(getIncident(app.ctx.db, storm.incidentId, true).row.status).toBe("resolved");
  });

  test("is not made for a draft", async () => {
    await using site = await createDetected({ count: 2, opens: "draft" });
    await site.recover();
    expect((await site.screen()).texts("#incident-recovered p")).toEqual([]);
  });
});

describe("an incident that is over", () => {
  test("is green in its head and phases, says its past in words, and keeps the tone of each update", async () => {
    await using site = await createDetected({ count: 2 });
    const { app, storm } = site;
    const tones = async () => {
      const page = await site.screen();
      return {
        state: page.attributes("#incident-state .shape", "class"),
        phases: page.attributes(".phases", "class"),
        updates: page.attributes(".timeline-dot .shape", "class"),
        affected: page.attributes("#affected .shape", "class"),
      };
    };
    const { ctx } = app;
    await ctx.db.write((tx) => {
      const update = { status: "monitoring" as const, body: "A fix is in place." };
      addUpdate(ctx, tx, storm.incidentId, update, CLI_ACTOR);
    });
    expect(await tones()).toEqual({
      state: ["shape t-major"],
      phases: ["phases t-major"],
      updates: ["shape t-degraded", "shape t-major", "shape t-major"],
      affected: ["shape t-major", "shape t-major"],
    });
    await site.recover();
    await site.write("resolved");
    expect(await tones()).toEqual({
      state: ["shape t-ok"],
      phases: ["phases t-ok"],
      updates: ["shape t-ok", "shape t-degraded", "shape t-major", "shape t-major"],
      affected: ["shape t-ok", "shape t-ok"],
    });
    const page = await site.screen();
    expect(page.texts("#incident-state")[0]).toStartWith("Resolved Was critical");
    expect(page.texts("#affected h2")).toEqual(["Affected (ended)"]);
  });
});

describe("an incident that ends while monitors still fail", () => {
  test("names them on its screen after a person has resolved it, until they recover", async () => {
    await using site = await createDetected({ count: 4 });
    const { storm } = site;
    await site.recover(storm.monitors.slice(0, 1));
    await site.write("resolved");
    const page = await site.screen();
    expect(page.texts("#incident-recovered .notice")).toEqual([
      "API, Web app and Card payments are still down. No incident opens for these outages, only for the next one.",
    ]);
    expect(page.texts("#detected-by .detail-head .muted")).toEqual(["3 still down"]);
    await site.recover(storm.monitors.slice(1, 3));
    expect((await site.screen()).texts("#incident-recovered .notice")).toEqual([
      "Card payments is still down. No incident opens for this outage, only for the next one.",
    ]);
    await site.recover(storm.monitors.slice(3));
    expect((await site.screen()).texts("#incident-recovered .notice")).toEqual([]);
  });

  test("names them before it is deleted", async () => {
    await using site = await createDetected({ count: 2 });
    await site.recover(site.storm.monitors.slice(0, 1));
    const page = await site.screen(site.session, `${site.storm.path}/delete`);
    expect(page.texts("[data-dialog-body] .notice")).toEqual([
      "API is still down. No incident opens for this outage, only for the next one.",
    ]);
  });
});
