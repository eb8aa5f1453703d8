import { describe, expect, test } from "bun:test";
import { findPageBySlug } from "../../../../src/features/pages/store";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HTML } from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";
import {
  ADMIN_INCIDENTS,
  createIncidentDashboard,
  expectDone,
  incidentScreen,
} from "../../../support/incident-dashboard";
import { createComponent } from "../../../support/examined";

const MINUTE = 60_000;

describe("the screen of an incident", () => {
  test("the screen of an incident lists all updates with their authors, newest first", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ body: "First." });
    await site.app.clock.advance(5 * MINUTE);
    await dashboard.addUpdate(id, { status: "identified", body: "Second." });
    const page = readHtml((await dashboard.show(incidentScreen(id))).text);
    expect(page.texts(".timeline > li > p > .strong")).toEqual(["Identified", "Investigating"]);
    expect(page.texts(".timeline .text")).toEqual(["Second.", "First."]);
    const [second = "", first = ""] = page.texts(".timeline-by");
    expect(second).toStartWith("Test editor · Edit");
    expect(first).toStartWith("By the API key “test” · Edit");
    expect(page.texts(".timeline-head > time")).toEqual(["12:05, just now", "12:00, 5 min ago"]);
    expect(page.attributes(".timeline-head > time", "datetime")).toEqual([
      "2026-03-10T12:05:00.000Z",
      "2026-03-10T12:00:00.000Z",
    ]);
  });

  test("the timeline shows when an update was written if its display time differs", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    await site.app.clock.advance(30 * MINUTE);
    await site.update(id, { display_at: "2026-03-10T12:10:00Z" });
    const page = readHtml((await dashboard.show(incidentScreen(id))).text);
    expect(page.attributes(".timeline-by time", "datetime")).toEqual(["2026-03-10T12:30:00.000Z"]);
  });

  test("the screen of an incident shows its facts and a link to its public page", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const components = { [site.api]: "major_outage" };
    const { id } = await site.open({ components, external_ref: "PD-1", impact_override: "minor" });
    await site.app.clock.advance(90 * MINUTE);
    const page = readHtml((await dashboard.show(incidentScreen(id))).text);
    const facts = Object.fromEntries(
      page.texts(".facts dt").map((label, index) => [label, page.texts(".facts dd")[index]]),
    );
    expect(facts).toMatchObject({
      Impact: "Minor impact, set manually",
      Started: "Today, 12:00",
      "Reported by": "The API",
      "External reference": "PD-1",
      Id: id,
    });
    expect(page.texts(".head-facts > *")).toEqual([
      "Minor impact",
      "1 h 30 min, since 12:00 UTC",
      "Acme",
    ]);
    expect(page.texts(".phases li")).toEqual([
      "Investigating 12:00",
      "Identified",
      "Monitoring",
      "Resolved",
    ]);
    expect(page.texts('.phases [aria-current="step"]')).toEqual(["Investigating 12:00"]);
    expect(page.texts("#affected .detail-row")).toEqual(["APIMajor outage"]);
    expect(page.attributes("#affected a", "href")).toEqual([`/admin/components/${site.api}`]);
    const [link = ""] = page.attributes('.screen-head a[target="_blank"]', "href");
    expect(link).toBe(`/status/acme/incidents/${id}`);
    expect((await site.app.call(link)).status).toBe(200);
  });

  test("the update form neither offers nor accepts components of another page", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const other = await site.app.page({ slug: "other", name: "Other" }, ["Elsewhere"]);
    const { id } = await site.open();
    const names = readHtml((await dashboard.show(incidentScreen(id))).text).attributes(
      "select",
      "name",
    );
    expect(names).toEqual([`component:${site.api}`, `component:${site.web}`]);
    // Sent all the same, it is left alone.
    const elsewhere = other.components["Elsewhere"] ?? "";
    await dashboard.addUpdate(id, { [`component:${elsewhere}`]: "major_outage" });
    expect((await site.read(id)).components).toEqual([]);
  });

  test("the update form accepts a component that was added after the incident", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { app } = site;
    const { id } = await site.open();
    const late = await app.ctx.db.write((tx) => {
      const page = findPageBySlug(tx, { slug: "acme" });
      if (!page) throw new Error("the page is there");
      const at = { managedBy: null, position: 9, groupId: null };
      return createComponent(app.ctx, tx, page, { name: "Late" }, at, CLI_ACTOR).id;
    });
    await dashboard.addUpdate(id, { [`component:${late}`]: "major_outage" });
    expect((await site.read(id)).components).toMatchObject([{ id: late }]);
  });

  test("screens and actions of an unknown incident are not_found", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const before = await site.state();
    const unknown = incidentScreen("inc_01kah2v9w0e0rs6x0h3ye0a1bc");
    for (const path of ["", "/edit", "/postmortem", "/delete", "/updates/upd_1"]) {
      expect((await dashboard.show(unknown + path, { headers: HTML })).status).toBe(404);
    }
    for (const path of ["/updates", "/edit", "/postmortem", "/publish", "/delete"]) {
      const answer = await dashboard.send(unknown + path, { body: "x" }, { headers: HTML });
      expect(answer.status).toBe(404);
    }
    expect(await site.state()).toEqual(before);
  });

  test("a GET of the address of the update form redirects to the incident", async () => {
    await using dashboard = await createIncidentDashboard();
    const { id } = await dashboard.site.open();
    for (const path of ["/updates", "/updates/preview"]) {
      const answer = await dashboard.show(incidentScreen(id) + path);
      expect([answer.status, answer.headers.get("location")]).toEqual([303, incidentScreen(id)]);
    }
  });

  test("after the resolution, the form for an update gives way to the post-mortem", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site, viewer } = dashboard;
    const { id } = await site.open();
    const screen = incidentScreen(id);
    const read = async (path = screen, session?: string) => {
      const { text } = await dashboard.show(path, session === undefined ? {} : { session });
      const page = readHtml(text);
      return {
        primary: page.texts("main .button.primary"),
        hasForm: page.texts("#next-update form").length > 0,
        more: page.texts(".screen-head .more-items .button"),
        links: page.attributes(".screen-head .more-items a", "href"),
      };
    };
    expect(await read()).toMatchObject({
      primary: ["Publish update"],
      hasForm: true,
      more: ["Write post-mortem", "Delete"],
    });
    await site.update(id, { status: "resolved" });
    const over = await read();
    expect(over).toMatchObject({
      primary: ["Write post-mortem"],
      hasForm: false,
      more: ["Edit incident", "Add update", "Reopen incident", "Delete"],
    });
    expect((await read(screen, viewer)).primary).toEqual([]);
    // The links bring the form back, with the status that they name and no text.
    for (const [index, status] of [
      [1, "resolved"],
      [2, "investigating"],
    ] as const) {
      const path = over.links[index]?.replace("#next-update", "") ?? "";
      const { text } = await dashboard.show(path);
      expect(typedIn(text, "status")).toEqual([status]);
      const form = readHtml(text);
      expect(form.texts("#field-body")).toEqual([""]);
      expect(form.texts("main .button.primary")).toEqual(["Publish update"]);
    }
    const rejected = await dashboard.addUpdate(id, { body: "" });
    expect(rejected.status).toBe(422);
    expect(readHtml(rejected.text).texts("#next-update form")).toHaveLength(1);
  });

  test("a written post-mortem is the primary action until it is published, and the facts show its state", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ status: "resolved" });
    const screen = incidentScreen(id);
    const read = async () => {
      const page = readHtml((await dashboard.show(screen)).text);
      return {
        primary: page.texts(".screen-head .primary"),
        fact: page.texts("#details dd").at(-3),
        isShown: page.texts("#postmortem").length > 0,
      };
    };
    expect(await read()).toEqual({
      primary: ["Write post-mortem"],
      fact: "None yet",
      isShown: false,
    });
    const write = (publish: boolean) =>
      site.app.call(`/api/v1/incidents/${id}/postmortem`, {
        method: "PUT",
        key: site.key,
        json: { body: "A disk was full.", publish },
      });
    expect((await write(false)).status).toBe(200);
    expect(await read()).toEqual({
      primary: ["Edit post-mortem"],
      fact: "Not published",
      isShown: true,
    });
    expect((await write(true)).status).toBe(200);
    expect(await read()).toEqual({ primary: [], fact: "Published", isShown: true });
  });

  test("a resolved incident says for how long its components had each status, worst first", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { api, web } = site;
    const { id } = await site.open({ components: { [api]: "partial_outage" } });
    await site.app.clock.advance(35 * MINUTE);
    await site.update(id, { components: { [api]: "major_outage", [web]: "degraded_performance" } });
    await site.app.clock.advance(51 * MINUTE);
    const affected = async () => {
      const page = readHtml((await dashboard.show(incidentScreen(id))).text);
      return [...page.texts("#affected h2"), ...page.texts("#affected .detail-row")];
    };
    expect(await affected()).toEqual(["Affects", "APIMajor outage", "WebDegraded performance"]);
    await site.update(id, { components: { [web]: "operational" } });
    expect((await affected()).at(-1)).toBe("WebEnded");
    await site.update(id, { status: "resolved" });
    expect(await affected()).toEqual([
      "Affected (ended)",
      "APIMajor outage for 51 min, partial outage for 35 min",
      "WebDegraded performance for 51 min",
    ]);
    const page = readHtml((await dashboard.show(incidentScreen(id))).text);
    expect(page.texts(".head-facts > *")).toEqual([
      "Resolved",
      "Was critical",
      "1 h 26 min, 12:00–13:26 UTC",
      "Acme",
    ]);
  });
});

