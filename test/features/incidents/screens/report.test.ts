import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../../../support/app";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { createReportSite, ledTo, REPORT } from "../../../support/report-dashboard";

describe("the form to report an incident", () => {
  test("the report form asks for name, components, message and status in this order, then offers more", async () => {
    await using site = await createReportSite();
    const { text } = await site.app.call(REPORT, { session: site.session });
    const page = readHtml(text);
    expect(page.texts("main form .label").slice(0, 5)).toEqual([
      "Name",
      "Components",
      "Message templates",
      "First message",
      "Status",
    ]);
    expect(page.texts("main form > .actions button")).toEqual([
      "Publish incident",
      "Save as draft",
      "Preview",
    ]);
    expect(page.texts("details.fold summary")).toEqual(["More options"]);
    expect(page.attributes("details.fold", "open")).toEqual([]);
  });

  test("a link to the report form preselects a page and its components with their statuses", async () => {
    await using site = await createReportSite();
    const { app, session } = site;
    const shop = await app.page({ slug: "shop", name: "Shop" }, ["Cart", "Search", "Blog"]);
    const { Cart: cart = "", Search: search = "" } = shop.components;
    await site.open({ page: "shop", components: { [cart]: "partial_outage" } });
    const open = async (query: string) => {
      const { text } = await app.call(`${REPORT}?${query}`, { session });
      return readHtml(text).attributes("select option[selected]", "value").filter(Boolean);
    };
    const preset = await open(`page=${shop.page.id}&component=${cart},${search},${site.api}`);
    expect(preset).toEqual([shop.page.id, "partial_outage", "degraded_performance"]);
    expect(await open("page=shop")).toEqual([shop.page.id]);
    const none = await open(`component=${cart},cmp_unknown,`);
    expect(none).not.toContain("partial_outage");
  });

  test("the report form links to the components of a page that has none", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", name: "Acme" }, []);
    const { text } = await app.call(REPORT, { session: await app.signedIn("editor") });
    const page = readHtml(text);
    expect(page.texts("form > p a")).toEqual(["Acme has no components yet"]);
    expect(page.attributes("form > p a", "href")).toEqual(["/admin/components?page=acme"]);
  });

  test("reporting an incident publishes it, applies its statuses, records events and is audited", async () => {
    await using site = await createReportSite();
    site.newEventTypes();
    const answer = await site.report({
      name: "  Checkout fails ",
      body: "We look into it.\r\n\r\nMore soon.",
      [site.field(site.api)]: "major_outage",
      [site.field(site.web)]: "",
    });
    expect(answer.status).toBe(303);
    const [id = ""] = ledTo(answer).match(/inc_\w+$/) ?? [];
    expect(await site.read(id)).toMatchObject({
      name: "Checkout fails",
      status: "investigating",
      impact: "critical",
      source: "dashboard",
      draft: false,
      components: [{ id: site.api, name: "API", status: "major_outage" }],
      updates: [{ body: "We look into it.\n\nMore soon.", status: "investigating" }],
    });
    expect(await site.shown()).toEqual({ api: "major_outage", web: "operational" });
    expect(site.newEventTypes()).toEqual(["incident.created", "component.status_changed"]);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "incident.create",
      actorKind: "user",
      targetId: id,
    });
    const list = await site.app.call("/admin/incidents", { session: site.session });
    expect(readHtml(list.text).texts('[role="status"]')).toEqual(["The incident was published."]);
    expect((await site.app.call("/status/acme")).text).toContain("Checkout fails");
  });

  test("the checkbox for notifications decides notify of the event", async () => {
    await using site = await createReportSite();
    await site.report({ name: "Loud" });
    const { notify: _, ...silent } = await site.filledIn({ name: "Quiet" });
    await site.app.call(REPORT, { session: site.session, form: silent });
    const events = site.app.events().map(({ data }) => [data["name"], data["notify"]]);
    expect(events).toEqual([
      ["Loud", true],
      ["Quiet", false],
    ]);
  });

  test("submitting one report form several times, also at once, creates one incident", async () => {
    await using site = await createReportSite();
    const form = await site.filledIn();
    const send = () => site.app.call(REPORT, { session: site.session, form });
    const answers = [...(await Promise.all([send(), send()])), await send()];
    expect(new Set(answers.map(ledTo)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(site.newEventTypes()).toEqual(["incident.created"]);
    await site.report();
    expect(site.newEventTypes()).toEqual(["incident.created"]);
  });

  test("a reported draft applies no statuses, records no events and is not public", async () => {
    await using site = await createReportSite();
    site.newEventTypes();
    const answer = await site.report({ intent: "draft", [site.field(site.api)]: "partial_outage" });
    const [id = ""] = ledTo(answer).match(/inc_\w+$/) ?? [];
    expect(await site.read(id)).toMatchObject({ draft: true, impact: "major" });
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
    expect(site.newEventTypes()).toEqual([]);
    expect((await site.app.call("/status/acme")).text).not.toContain("Checkout fails");
  });

  test("a past incident is reported with its own times", async () => {
    await using site = await createReportSite();
    const answer = await site.report({
      status: "resolved",
      started_at: "2026-03-09T10:00",
      resolved_at: "2026-03-09T11:30",
      impact_override: "minor",
      external_ref: "OPS-7",
      [site.field(site.web)]: "partial_outage",
    });
    const [id = ""] = ledTo(answer).match(/inc_\w+$/) ?? [];
    expect(await site.read(id)).toMatchObject({
      status: "resolved",
      started_at: "2026-03-09T10:00:00.000Z",
      resolved_at: "2026-03-09T11:30:00.000Z",
      impact: "minor",
      external_ref: "OPS-7",
    });
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
  });
});

