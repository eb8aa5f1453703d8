import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../../support/app";
import {
  type ArrangedSite,
  COMPONENTS,
  createArrangedSite,
  outcomeOf,
} from "../../../support/grouped-site";
import { HTML } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const formOf = ({ ids }: ArrangedSite, name = "API") => `${COMPONENTS}/${ids[name]}/status`;

/** Reads a component's status, manual status and history from the API. */
async function read({ app, ids }: ArrangedSite, name = "API") {
  const key = await app.keyWith("read:status");
  const path = `/api/v1/components/${ids[name]}`;
  const { body } = await app.call(path, { key });
  const history = (await app.call(`${path}/history`, { key })).body.data;
  return { status: body.status, baseline: body.baseline_status, history };
}

/** Reports an incident that gives the component API a status. */
async function openIncident({ app, ids }: ArrangedSite, status: string): Promise<string> {
  const key = await app.keyWith("write:incidents");
  const components = { [ids["API"] ?? ""]: status };
  const json = { page: "acme", name: "Errors", body: "We are investigating.", components };
  const answer = await app.call("/api/v1/incidents", { method: "POST", key, json });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

describe("setting a component's status on the dashboard", () => {
  test("setting a status applies it at once, records user and reason, and records one event", async () => {
    await using site = await createArrangedSite();
    const { app, ids } = site;
    const session = await app.signedIn("editor");
    const form = { status: "partial_outage", reason: "The disk is full.\r\nWe swap it." };
    const answer = await app.call(formOf(site), { session, form });
    expect(await outcomeOf(site, answer, session)).toEqual({
      path: `${COMPONENTS}?page=acme#${ids["API"]}`,
      text: "The status of “API” is now partial outage.",
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

  test("setting the current status changes nothing and shows “Nothing was changed.”", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const before = await site.state();
    const form = { status: "operational", reason: "" };
    const answer = await site.app.call(formOf(site), { session, form });
    expect((await outcomeOf(site, answer, session)).text).toBe("Nothing was changed.");
    expect(await site.state()).toEqual(before);
  });

  test("a status does not hide a worse one of an incident, and the form and the confirmation name the worse one", async () => {
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
      "The status of “API” was set to degraded performance. The page still shows major outage because of the incident “Errors”.",
    );
    const { status, baseline } = await read(site);
    expect({ status, baseline }).toEqual({
      status: "major_outage",
      baseline: "degraded_performance",
    });
  });

  test("the status form starts with the manual status and names no cause", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const form = { status: "major_outage", reason: "" };
    await site.app.call(formOf(site), { session, form });
    const shown = await site.app.call(formOf(site), { session });
    expect(typedIn(shown.text, "status")).toEqual(["major_outage"]);
    expect(readHtml(shown.text).texts(".dialog-body p")[0]).toBe(
      "The page shows this status unless an incident, maintenance or monitor sets a worse one.",
    );
  });

  test("an invalid status is redisplayed with its errors and the typed reason, and writes nothing", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const before = await site.state();
    const reason = "x".repeat(1_001);
    const form = { status: "broken", reason };
    const answer = await site.app.call(formOf(site), { session, form });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      status: expect.stringMatching(/^Status must be one of operational, /),
      reason: "Reason is 1001 characters long; 1000 is the most.",
    });
    expect(readHtml(answer.text).texts("textarea")).toEqual([reason]);
    expect(await site.state()).toEqual(before);
  });

  test("a viewer can neither open nor submit the status form, and other sites cannot submit it", async () => {
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

  test("the status form of an unknown component is not_found", async () => {
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

describe("the screen of a component", () => {
  test("the screen of a component lists its status changes with actor and reason, newest first", async () => {
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
    expect(page.texts("#component-changes li")).toEqual([
      "OperationalBy Test editor, 1 min ago",
      "Major outageBy Test editor, 2 min ago · It burns",
    ]);
  });

  test.each([
    { role: "viewer", actions: [], hasForm: false },
    { role: "editor", actions: ["Report incident", "Set status"], hasForm: false },
    {
      role: "admin",
      actions: ["Edit", "Report incident", "Set status", "Delete"],
      hasForm: true,
    },
  ] as const)(
    "the screen of a component offers the actions that the role allows: $role",
    async ({ role, actions, hasForm }) => {
      await using site = await createArrangedSite();
      const session = await site.app.signedIn(role);
      const answer = await site.app.call(`${COMPONENTS}/${site.ids["API"]}`, { session });
      const page = readHtml(answer.text);
      expect(page.texts(".screen-head .actions a")).toEqual([...actions]);
      expect(page.texts("main form .button").includes("Save changes")).toBe(hasForm);
    },
  );
});
