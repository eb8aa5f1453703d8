import { describe, expect, test } from "bun:test";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { expectProblem } from "../../../support/app";
import { openForm } from "../../../support/dashboard";
import { createMaintenanceDashboard, MAINTENANCE } from "../../../support/maintenance-dashboard";
import { at } from "../../../support/maintenance-site";

const HOUR = 3_600_000;
const UPDATE = { status: "", body: "Search is back.", display_at: "", notify: "yes" };

describe("the screen of a maintenance", () => {
  test("a viewer sees plan and updates of a maintenance and no actions", async () => {
    await using dashboard = await createMaintenanceDashboard("viewer");
    const { site } = dashboard;
    const id = await site.plan({ body: "A **minute** <b>without</b> search." });
    await site.update(id, { status: "in_progress", body: "We began." });
    const { status, text } = await dashboard.open(`${MAINTENANCE}/${id}`);
    const page = readHtml(text);
    expect(status).toBe(200);
    expect(page.texts("h1")).toEqual(["Database upgrade"]);
    expect(page.texts(".timeline .strong")).toEqual(["In progress", "Scheduled"]);
    expect(page.texts(".text strong")).toEqual(["minute"]);
    expect(text).toContain("&lt;b&gt;without&lt;/b&gt;");
    expect(text).toContain("By the API key “test”");
    expect(page.texts("dd").join(" ")).toContain("Tue, 10 Mar 2026, 14:00–15:00 UTC");
    expect(page.attributes("main form", "action")).toEqual([]);
    expect(page.attributes("main .button", "href")).toEqual([`/status/acme/maintenance/${id}`]);
  });

  test("an editor is offered the actions that fit the status of a maintenance, and none once it has ended", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    const path = `${MAINTENANCE}/${id}`;
    const buttons = async () => {
      const page = readHtml((await dashboard.open(path)).text);
      return page.texts(".screen-head .button");
    };
    expect(await buttons()).toEqual([
      "View on page",
      "Edit",
      "Start now",
      "More actions",
      "Cancel maintenance",
    ]);
    await site.update(id, { status: "in_progress", body: "Now." });
    expect(await buttons()).toEqual([
      "View on page",
      "Edit",
      "Complete early",
      "More actions",
      "Cancel maintenance",
    ]);
    await site.app.clock.advance(4 * HOUR);
    expect(await buttons()).toEqual([
      "View on page",
      "Edit",
      "Complete now",
      "More actions",
      "Cancel maintenance",
    ]);
    await site.update(id, { status: "completed", body: "Done." });
    expect(await buttons()).toEqual(["View on page"]);
    expect(readHtml((await dashboard.open(path)).text).texts("main form")).toEqual([]);
  });

  test("completed maintenance is green in its head and phases, its updates keep their tones, and lists show the tone of maintenance", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    await site.update(id, { status: "in_progress", body: "Now." });
    const read = async () => {
      const page = readHtml((await dashboard.open(`${MAINTENANCE}/${id}`)).text);
      return {
        state: page.attributes("#maintenance-state .shape", "class"),
        phases: page.attributes(".phases", "class"),
        updates: page.attributes(".timeline-dot .shape", "class"),
        affected: page.attributes("#affected .shape", "class"),
        names: page.texts("#affected h2, #affected .detail-row"),
      };
    };
    expect(await read()).toEqual({
      state: ["shape t-maint"],
      phases: ["phases t-maint"],
      updates: ["shape t-maint", "shape t-none hollow"],
      affected: ["shape t-maint"],
      names: ["Affects", "APIUnder maintenance"],
    });
    await site.update(id, { status: "completed", body: "Done." });
    expect(await read()).toEqual({
      state: ["shape t-ok"],
      phases: ["phases t-ok"],
      updates: ["shape t-ok", "shape t-maint", "shape t-none hollow"],
      affected: ["shape t-ok"],
      names: ["Affected (ended)", "APIWas under maintenance"],
    });
    const list = readHtml((await dashboard.open(MAINTENANCE)).text);
    expect(list.attributes("tbody .shape", "class")).toEqual(["shape t-maint"]);
    expect(list.texts("tbody .chip.t-ok")).toEqual(["Completed"]);
  });

  test("screens of an unknown maintenance are not_found", async () => {
    await using dashboard = await createMaintenanceDashboard();
    for (const path of ["mnt_none", "mnt_none/edit", "mnt_none/start", "mnt_none/cancel"]) {
      expect((await dashboard.open(`${MAINTENANCE}/${path}`)).status).toBe(404);
    }
  });
});