describe("a draft", () => {
  test("a draft is marked, has no public page, and its updates record no event", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ draft: true, components: { [site.api]: "major_outage" } });
    const screen = incidentScreen(id);
    const page = readHtml((await dashboard.show(screen)).text);
    expect(page.texts(".notice .strong")).toEqual(["This is a draft"]);
    expect(page.attributes(".timeline-dot .shape", "class")).toEqual(["shape t-none hollow"]);
    expect(page.texts("main label")).toContain("Send notifications when published");
    expect(page.attributes('.screen-head a[target="_blank"]', "href")).toEqual([]);
    site.newEventTypes();
    const answer = await dashboard.addUpdate(id, { body: "For later." });
    expect(await expectDone(dashboard, answer, screen)).toBe("The update was added to the draft.");
    expect(site.newEventTypes()).toEqual([]);
    expect((await site.shown()).api).toBe("operational");
  });

  test("publishing a draft records incident.created and applies its statuses, once", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ draft: true, components: { [site.api]: "major_outage" } });
    const screen = incidentScreen(id);
    site.newEventTypes();
    const answer = await dashboard.send(`${screen}/publish`);
    expect(await expectDone(dashboard, answer, screen)).toBe("The incident was published.");
    expect(site.newEventTypes()).toEqual(["incident.created", "component.status_changed"]);
    expect((await site.shown()).api).toBe("major_outage");
    const before = await site.state();
    const again = await dashboard.send(`${screen}/publish`);
    expect(await expectDone(dashboard, again, screen)).toBe("Nothing was changed.");
    expect(await site.state()).toEqual(before);
  });

  test("a viewer sees a draft without the button to publish it, and cannot publish it", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site, viewer } = dashboard;
    const { id } = await site.open({ draft: true });
    const screen = incidentScreen(id);
    const { text } = await dashboard.show(screen, { session: viewer });
    expect(readHtml(text).texts("main button")).toEqual([]);
    const before = await site.state();
    const answer = await dashboard.send(
      `${screen}/publish`,
      {},
      { session: viewer, headers: HTML },
    );
    expect(answer.status).toBe(403);
    expect(await site.state()).toEqual(before);
  });
});

