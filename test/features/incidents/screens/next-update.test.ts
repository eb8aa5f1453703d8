import { describe, expect, test } from "bun:test";
import { HTML } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  ADMIN_INCIDENTS,
  createIncidentDashboard,
  expectDone,
  hiddenIn,
  incidentScreen,
} from "../../../support/incident-dashboard";

describe("the next update of an incident", () => {
  test("an update is on the page at once, recorded as an event, and audited with its author", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    site.newEventTypes();
    const form = { status: "identified", body: "It is the **disk**.\r\n\r\nMore soon." };
    const text = await expectDone(
      dashboard,
      await dashboard.addUpdate(id, form),
      incidentScreen(id),
    );
    expect(text).toBe("The update was published.");
    expect((await site.read(id)).updates[0]).toMatchObject({
      status: "identified",
      body: "It is the **disk**.\n\nMore soon.",
    });
    expect(site.newEventTypes()).toEqual(["incident.updated"]);
    expect(site.app.events().at(-1)?.data).toMatchObject({ notify: true });
    const page = (await site.app.call(`/status/acme/incidents/${id}`)).text;
    expect(page).toContain("It is the <strong>disk</strong>.");
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "incident.add_update",
      actorKind: "user",
    });
  });

  test("the update form starts with the current status, so that only a message is needed", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ status: "monitoring" });
    const { text } = await dashboard.show(incidentScreen(id));
    expect(typedIn(text, "status")).toEqual(["monitoring"]);
    await dashboard.addUpdate(id, { body: "Still watching." });
    expect((await site.read(id)).updates).toMatchObject([
      { status: "monitoring", body: "Still watching." },
      { status: "monitoring" },
    ]);
  });

  test("an update sets the chosen component statuses and keeps the others", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { api, web } = site;
    const { id } = await site.open({ components: { [api]: "partial_outage" } });
    await dashboard.addUpdate(id, {
      [`component:${web}`]: "major_outage",
      [`component:${api}`]: "",
    });
    expect(await site.shown()).toEqual({ api: "partial_outage", web: "major_outage" });
    const { updates } = await site.read(id);
    expect(updates[0].components).toMatchObject([{ id: web, new_status: "major_outage" }]);
  });

  test("the confirmation of a resolved incident names a component that something else still marks", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const key = await site.app.keyWith("write:components");
    const json = { status: "degraded_performance", reason: "Slow" };
    const path = `/api/v1/components/${site.api}`;
    expect((await site.app.call(path, { method: "PATCH", key, json })).status).toBe(200);
    const { id } = await site.open({
      components: { [site.api]: "major_outage", [site.web]: "major_outage" },
    });
    const update = await dashboard.addUpdate(id, { status: "resolved", body: "Over." });
    expect(await expectDone(dashboard, update, incidentScreen(id))).toBe(
      "The incident is resolved. API is still not operational, for another cause.",
    );
  });

  test("without JavaScript, a template button fills in status and message and keeps the other fields", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    const screen = incidentScreen(id);
    const offered = readHtml((await dashboard.show(screen)).text);
    expect(offered.attributes(".template-menu button", "value")).toContain("resolved");
    const kept = { [`component:${site.web}`]: "degraded_performance" };
    const { status, text } = await dashboard.addUpdate(id, {
      body: "",
      template: "resolved",
      ...kept,
    });
    expect(status).toBe(200);
    expect((await site.read(id)).updates).toHaveLength(1);
    const selected = readHtml(text).attributes(".select-row option[selected]", "value");
    expect(selected).toContain("degraded_performance");
    expect(typedIn(text, "status")).toEqual(["resolved"]);
    const [body = ""] = readHtml(text).texts("#field-body");
    expect(body).not.toBe("");
    const said = await expectDone(
      dashboard,
      await dashboard.addUpdate(id, { status: "resolved", body }),
      screen,
    );
    expect(said).toBe("The incident is resolved.");
    expect(await site.read(id)).toMatchObject({ status: "resolved" });
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
  });

  test("an update with another status reopens a resolved incident, and the confirmation mentions the reopening", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ status: "resolved" });
    site.newEventTypes();
    const answer = await dashboard.addUpdate(id, { status: "investigating" });
    expect(await expectDone(dashboard, answer, incidentScreen(id))).toBe(
      "The incident is open again.",
    );
    expect(site.newEventTypes()).toEqual(["incident.reopened"]);
  });

  test("the confirmation of an update compares it with the update before, not with the status that its form showed", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ status: "monitoring" });
    await dashboard.addUpdate(id, { status: "resolved" });
    const reopened = await dashboard.addUpdate(id, {
      seen_status: "monitoring",
      status: "identified",
    });
    expect(await expectDone(dashboard, reopened, incidentScreen(id))).toBe(
      "The incident is open again.",
    );
  });

  test("an update that is sent again after its incident was deleted changes nothing", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site, editor } = dashboard;
    const { id } = await site.open();
    const screen = incidentScreen(id);
    const form = {
      ...hiddenIn((await dashboard.show(screen)).text),
      status: "identified",
      body: "B",
    };
    const send = () => site.app.call(`${screen}/updates`, { session: editor, form });
    expect((await send()).headers.get("location")).toBe(screen);
    await dashboard.fill(`${screen}/delete`, `${screen}/delete`, {});
    const again = await send();
    expect([again.status, again.headers.get("location")]).toEqual([303, ADMIN_INCIDENTS]);
  });

  test("an update with notifications unchecked has notify: false", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    await dashboard.addUpdate(id, { notify: [] });
    expect(site.app.events().at(-1)?.data).toMatchObject({ notify: false });
  });

  test("submitting one update form several times adds one update, and a new form adds another", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    const screen = incidentScreen(id);
    const { text } = await dashboard.show(screen);
    const [form = "", seen = ""] = ["form", "seen_status"].flatMap((name) => typedIn(text, name));
    expect([form, seen]).not.toContain("");
    const fields = { form, seen_status: seen, status: "identified", body: "Once." };
    const send = () => dashboard.send(`${screen}/updates`, fields);
    const answers = [...(await Promise.all([send(), send(), send()])), await send()];
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    expect((await site.read(id)).updates).toHaveLength(2);
    await dashboard.addUpdate(id, { body: "Once." });
    expect((await site.read(id)).updates).toHaveLength(3);
  });

  const rejected: { what: string; form: Record<string, string>; wrong: string[] }[] = [
    { what: "no message", form: { body: "" }, wrong: ["body"] },
    { what: "a message of blanks", form: { body: " \r\n " }, wrong: ["body"] },
    { what: "a message that is too long", form: { body: "x".repeat(10_001) }, wrong: ["body"] },
    {
      what: "a status that is none",
      form: { status: "gone", body: "" },
      wrong: ["status", "body"],
    },
    { what: "no status", form: { status: "" }, wrong: ["status"] },
  ];
  for (const { what, form, wrong } of rejected) {
    test(`an update with ${what} is rejected with an error at the field, and nothing is written`, async () => {
      await using dashboard = await createIncidentDashboard();
      const { site } = dashboard;
      const { id } = await site.open();
      const before = await site.state();
      const answer = await dashboard.addUpdate(id, form);
      expect(answer.status).toBe(422);
      expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(wrong);
      expect(await site.state()).toEqual(before);
    });
  }

  test("a rejected update is redisplayed with all typed values and can be sent once corrected", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    const component = `component:${site.web}`;
    const form = { status: "identified", body: "x".repeat(10_001), [component]: "partial_outage" };
    const { text } = await dashboard.addUpdate(id, { ...form, notify: [] });
    const page = readHtml(text);
    expect(page.texts("#field-body")).toEqual([form.body]);
    expect(typedIn(text, "status")).toEqual(["identified"]);
    expect(typedIn(text, "notify")).toEqual([]);
    const chosen = page.attributes(`select[name="${component}"] option[selected]`, "value");
    expect(chosen).toEqual(["partial_outage"]);
    // What was chosen is in sight, not folded away.
    expect(page.attributes("details.fold[open]", "class")).toHaveLength(1);
    expect((await dashboard.addUpdate(id, { ...form, body: "Short." })).status).toBe(303);
    expect((await site.shown()).web).toBe("partial_outage");
  });

  test("an update with an invalid component status is rejected, and nothing is written", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    const before = await site.state();
    const answer = await dashboard.addUpdate(id, { [`component:${site.web}`]: "exploded" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["components"]);
    expect(await site.state()).toEqual(before);
  });

  test("an update whose form shows an outdated status is a conflict unless its author chose another status", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    const screen = incidentScreen(id);
    const { text } = await dashboard.show(screen);
    const [form = ""] = typedIn(text, "form");
    const fields = { form, seen_status: "investigating", body: "Still looking." };
    await site.update(id, { status: "resolved" });
    const before = await site.state();
    const answer = await dashboard.send(`${screen}/updates`, {
      ...fields,
      status: "investigating",
    });
    expect(answer.status).toBe(409);
    const page = readHtml(answer.text);
    expect(page.texts('[role="alert"]').join(" ")).toContain("The incident became “Resolved”");
    expect(page.texts("#field-body")).toEqual(["Still looking."]);
    expect(typedIn(answer.text, "status")).toEqual(["resolved"]);
    expect(await site.state()).toEqual(before);
    // Who chooses a status means it.
    const meant = { ...fields, status: "identified", notify: "yes" };
    expect((await dashboard.send(`${screen}/updates`, meant)).status).toBe(303);
    expect((await site.read(id)).status).toBe("identified");
  });
});

describe("permission to add an update", () => {
  test("an editor can add an update; a viewer sees no form and cannot add or preview one", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site, viewer } = dashboard;
    const { id } = await site.open();
    const screen = incidentScreen(id);
    const seen = await dashboard.show(screen, { session: viewer });
    expect(seen.status).toBe(200);
    expect(readHtml(seen.text).texts("main h2")).toContain("Timeline");
    expect(readHtml(seen.text).texts("main form, main .button")).toEqual(["View on page"]);
    const before = await site.state();
    const form = { status: "identified", body: "More." };
    for (const path of [`${screen}/updates`, `${screen}/updates/preview`]) {
      const answer = await dashboard.send(path, form, { session: viewer, headers: HTML });
      expect(answer.status).toBe(403);
    }
    expect(await site.state()).toEqual(before);
    expect((await dashboard.send(`${screen}/updates`, form)).status).toBe(303);
  });

  test("a page of another site cannot add an update", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    const before = await site.state();
    const form = { status: "identified", body: "More." };
    const headers = { ...HTML, origin: "https://elsewhere.example" };
    const answer = await dashboard.send(`${incidentScreen(id)}/updates`, form, { headers });
    expect(answer.status).toBe(403);
    expect(await site.state()).toEqual(before);
  });
});
