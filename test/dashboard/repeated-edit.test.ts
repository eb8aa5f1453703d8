import { describe, expect, test } from "bun:test";
import type { Answer, TestApp } from "../support/app";
import { createIncidentDashboard, hiddenIn, incidentScreen } from "../support/incident-dashboard";
import { createMaintenanceDashboard, idIn } from "../support/maintenance-dashboard";
import { createMonitorDashboard, formOf, MONITORS } from "../support/monitor-dashboard";
import type { Fields } from "../support/dashboard";

interface Form {
  /** The screen that shows it. */
  screen: string;
  fields: Fields;
  /** Fields that another editor submits for the same object. */
  others: Fields;
}

/** The forms that edit an incident. */
const OF_INCIDENTS: { what: string; form(incident: Answer["body"]): Form }[] = [
  {
    what: "an incident",
    form: ({ id, started_at: startedAt }) => ({
      screen: `${incidentScreen(id)}/edit`,
      fields: { name: "Slow checkout", started_at: startedAt.slice(0, 16) },
      others: { name: "No checkout", started_at: startedAt.slice(0, 16) },
    }),
  },
  {
    what: "an update",
    form: ({ id, updates: [update] }) => ({
      screen: `${incidentScreen(id)}/updates/${update.id}`,
      fields: { body: "Cards fail.", display_at: update.display_at.slice(0, 16) },
      others: { body: "Cards are slow.", display_at: update.display_at.slice(0, 16) },
    }),
  },
  {
    what: "a post-mortem",
    form: ({ id }) => ({
      screen: `${incidentScreen(id)}/postmortem`,
      fields: { body: "A disk was full.", do: "publish" },
      others: { body: "A disk was slow.", do: "publish" },
    }),
  },
];

/** Returns the events and audit entries, which a form that is sent twice must write once. */
const written = ({ site: { app } }: { site: { app: TestApp } }) => ({
  events: app.events(),
  audit: app.audit(),
});

describe("a form that edits", () => {
  for (const { what, form } of OF_INCIDENTS) {
    test(`an edit of ${what} submitted twice is applied once and is no conflict`, async () => {
      await using dashboard = await createIncidentDashboard();
      const { screen, fields } = form(await dashboard.site.open());
      dashboard.site.app.clock.advance(1_000);
      const sent = { ...hiddenIn((await dashboard.show(screen)).text), ...fields };
      const first = await dashboard.send(screen, sent);
      expect(first.status).toBe(303);
      const after = written(dashboard);
      const second = await dashboard.send(screen, sent);
      expect([second.status, second.headers.get("location")]).toEqual([
        303,
        first.headers.get("location"),
      ]);
      expect(written(dashboard)).toEqual(after);
    });

    test(`of two edits of ${what} submitted at once, one is applied and the other is a conflict`, async () => {
      await using dashboard = await createIncidentDashboard();
      const { screen, fields, others } = form(await dashboard.site.open());
      dashboard.site.app.clock.advance(1_000);
      const hidden = hiddenIn((await dashboard.show(screen)).text);
      const answers = await Promise.all(
        [fields, others].map((typed) => dashboard.send(screen, { ...hidden, ...typed })),
      );
      expect(answers.map(({ status }) => status)).toEqual([303, 409]);
    });
  }

  test("an edit of an incident that was reopened is a conflict, even if only the end was typed", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const incident = await site.open();
    await site.update(incident.id, { status: "resolved" });
    const screen = `${incidentScreen(incident.id)}/edit`;
    const sent = {
      ...hiddenIn((await dashboard.show(screen)).text),
      name: incident.name,
      started_at: incident.started_at.slice(0, 16),
      resolved_at: "2026-03-10T11:00",
    };
    await site.update(incident.id, { status: "investigating" });
    const after = written(dashboard);
    expect((await dashboard.send(screen, sent)).status).toBe(409);
    expect(written(dashboard)).toEqual(after);
  });

  test("an edit of a maintenance submitted twice is applied once and is no conflict", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const screen = `/admin/maintenance/${idIn(await dashboard.plan())}/edit`;
    const fields = { name: "Moved", scheduled_until: "2026-03-10T16:00" };
    const hidden = hiddenIn((await dashboard.open(screen)).text);
    const sent = { ...hidden, ...dashboard.planFields(fields) };
    expect((await dashboard.send(screen, sent)).status).toBe(303);
    const after = written(dashboard);
    expect((await dashboard.send(screen, sent)).status).toBe(303);
    expect(written(dashboard)).toEqual(after);
    const others = { ...sent, name: "Moved again" };
    expect((await dashboard.send(screen, others)).status).toBe(409);
    expect(written(dashboard)).toEqual(after);
  });

  for (const { what, fields } of [
    { what: "a header value", fields: { header_0_name: "X-Key", header_0_value: "s3cr3t" } },
    {
      what: "an emptied setting that has a default",
      fields: { name: "Shop window", config_certificate_warning_days: "" },
    },
  ]) {
    test(`an edit of a monitor with ${what} submitted twice is applied once and is no conflict`, async () => {
      await using dashboard = await createMonitorDashboard();
      const screen = `${MONITORS}/${await dashboard.make()}/edit`;
      const sent = { ...formOf((await dashboard.open(screen)).text), ...fields };
      expect((await dashboard.send(screen, sent)).status).toBe(303);
      const after = dashboard.written();
      expect((await dashboard.send(screen, sent)).status).toBe(303);
      expect(dashboard.written()).toEqual(after);
      const others = { ...sent, config_url: "shop" };
      expect((await dashboard.send(screen, others)).status).toBe(409);
    });
  }

  test("components of a monitor submitted in another order are no conflict, even if the form is stale", async () => {
    await using dashboard = await createMonitorDashboard();
    const ids = Object.values(dashboard.site.components);
    const id = await dashboard.make({ component_ids: ids });
    const before = dashboard.written();
    for (const [component_ids = "", ...more_component_ids] of [ids, ids.toReversed()]) {
      const sent = { component_ids, more_component_ids, version: "0" };
      expect((await dashboard.edit(id, sent)).status).toBe(303);
    }
    expect(dashboard.written()).toEqual(before);
  });
});
