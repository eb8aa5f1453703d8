import { describe, expect, test } from "bun:test";
import type { Answer } from "../../../support/app";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import {
  createIncidentDashboard,
  incidentScreen,
  type IncidentDashboard,
} from "../../../support/incident-dashboard";

/** Expects the public page of an incident, which says that it is a preview and is kept nowhere. */
function expectPreview(answer: Answer): void {
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toContain("no-store");
  expect(answer.text).toContain("Preview. Nothing was published.");
  expect(readHtml(answer.text).texts("h1")).toEqual(["Errors"]);
}

function previewUpdate(dashboard: IncidentDashboard, id: string, form: Record<string, string>) {
  const screen = incidentScreen(id);
  return dashboard.fill(screen, `${screen}/updates/preview`, form);
}

describe("the preview of an update", () => {
  test("a preview of an update is the public page with the update, and writes nothing", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    const publicPath = `/status/acme/incidents/${id}`;
    const before = [await site.state(), (await site.app.call(publicPath)).text];
    const answer = await previewUpdate(dashboard, id, {
      status: "identified",
      body: "It is the **disk**.",
      [`component:${site.web}`]: "partial_outage",
    });
    expectPreview(answer);
    expect(answer.text).toContain("It is the <strong>disk</strong>.");
    expect(readHtml(answer.text).texts(".timeline-head strong")).toEqual([
      "Identified",
      "Investigating",
    ]);
    expect([await site.state(), (await site.app.call(publicPath)).text]).toEqual(before);
  });

  test("the update form that was previewed can then be published", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    const screen = incidentScreen(id);
    const page = readHtml((await dashboard.show(screen)).text);
    const token = page.controls.find(({ name }) => name === "form")?.value ?? "";
    const form = { form: token, status: "identified", body: "The disk." };
    expectPreview(await dashboard.send(`${screen}/updates/preview`, form));
    expect((await dashboard.send(`${screen}/updates`, form)).status).toBe(303);
    expect((await site.read(id)).updates).toHaveLength(2);
  });

  test("a draft can be previewed without an update, which publishes nothing", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ draft: true, components: { [site.api]: "major_outage" } });
    const screen = incidentScreen(id);
    const page = readHtml((await dashboard.show(screen)).text);
    const [path = ""] = page.attributes(".notice button[formaction]", "formaction");
    const before = await site.state();
    expectPreview(await dashboard.send(path));
    expect(await site.state()).toEqual(before);
    const rejected = await dashboard.send(path, {}, { session: dashboard.viewer });
    expect(rejected.status).toBe(403);
    const back = await dashboard.show(path);
    expect([back.status, back.headers.get("location")]).toEqual([303, screen]);
  });

  test("a preview of an update to a draft shows the page as published, and publishes nothing", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ draft: true });
    const before = await site.state();
    const answer = await previewUpdate(dashboard, id, { status: "identified", body: "The disk." });
    expectPreview(answer);
    expect(answer.text).toContain("The disk.");
    expect(await site.state()).toEqual(before);
    expect((await site.read(id)).draft).toBe(true);
  });

  test("a preview of an invalid update is the form with its errors", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    const before = await site.state();
    const answer = await previewUpdate(dashboard, id, { status: "identified", body: "" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["body"]);
    expect(await site.state()).toEqual(before);
  });

  test("the preview button of an update opens a new tab", async () => {
    await using dashboard = await createIncidentDashboard();
    const { id } = await dashboard.site.open();
    const screen = incidentScreen(id);
    const page = readHtml((await dashboard.show(screen)).text);
    expect(page.attributes('button[formtarget="_blank"]', "formaction")).toEqual([
      `${screen}/updates/preview`,
    ]);
  });
});

describe("the preview of a post-mortem", () => {
  test("a preview of a post-mortem shows it as published, and writes nothing", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open({ status: "resolved" });
    const path = `${incidentScreen(id)}/postmortem`;
    const before = await site.state();
    const answer = await dashboard.fill(path, `${path}/preview`, { body: "A disk was **full**." });
    expectPreview(answer);
    expect(answer.text).toContain("A disk was <strong>full</strong>.");
    expect(await site.state()).toEqual(before);
  });

  test("a preview of an invalid post-mortem is the form with its errors", async () => {
    await using dashboard = await createIncidentDashboard();
    const { id } = await dashboard.site.open();
    const path = `${incidentScreen(id)}/postmortem`;
    const answer = await dashboard.fill(path, `${path}/preview`, { body: "" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["body"]);
  });
});