describe("an update of a maintenance", () => {
  test("an update of a maintenance is published with its status", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site, session } = dashboard;
    const id = await site.plan();
    const path = `${MAINTENANCE}/${id}`;
    const form = await openForm(site.app, path, session);
    const answer = await dashboard.send(path, { form, ...UPDATE, status: "in_progress" });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(path);
    expect(await site.get(id)).toMatchObject({
      status: "in_progress",
      updates: [{ status: "in_progress", body: "Search is back." }, { status: "scheduled" }],
    });
    expect(await site.statusOf("API")).toBe("under_maintenance");
    expect(site.eventTypes()).toEqual(["maintenance.scheduled", "maintenance.started"]);
    expect(readHtml((await dashboard.open(path)).text).texts(".flash")).toEqual([
      "The update was published.",
    ]);
  });

  test("an update without a status keeps the current one and can have an earlier time", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    await site.app.clock.advance(HOUR);
    await site.update(id, { status: "in_progress", body: "Now." });
    await site.app.clock.advance(HOUR);
    const update = { ...UPDATE, display_at: "2026-03-10T13:30", notify: [] };
    expect((await dashboard.send(`${MAINTENANCE}/${id}`, update)).status).toBe(303);
    const [latest] = (await site.get(id)).updates;
    expect(latest).toMatchObject({ status: "in_progress", display_at: at("13:30:00") });
    expect(site.app.events().at(-1)?.data["notify"]).toBe(false);
  });

  const WRONG = [
    { what: "no message", fields: { body: "  " }, at: "body", error: "Message is empty." },
    {
      what: "an unknown status",
      fields: { status: "paused" },
      at: "status",
      error: /^Status must be one of scheduled, /,
    },
    {
      what: "an invalid time",
      fields: { display_at: "yesterday" },
      at: "display_at",
      error: "Took effect at must be a date and a time such as 2027-01-31 14:00.",
    },
    {
      what: "a time in the future",
      fields: { display_at: "2026-03-10T12:30" },
      at: "display_at",
      error: "Took effect at is in the future.",
    },
  ];

  for (const { what, fields, at: field, error } of WRONG) {
    test(`an update of a maintenance with ${what} is redisplayed with its message, and publishes nothing`, async () => {
      await using dashboard = await createMaintenanceDashboard();
      const { site } = dashboard;
      const id = await site.plan();
      const before = await site.state();
      const answer = await dashboard.send(`${MAINTENANCE}/${id}`, { ...UPDATE, ...fields });
      expect(answer.status).toBe(422);
      const errors = fieldErrorsOn(answer.text);
      expect(Object.keys(errors)).toEqual([field]);
      expect(errors[field]).toMatch(error);
      const body = field === "body" ? "" : "Search is back.";
      expect(readHtml(answer.text).texts("textarea")).toEqual([body]);
      expect(await site.state()).toEqual(before);
      expect((await dashboard.send(`${MAINTENANCE}/${id}`, UPDATE)).status).toBe(303);
    });
  }

  test("an update of an ended maintenance is rejected and shows its message to be copied", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site, session } = dashboard;
    const id = await site.plan();
    const form = await openForm(site.app, `${MAINTENANCE}/${id}`, session);
    await site.cancel(id);
    const before = await site.state();
    const answer = await dashboard.send(`${MAINTENANCE}/${id}`, { form, ...UPDATE });
    const page = readHtml(answer.text);
    expect(answer.status).toBe(409);
    expect(page.texts('[role="alert"]')).toEqual([
      "The maintenance is cancelled, which is final. Nothing was published.",
    ]);
    expect(page.texts("main code")[0]).toBe("Search is back.");
    expect(await site.state()).toEqual(before);
  });

  test("submitting one update form of a maintenance twice adds one update", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site, session } = dashboard;
    const id = await site.plan();
    const path = `${MAINTENANCE}/${id}`;
    const form = { form: await openForm(site.app, path, session), ...UPDATE };
    const answers = await Promise.all([1, 2].map(() => dashboard.send(path, form)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect((await site.get(id)).updates).toHaveLength(2);
    const again = { ...form, form: await openForm(site.app, path, session) };
    await dashboard.send(path, again);
    expect((await site.get(id)).updates).toHaveLength(3);
  });

  test("an update of a maintenance can be previewed, which writes nothing", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    const before = await site.state();
    const path = `${MAINTENANCE}/${id}/preview`;
    const answer = await dashboard.send(path, { ...UPDATE, status: "in_progress" });
    expect(answer.status).toBe(200);
    expect(readHtml(answer.text).texts(".timeline strong")).toEqual(["In progress", "Scheduled"]);
    expect(answer.text).toContain("Preview. Nothing was published.");
    const wrong = await dashboard.send(path, { ...UPDATE, body: "" });
    expect(fieldErrorsOn(wrong.text)).toEqual({ body: "Message is empty." });
    expect(await site.state()).toEqual(before);
    expect((await dashboard.open(path)).headers.get("location")).toBe(`${MAINTENANCE}/${id}`);
  });

  test("an update of a maintenance by a viewer or from another site is rejected", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site, session } = dashboard;
    const path = `${MAINTENANCE}/${await site.plan()}`;
    const viewer = await site.app.signedIn("viewer");
    const before = await site.state();
    for (const sent of [path, `${path}/preview`]) {
      expectProblem(
        await site.app.call(sent, { session: viewer, form: UPDATE }),
        "insufficient_role",
      );
    }
    const headers = { origin: "https://elsewhere.example" };
    expectProblem(
      await site.app.call(path, { session, form: UPDATE, headers }),
      "cross_site_request",
    );
    expect(await site.state()).toEqual(before);
  });

  test("the update form of a maintenance starts with its current status", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const id = await dashboard.site.plan();
    const { text } = await dashboard.open(`${MAINTENANCE}/${id}`);
    expect(typedIn(text, "status")).toEqual([""]);
    expect(readHtml(text).texts(".choice label")).toEqual(["Scheduled", "In progress"]);
  });
});
