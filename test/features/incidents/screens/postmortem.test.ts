import { describe, expect, test } from "bun:test";
import { OUTLINE } from "../../../../src/features/incidents/screens/forms";
import { HTML } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createIncidentDashboard,
  expectDone,
  type IncidentDashboard,
  incidentScreen,
} from "../../../support/incident-dashboard";

const TEXT = "## Cause\r\n\r\nA disk was **full**.";

async function withResolved(dashboard: IncidentDashboard) {
  const { site } = dashboard;
  const { id } = await site.open({ status: "resolved" });
  const path = `${incidentScreen(id)}/postmortem`;
  const save = (form: Record<string, string>) => dashboard.fill(path, path, form);
  const publicPage = async () => (await site.app.call(`/status/acme/incidents/${id}`)).text;
  site.newEventTypes();
  return { id, path, save, publicPage, screen: incidentScreen(id) };
}

describe("a post-mortem", () => {
  test("a new post-mortem starts with an outline", async () => {
    await using dashboard = await createIncidentDashboard();
    const { path } = await withResolved(dashboard);
    const page = readHtml((await dashboard.show(path)).text);
    expect(page.texts("#field-body")[0]).toStartWith("## What happened");
    expect(page.texts("main form button")).toEqual([
      "Publish post-mortem",
      "Save draft",
      "Preview",
    ]);
  });

  test("a post-mortem that is only its outline can be saved as a draft but not published", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, save } = await withResolved(dashboard);
    const before = await site.state();
    const outline = `${OUTLINE.replaceAll("\n", "\r\n")} `;
    const rejected = await save({ body: outline, do: "publish" });
    expect(rejected.status).toBe(422);
    expect(fieldErrorsOn(rejected.text)).toEqual({
      body: "Post-mortem contains only headings. Write text below them.",
    });
    expect(await site.state()).toEqual(before);
    expect((await save({ body: outline })).status).toBe(303);
    expect((await site.read(id)).postmortem).toMatchObject({ published_at: null });
    expect((await save({ body: `${outline}A disk.`, do: "publish" })).status).toBe(303);
  });

  test("a draft of a post-mortem is shown to signed-in users only and records no event", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, screen, save, publicPage } = await withResolved(dashboard);
    const answer = await save({ body: TEXT });
    expect(await expectDone(dashboard, answer, screen)).toBe("The post-mortem was saved.");
    expect((await site.read(id)).postmortem).toEqual({
      body: TEXT.replaceAll("\r\n", "\n"),
      published_at: null,
    });
    expect(site.newEventTypes()).toEqual([]);
    expect(await publicPage()).not.toContain("A disk was");
    const shown = await dashboard.show(screen, { session: dashboard.viewer });
    expect(shown.text).toContain("A disk was <strong>full</strong>.");
    expect(shown.text).toContain("Not published yet");
  });

  test("a published post-mortem is on the page at once and records an event", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { screen, save, publicPage } = await withResolved(dashboard);
    const answer = await save({ body: TEXT, do: "publish" });
    expect(await expectDone(dashboard, answer, screen)).toBe("The post-mortem was published.");
    expect(site.newEventTypes()).toEqual(["incident.postmortem_published"]);
    expect(await publicPage()).toContain("A disk was <strong>full</strong>.");
    expect(site.app.audit().at(-1)).toMatchObject({ action: "incident.write_postmortem" });
  });

  test("an edited post-mortem stays published until it is withdrawn", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, path, screen, save, publicPage } = await withResolved(dashboard);
    await save({ body: TEXT, do: "publish" });
    const buttons = readHtml((await dashboard.show(path)).text).texts("main form button");
    expect(buttons).toEqual(["Save changes", "Save and withdraw", "Preview"]);
    const saved = await save({ body: "A power cut." });
    expect(await expectDone(dashboard, saved, screen)).toBe("The post-mortem was saved.");
    expect(await publicPage()).toContain("A power cut.");
    const withdrawn = await save({ body: "A power cut.", do: "withdraw" });
    expect(await expectDone(dashboard, withdrawn, screen)).toBe("The post-mortem was withdrawn.");
    expect(await publicPage()).not.toContain("A power cut.");
    expect((await site.read(id)).postmortem).toEqual({ body: "A power cut.", published_at: null });
  });

  test("submitting an unchanged post-mortem changes nothing and shows “Nothing was changed.”", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { screen, save } = await withResolved(dashboard);
    await save({ body: TEXT });
    const before = await site.state();
    expect(await expectDone(dashboard, await save({ body: TEXT }), screen)).toBe(
      "Nothing was changed.",
    );
    expect(await site.state()).toEqual(before);
  });

  for (const { what, body } of [
    { what: "no text", body: "" },
    { what: "more than it may hold", body: "x".repeat(50_001) },
  ]) {
    test(`a post-mortem with ${what} is redisplayed with its error, and nothing is written`, async () => {
      await using dashboard = await createIncidentDashboard();
      const { site } = dashboard;
      const { path, save } = await withResolved(dashboard);
      const before = await site.state();
      for (const desired of ["", "publish"]) {
        const answer = await save({ body, do: desired });
        expect(answer.status).toBe(422);
        expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["body"]);
        expect(readHtml(answer.text).texts("#field-body")).toEqual([body]);
      }
      expect((await dashboard.show(path)).status).toBe(200);
      expect(await site.state()).toEqual(before);
    });
  }

  test("an outdated post-mortem is a conflict that keeps the typed text and can be sent again", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, path, save } = await withResolved(dashboard);
    const [version = ""] = typedIn((await dashboard.show(path)).text, "version");
    await save({ body: "Theirs." });
    const before = await site.state();
    const answer = await dashboard.send(path, { version, body: "Mine.", do: "publish" });
    expect(answer.status).toBe(409);
    const page = readHtml(answer.text);
    expect(page.texts('[role="alert"]').join(" ")).toStartWith("Someone changed");
    expect(page.texts("#field-body")).toEqual(["Mine."]);
    expect(await site.state()).toEqual(before);
    const [fresh = ""] = typedIn(answer.text, "version");
    expect((await dashboard.send(path, { version: fresh, body: "Mine." })).status).toBe(303);
    expect((await site.read(id)).postmortem.body).toBe("Mine.");
  });

  test("a viewer can neither open, save nor preview a post-mortem", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site, viewer } = dashboard;
    const { path } = await withResolved(dashboard);
    const before = await site.state();
    const as = { session: viewer, headers: HTML };
    expect((await dashboard.show(path, as)).status).toBe(403);
    for (const action of [path, `${path}/preview`]) {
      expect((await dashboard.send(action, { body: TEXT }, as)).status).toBe(403);
    }
    expect(await site.state()).toEqual(before);
  });
});
