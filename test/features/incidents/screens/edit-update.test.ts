import { describe, expect, test } from "bun:test";
import { HTML } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createIncidentDashboard,
  expectDone,
  type IncidentDashboard,
  incidentScreen,
} from "../../../support/incident-dashboard";

const MINUTE = 60_000;

/** An incident of noon whose second update is five minutes and some seconds younger. */
async function withUpdate(dashboard: IncidentDashboard) {
  const { site } = dashboard;
  const { id } = await site.open({ components: { [site.api]: "partial_outage" } });
  await site.app.clock.advance(5 * MINUTE + 1_234);
  const components = { [site.web]: "major_outage" };
  const { body: update } = await site.update(id, { body: "It is the disc.", components });
  await site.app.clock.advance(10 * MINUTE);
  return { id, update, path: `${incidentScreen(id)}/updates/${update.id}` };
}

describe("editing an update", () => {
  test("editing the text of an update keeps its time and sends no notifications", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, update, path } = await withUpdate(dashboard);
    const [display_at = ""] = typedIn((await dashboard.show(path)).text, "display_at");
    const answer = await dashboard.fill(path, path, { body: "It is the disk.", display_at });
    expect(await expectDone(dashboard, answer, incidentScreen(id))).toBe("The update was changed.");
    const [edited] = (await site.read(id)).updates;
    expect(edited).toEqual({
      ...update,
      body: "It is the disk.",
      incident_id: undefined,
      version: undefined,
      mail: undefined,
    });
    expect(site.app.events().at(-1)).toMatchObject({
      type: "incident.updated",
      data: { notify: false },
    });
  });

  test("submitting an unchanged update changes nothing, not even milliseconds, and shows “Nothing was changed.”", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, path } = await withUpdate(dashboard);
    const before = await site.state();
    const { text } = await dashboard.show(path);
    const [display_at = ""] = typedIn(text, "display_at");
    const [body = ""] = readHtml(text).texts("#field-body");
    const answer = await dashboard.fill(path, path, { body, display_at });
    expect(await expectDone(dashboard, answer, incidentScreen(id))).toBe("Nothing was changed.");
    expect(await site.state()).toEqual(before);
  });

  test("moving an update in time keeps the statuses that it set", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, path } = await withUpdate(dashboard);
    const moved = { body: "It is the disk.", display_at: "2026-03-10T12:02" };
    expect((await dashboard.fill(path, path, moved)).status).toBe(303);
    const [edited] = (await site.read(id)).updates;
    expect(edited.display_at).toBe("2026-03-10T12:02:00.000Z");
    expect(edited.created_at).toBe("2026-03-10T12:05:01.234Z");
    expect((await site.shown()).web).toBe("major_outage");
  });

  test("moving an update into the minute of the incident's start means the start", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    await site.app.clock.advance(30_500);
    const { id, path } = await withUpdate(dashboard);
    const moved = { body: "It is the disk.", display_at: "2026-03-10T12:00" };
    expect((await dashboard.fill(path, path, moved)).status).toBe(303);
    const { started_at: startedAt, updates } = await site.read(id);
    expect(startedAt).toBe("2026-03-10T12:00:30.500Z");
    expect(updates.map((each: { display_at: string }) => each.display_at)).toContain(startedAt);
  });

  for (const { what, form, wrong } of [
    { what: "no text", form: { body: "", display_at: "2026-03-10T12:02" }, wrong: ["body"] },
    { what: "no time", form: { body: "x", display_at: "" }, wrong: ["display_at"] },
    {
      what: "no time, and an unchanged text",
      form: { body: "It is the disc.", display_at: "" },
      wrong: ["display_at"],
    },
    {
      what: "a day that is none, and a text that is too long",
      form: { body: "x".repeat(10_001), display_at: "2026-02-30T12:00" },
      wrong: ["body", "display_at"],
    },
    {
      what: "a time before the incident began",
      form: { body: "x", display_at: "2026-03-10T11:00" },
      wrong: ["display_at"],
    },
    {
      what: "a time to come",
      form: { body: "x", display_at: "2027-03-10T12:00" },
      wrong: ["display_at"],
    },
  ]) {
    test(`an update with ${what} is redisplayed with an error at the field, and nothing is written`, async () => {
      await using dashboard = await createIncidentDashboard();
      const { site } = dashboard;
      const { path } = await withUpdate(dashboard);
      const before = await site.state();
      const answer = await dashboard.fill(path, path, form);
      expect(answer.status).toBe(422);
      expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(wrong);
      expect(typedIn(answer.text, "display_at")).toEqual([form.display_at]);
      expect(readHtml(answer.text).texts("#field-body")).toEqual([form.body]);
      expect(await site.state()).toEqual(before);
    });
  }

  test("an outdated update is a conflict that keeps the typed text; newer updates are none", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, update, path } = await withUpdate(dashboard);
    const [version = ""] = typedIn((await dashboard.show(path)).text, "version");
    const form = { version, body: "Mine.", display_at: "2026-03-10T12:02" };
    await site.update(id, { body: "Unrelated." });
    const api = `/api/v1/incidents/${id}/updates/${update.id}`;
    await site.app.call(api, { method: "PATCH", key: site.key, json: { body: "Theirs." } });
    const before = await site.state();
    const answer = await dashboard.send(path, form);
    expect(answer.status).toBe(409);
    expect(readHtml(answer.text).texts('[role="alert"]').join(" ")).toStartWith("Someone changed");
    expect(readHtml(answer.text).texts("#field-body")).toEqual(["Mine."]);
    expect(await site.state()).toEqual(before);
    const [fresh = ""] = typedIn(answer.text, "version");
    await site.update(id, { body: "Unrelated again." });
    expect((await dashboard.send(path, { ...form, version: fresh })).status).toBe(303);
  });

  test("an update cannot be edited under another incident", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { update } = await withUpdate(dashboard);
    const other = await site.open({ name: "Other" });
    const before = await site.state();
    const path = `${incidentScreen(other.id)}/updates/${update.id}`;
    expect((await dashboard.show(path, { headers: HTML })).status).toBe(404);
    expect((await dashboard.send(path, { body: "x" }, { headers: HTML })).status).toBe(404);
    expect(await site.state()).toEqual(before);
  });

  test("a viewer is offered no link to edit an update, and can neither open nor submit the form", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site, viewer } = dashboard;
    const { id, path } = await withUpdate(dashboard);
    const links = async (session?: string) =>
      readHtml(
        (await dashboard.show(incidentScreen(id), session ? { session } : {})).text,
      ).attributes(".timeline-by a", "href");
    expect(await links()).toContain(path);
    expect(await links(viewer)).toEqual([]);
    const before = await site.state();
    const as = { session: viewer, headers: HTML };
    expect((await dashboard.show(path, as)).status).toBe(403);
    expect((await dashboard.send(path, { body: "x" }, as)).status).toBe(403);
    expect(await site.state()).toEqual(before);
  });
});
