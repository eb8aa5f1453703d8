import { describe, expect, test } from "bun:test";
import type { Fields } from "../../../support/dashboard";
import { HTML } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createIncidentDashboard,
  expectDone,
  type IncidentDashboard,
  incidentScreen,
} from "../../../support/incident-dashboard";

const MINUTE = 60_000;

/** An incident of noon that was resolved at a quarter past, with its form as it begins. */
async function withResolved(dashboard: IncidentDashboard) {
  const { site } = dashboard;
  const { id } = await site.open({
    components: { [site.api]: "partial_outage" },
    external_ref: "PD-1",
  });
  await site.app.clock.advance(15 * MINUTE + 1_234);
  await site.update(id, { status: "resolved" });
  await site.app.clock.advance(10 * MINUTE);
  const path = `${incidentScreen(id)}/edit`;
  return { id, path, stored: await readForm(dashboard, path) };
}

async function readForm(dashboard: IncidentDashboard, path: string): Promise<Fields> {
  const { text } = await dashboard.show(path);
  const page = readHtml(text);
  const inputs = page.controls.map(({ name, value }) => [name, value]);
  const impact = page.attributes("select option[selected]", "value")[0] ?? "";
  return { ...Object.fromEntries(inputs), impact_override: impact };
}

describe("editing an incident", () => {
  test("submitting an unchanged incident changes nothing, not even milliseconds, and shows “Nothing was changed.”", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, path, stored } = await withResolved(dashboard);
    expect(stored).toMatchObject({
      name: "Errors",
      impact_override: "",
      external_ref: "PD-1",
      started_at: "2026-03-10T12:00",
      identified_at: "",
      resolved_at: "2026-03-10T12:15",
    });
    const before = await site.state();
    const answer = await dashboard.send(path, stored);
    expect(await expectDone(dashboard, answer, incidentScreen(id))).toBe("Nothing was changed.");
    expect(await site.state()).toEqual(before);
  });

  test("a start after another stored time is rejected with the label of that time", async () => {
    await using dashboard = await createIncidentDashboard();
    const { path, stored } = await withResolved(dashboard);
    await dashboard.send(path, { ...stored, identified_at: "2026-03-10T12:05" });
    const form = { ...(await readForm(dashboard, path)), started_at: "2026-03-10T12:10" };
    const answer = await dashboard.send(path, form);
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)["started_at"]).toContain("is after “Identified at”");
  });

  test("editing changes name, impact and reference of an incident and is audited", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, path, stored } = await withResolved(dashboard);
    const form = { ...stored, name: " Slow ", impact_override: "critical", external_ref: "" };
    const answer = await dashboard.send(path, form);
    expect(await expectDone(dashboard, answer, incidentScreen(id))).toBe(
      "The incident was changed.",
    );
    expect(await site.read(id)).toMatchObject({
      name: "Slow",
      impact: "critical",
      impact_override: "critical",
      external_ref: null,
      // Unchanged times keep their milliseconds.
      started_at: "2026-03-10T12:00:00.000Z",
      resolved_at: "2026-03-10T12:15:01.234Z",
    });
    expect(site.app.audit().at(-1)).toMatchObject({ action: "incident.update", targetId: id });
  });

  test("clearing the impact of an incident derives it from the components again", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, path, stored } = await withResolved(dashboard);
    await dashboard.send(path, { ...stored, impact_override: "critical" });
    const form = await readForm(dashboard, path);
    expect(form["impact_override"]).toBe("critical");
    await dashboard.send(path, { ...form, impact_override: "" });
    expect(await site.read(id)).toMatchObject({ impact: "major", impact_override: null });
  });

  test("editing sets and clears the times of an incident", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, path, stored } = await withResolved(dashboard);
    const times = {
      started_at: "2026-03-10T11:30",
      identified_at: "2026-03-10T11:45",
      monitoring_at: "",
      resolved_at: "2026-03-10T12:10",
    };
    expect((await dashboard.send(path, { ...stored, ...times })).status).toBe(303);
    expect(await site.read(id)).toMatchObject({
      started_at: "2026-03-10T11:30:00.000Z",
      identified_at: "2026-03-10T11:45:00.000Z",
      monitoring_at: null,
      resolved_at: "2026-03-10T12:10:00.000Z",
    });
    const again = await readForm(dashboard, path);
    await dashboard.send(path, { ...again, identified_at: "" });
    expect((await site.read(id)).identified_at).toBeNull();
  });

  test("a time in the minute of the incident's start means the start", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    await site.app.clock.advance(30_500);
    const { id, path, stored } = await withResolved(dashboard);
    const times = { identified_at: "2026-03-10T12:00", resolved_at: "2026-03-10T12:00" };
    expect((await dashboard.send(path, { ...stored, ...times })).status).toBe(303);
    const startedAt = "2026-03-10T12:00:30.500Z";
    expect(await site.read(id)).toMatchObject({
      started_at: startedAt,
      identified_at: startedAt,
      resolved_at: startedAt,
    });
  });

  test("the form of an open incident neither shows nor accepts a resolution time", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id } = await site.open();
    const path = `${incidentScreen(id)}/edit`;
    const stored = await readForm(dashboard, path);
    expect(stored["resolved_at"]).toBeUndefined();
    const form = { ...stored, name: "New", resolved_at: "2026-03-10T12:00" };
    expect((await dashboard.send(path, form)).status).toBe(303);
    expect(await site.read(id)).toMatchObject({ name: "New", resolved_at: null });
  });

  const rejected: { what: string; form: Fields; wrong: string[] }[] = [
    { what: "no name", form: { name: " " }, wrong: ["name"] },
    { what: "a name with a control character", form: { name: "a\u0007b" }, wrong: ["name"] },
    { what: "an impact that is none", form: { impact_override: "x" }, wrong: ["impact_override"] },
    { what: "no beginning", form: { started_at: "" }, wrong: ["started_at"] },
    {
      what: "times that are none, and a long name",
      form: { name: "x".repeat(256), started_at: "noon", resolved_at: "2026-02-30T12:00" },
      wrong: ["name", "started_at", "resolved_at"],
    },
    {
      what: "an end before its beginning",
      form: { resolved_at: "2026-03-10T11:00" },
      wrong: ["resolved_at"],
    },
    {
      what: "a beginning in the future, after its end",
      form: { started_at: "2027-03-10T12:00" },
      wrong: ["started_at"],
    },
  ];
  for (const { what, form, wrong } of rejected) {
    test(`an incident with ${what} is redisplayed with an error at each field, and nothing is written`, async () => {
      await using dashboard = await createIncidentDashboard();
      const { site } = dashboard;
      const { path, stored } = await withResolved(dashboard);
      const before = await site.state();
      const answer = await dashboard.send(path, { ...stored, ...form });
      expect(answer.status).toBe(422);
      expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(wrong);
      for (const name of ["name", "started_at", "resolved_at"]) {
        expect(typedIn(answer.text, name)).toEqual([String(form[name] ?? stored[name])]);
      }
      expect(await site.state()).toEqual(before);
    });
  }

  test("the reference of another incident is rejected with the id of that incident at the field", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { path, stored } = await withResolved(dashboard);
    const other = await site.open({ name: "Other", external_ref: "PD-2" });
    const before = await site.state();
    const answer = await dashboard.send(path, { ...stored, external_ref: "PD-2" });
    expect(answer.status).toBe(409);
    expect(fieldErrorsOn(answer.text)["external_ref"]).toContain(other.id);
    expect(typedIn(answer.text, "external_ref")).toEqual(["PD-2"]);
    expect(await site.state()).toEqual(before);
  });

  test("an outdated edit of an incident is a conflict that keeps the typed text and can be sent again", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const { id, path, stored } = await withResolved(dashboard);
    await site.patch(id, { name: "Theirs" });
    const before = await site.state();
    const answer = await dashboard.send(path, { ...stored, name: "Mine" });
    expect(answer.status).toBe(409);
    expect(readHtml(answer.text).texts('[role="alert"]').join(" ")).toStartWith("Someone changed");
    expect(typedIn(answer.text, "name")).toEqual(["Mine"]);
    expect(await site.state()).toEqual(before);
    const [version = ""] = typedIn(answer.text, "version");
    expect((await dashboard.send(path, { ...stored, name: "Mine", version })).status).toBe(303);
    expect((await site.read(id)).name).toBe("Mine");
  });

  test("a viewer can neither open nor submit the edit form of an incident", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site, viewer } = dashboard;
    const { path, stored } = await withResolved(dashboard);
    const before = await site.state();
    const as = { session: viewer, headers: HTML };
    expect((await dashboard.show(path, as)).status).toBe(403);
    expect((await dashboard.send(path, { ...stored, name: "Mine" }, as)).status).toBe(403);
    expect(await site.state()).toEqual(before);
  });
});