describe("an invalid report of an incident", () => {
  test("an invalid report is redisplayed with all errors and typed values, and nothing is written", async () => {
    await using site = await createReportSite();
    const before = await site.state();
    const answer = await site.report({
      name: " ",
      body: "",
      status: "exploded",
      impact_override: "total",
      started_at: "yesterday",
      resolved_at: "2026-03-10T11:00",
      external_ref: "O\u202ePS",
      [site.field(site.api)]: "on_fire",
    });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      name: "Name is empty.",
      components:
        "Components must be one of operational, under_maintenance, degraded_performance, partial_outage, major_outage.",
      body: "First message is empty.",
      status: "Status must be one of investigating, identified, monitoring, resolved.",
      impact_override: "Impact must be one of none, minor, major, critical.",
      started_at: "Started at must be a date and a time such as 2027-01-31 14:00.",
      external_ref: "External reference holds control characters or bidirectional overrides.",
    });
    expect(typedIn(answer.text, "started_at")).toEqual(["yesterday"]);
    expect(typedIn(answer.text, "resolved_at")).toEqual(["2026-03-10T11:00"]);
    expect(readHtml(answer.text).attributes("details.fold", "open")).toHaveLength(1);
    expect(await site.state()).toEqual(before);
  });

  test("a rejected report keeps the chosen component statuses", async () => {
    await using site = await createReportSite();
    const answer = await site.report({ name: "", [site.field(site.web)]: "degraded_performance" });
    const chosen = readHtml(answer.text).attributes(
      `select[name="${site.field(site.web)}"] option[selected]`,
      "value",
    );
    expect(chosen).toEqual(["degraded_performance"]);
  });

  test("a report with impossible times is rejected", async () => {
    await using site = await createReportSite();
    const before = await site.state();
    const future = await site.report({ started_at: "2026-03-10T13:00" });
    expect(fieldErrorsOn(future.text)).toEqual({
      started_at: "Started at is in the future.",
    });
    const open = await site.report({ resolved_at: "2026-03-10T11:00" });
    expect(fieldErrorsOn(open.text)).toHaveProperty("resolved_at");
    expect(await site.state()).toEqual(before);
  });

  test("a report with a used reference names the incident that has it", async () => {
    await using site = await createReportSite();
    const { id } = await site.open({ external_ref: "OPS-1" });
    const before = await site.state();
    const answer = await site.report({ external_ref: "OPS-1" });
    expect(answer.status).toBe(409);
    expect(fieldErrorsOn(answer.text)["external_ref"]).toContain(id);
    expect(await site.state()).toEqual(before);
  });
});

describe("permission to report an incident", () => {
  test("a viewer can neither open nor submit the report form and sees no link to it", async () => {
    await using site = await createReportSite("viewer");
    const before = await site.state();
    expectProblem(await site.app.call(REPORT, { session: site.session }), "insufficient_role");
    expectProblem(await site.report(), "insufficient_role");
    const list = await site.app.call("/admin/incidents", { session: site.session });
    expect(list.status).toBe(200);
    expect(list.text).not.toContain(REPORT);
    expect(await site.state()).toEqual(before);
  });

  test("a page of another site cannot report an incident", async () => {
    await using site = await createReportSite();
    const before = await site.state();
    const foreign = { headers: { origin: "https://elsewhere.test" } };
    expectProblem(await site.report({}, foreign), "cross_site_request");
    expect(await site.state()).toEqual(before);
    expect((await site.report()).status).toBe(303);
  });
});