describe("deleting an incident", () => {
  test("deleting an incident asks for confirmation, removes it, ends its causes and records an event", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    const screen = incidentScreen(id);
    const confirmation = readHtml((await dashboard.show(`${screen}/delete`)).text);
    expect(confirmation.texts("h1")).toEqual(["Delete “Errors”?"]);
    expect(confirmation.texts(".dialog-body p").join(" ")).toContain(
      "The component statuses that it set end now",
    );
    expect((await site.shown()).api).toBe("major_outage");
    site.newEventTypes();
    const answer = await dashboard.send(`${screen}/delete`);
    expect(await expectDone(dashboard, answer, ADMIN_INCIDENTS)).toBe("“Errors” was deleted.");
    expect(site.newEventTypes()).toContain("incident.deleted");
    expect((await site.shown()).api).toBe("operational");
    expect((await dashboard.show(screen, { headers: HTML })).status).toBe(404);
    expect((await site.app.call(`/status/acme/incidents/${id}`, { headers: HTML })).status).toBe(
      404,
    );
    expect(site.app.audit().at(-1)).toMatchObject({ action: "incident.delete", targetId: id });
  });

  test("a viewer can neither open nor submit the deletion of an incident", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site, viewer } = dashboard;
    const { id } = await site.open();
    const path = `${incidentScreen(id)}/delete`;
    const before = await site.state();
    const as = { session: viewer, headers: HTML };
    expect((await dashboard.show(path, as)).status).toBe(403);
    expect((await dashboard.send(path, {}, as)).status).toBe(403);
    expect(await site.state()).toEqual(before);
  });
});
