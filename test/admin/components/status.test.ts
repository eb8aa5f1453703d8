import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import {
  type ArrangedSite,
  COMPONENTS,
  createArrangedSite,
  outcomeOf,
} from "../../support/grouped-site";
import { HTML } from "../../support/dashboard";
import { complaintsOn, readHtml, typedIn } from "../../support/html";

const formOf = ({ ids }: ArrangedSite, name = "API") => `${COMPONENTS}/${ids[name]}/status`;

/** Reads a component's status, manual status and history from the API. */
async function read({ app, ids }: ArrangedSite, name = "API") {
  const key = await app.keyWith("read:status");
  const path = `/api/v1/components/${ids[name]}`;
  const { body } = await app.call(path, { key });
  const history = (await app.call(`${path}/history`, { key })).body.data;
  return { status: body.status, baseline: body.baseline_status, history };
}

/** Opens an incident that marks the component API. */
async function openIncident({ app, ids }: ArrangedSite, status: string): Promise<string> {
  const key = await app.keyWith("write:incidents");
  const components = { [ids["API"] ?? ""]: status };
  const json = { page: "acme", name: "Errors", body: "We look.", components };
  const answer = await app.call("/api/v1/incidents", { method: "POST", key, json });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

describe("marking a component's status by hand", () => {
  test("shows it at once, records who did it and why, and tells one event", async () => {
    await using site = await createArrangedSite();
    const { app, ids } = site;
    const session = await app.signedIn("editor");
    const form = { status: "partial_outage", reason: "The disk is full.\r\nWe swap it." };
    const answer = await app.call(formOf(site), { session, form });
    expect(await outcomeOf(site, answer, session)).toEqual({
      path: `${COMPONENTS}?page=acme#${ids["API"]}`,
      text: "“API” is marked as partial outage.",
    });
    const { status, baseline, history } = await read(site);
    expect({ status, baseline }).toEqual({ status: "partial_outage", baseline: "partial_outage" });
    expect(history).toMatchObject([
      {
        from: "operational",
        to: "partial_outage",
        source: "manual",
        reason: "The disk is full.\nWe swap it.",
        actor: { kind: "user", label: "Test editor" },
      },
    ]);
    expect(app.events().map(({ type }) => type)).toEqual(["component.status_changed"]);
  });

  test("with the status that it has changes nothing and says so", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const before = await site.state();
    const form = { status: "operational", reason: "" };
    const answer = await site.app.call(formOf(site), { session, form });
    expect((await outcomeOf(site, answer, session)).text).toBe("Nothing was changed.");
    expect(await site.state()).toEqual(before);
  });

  test("does not hide what an incident says, and tells so before and after", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const id = await openIncident(site, "major_outage");
    const shown = await site.app.call(formOf(site), { session });
    const page = readHtml(shown.text);
    expect(page.texts(".dialog-body li")[0]).toBe("Major outage because of the incident Errors");
    expect(page.attributes(".dialog-body li a", "href")).toEqual([`/admin/incidents/${id}`]);
    expect(typedIn(shown.text, "status")).toEqual(["operational"]);
    const form = { status: "degraded_performance", reason: "" };
    const answer = await site.app.call(formOf(site), { session, form });
    expect((await outcomeOf(site, answer, session)).text).toBe(
      "“API” is marked as degraded performance, but still shown as major outage because of the incident “Errors”.",
    );
    const { status, baseline } = await read(site);
    expect({ status, baseline }).toEqual({
      status: "major_outage",
      baseline: "degraded_performance",
    });
  });

  test("begins with what was set by hand, and says that nothing else marks it", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const form = { status: "major_outage", reason: "" };
    await site.app.call(formOf(site), { session, form });
    const shown = await site.app.call(formOf(site), { session });
    expect(typedIn(shown.text, "status")).toEqual(["major_outage"]);
    expect(readHtml(shown.text).texts(".dialog-body p")[0]).toBe(
      "This status is shown unless an incident, maintenance or monitor sets a worse one.",
    );
  });

  test("comes back with what was typed where a field is wrong, and writes nothing", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const before = await site.state();
    const reason = "x".repeat(1_001);
    const form = { status: "broken", reason };
    const answer = await site.app.call(formOf(site), { session, form });
    expect(answer.status).toBe(422);
    expect(complaintsOn(answer.text)).toEqual({
      status: expect.stringMatching(/^Status must be one of operational, /),
      reason: "Reason is 1001 characters long; 1000 is the most.",
    });
    expect(readHtml(answer.text).texts("textarea")).toEqual([reason]);
    expect(await site.state()).toEqual(before);
  });

  test("is for editors and above; a viewer neither sees the form nor sends it", async () => {
    await using site = await createArrangedSite();
    const { app } = site;
    const session = await app.signedIn("viewer");
    const editor = await app.signedIn("editor");
    const before = await site.state();
    expectProblem(await app.call(formOf(site), { session }), "insufficient_role");
    const form = { status: "major_outage", reason: "" };
    expectProblem(await app.call(formOf(site), { session, form }), "insufficient_role");
    const headers = { origin: "https://elsewhere.test" };
    const elsewhere = await app.call(formOf(site), { session: editor, form, headers });
    expectProblem(elsewhere, "cross_site_request");
    expect(await site.state()).toEqual(before);
  });

  test("of a component that is not there is not found", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const path = `${COMPONENTS}/cmp_none/status`;
    const form = { status: "major_outage", reason: "" };
    for (const options of [{}, { form }]) {
      const answer = await site.app.call(path, { session, headers: HTML, ...options });
      expect(answer.status).toBe(404);
    }
  });
});

describe("the screen of one component", () => {
  test("tells every change of what it showed, the newest first, with who made it", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    for (const [status, reason] of [
      ["major_outage", "It burns"],
      ["operational", ""],
    ] as const) {
      await site.app.call(formOf(site), { session, form: { status, reason } });
      await site.app.clock.advance(60_000);
    }
    const answer = await site.app.call(`${COMPONENTS}/${site.ids["API"]}`, { session });
    const page = readHtml(answer.text);
    expect(page.texts("h1")).toEqual(["API"]);
    expect(page.texts('td[data-label="Change"]')).toEqual([
      "Major outage → Operational",
      "Operational → Major outage",
    ]);
    expect(page.texts('td[data-label="By"]')).toEqual(["Test editor", "Test editor"]);
    expect(page.texts('td[data-label="Reason"]')).toEqual(["", "It burns"]);
  });

  test.each([
    { role: "viewer", actions: [], hasForm: false },
    { role: "editor", actions: ["Set status"], hasForm: false },
    { role: "admin", actions: ["Set status", "Delete"], hasForm: true },
  ] as const)("offers $role what they may do", async ({ role, actions, hasForm }) => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn(role);
    const answer = await site.app.call(`${COMPONENTS}/${site.ids["API"]}`, { session });
    const page = readHtml(answer.text);
    expect(page.texts(".screen-head .actions a")).toEqual([...actions]);
    expect(page.texts("main form .button").includes("Save changes")).toBe(hasForm);
  });
});
