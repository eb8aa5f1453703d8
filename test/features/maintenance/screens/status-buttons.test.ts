import { describe, expect, test } from "bun:test";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import { expectProblem } from "../../../support/app";
import { openForm } from "../../../support/dashboard";
import {
  createMaintenanceDashboard,
  MAINTENANCE,
  type MaintenanceDashboard,
} from "../../../support/maintenance-dashboard";

/** Status changes of a maintenance that need one click and one confirmation. */
const STEPS = [
  {
    name: "start",
    from: "scheduled",
    to: "in_progress",
    event: "maintenance.started",
    flash: "The maintenance has started.",
  },
  {
    name: "finish",
    from: "in_progress",
    to: "completed",
    event: "maintenance.completed",
    flash: "The maintenance is completed.",
  },
  {
    name: "cancel",
    from: "scheduled",
    to: "cancelled",
    event: "maintenance.cancelled",
    flash: "The maintenance is cancelled.",
  },
  {
    name: "cancel",
    from: "verifying",
    to: "cancelled",
    event: "maintenance.cancelled",
    flash: "The maintenance is cancelled.",
  },
] as const;

const UPDATE = { body: "As we said.", notify: "yes" };

/** Plans a maintenance and takes it to a status. */
async function planTo({ site }: MaintenanceDashboard, status: string): Promise<string> {
  const id = await site.plan();
  if (status === "scheduled") return id;
  await site.update(id, { status: "in_progress", body: "Now." });
  if (status === "verifying") await site.update(id, { status, body: "Looking." });
  return id;
}

for (const { name, from, to, event, flash } of STEPS) {
  describe(`the confirmation to ${name} a maintenance that is ${from}`, () => {
    test(`the confirmation to ${name} a maintenance publishes one update, even if submitted twice`, async () => {
      await using dashboard = await createMaintenanceDashboard();
      const { site, session } = dashboard;
      const id = await planTo(dashboard, from);
      const path = `${MAINTENANCE}/${id}/${name}`;
      const before = await site.state();
      const confirmation = await dashboard.open(path);
      expect(readHtml(confirmation.text).texts("h1")[0]).toContain("“Database upgrade”");
      expect(await site.state()).toEqual(before);
      const form = { form: await openForm(site.app, path, session), ...UPDATE };
      const answers = await Promise.all([1, 2].map(() => dashboard.send(path, form)));
      for (const answer of answers) {
        expect(answer.status).toBe(303);
        expect(answer.headers.get("location")).toBe(`${MAINTENANCE}/${id}`);
      }
      const after = await site.get(id);
      expect(after.status).toBe(to);
      expect(after.updates[0]).toMatchObject({ status: to, body: "As we said." });
      expect(site.eventTypes().filter((type) => type === event)).toHaveLength(1);
      const next = await dashboard.open(`${MAINTENANCE}/${id}`);
      expect(readHtml(next.text).texts(".flash")).toEqual([flash]);
    });

    test(`the confirmation to ${name} a maintenance proposes a message and is rejected without one`, async () => {
      await using dashboard = await createMaintenanceDashboard();
      const { site } = dashboard;
      const path = `${MAINTENANCE}/${await planTo(dashboard, from)}/${name}`;
      const [proposed = ""] = readHtml((await dashboard.open(path)).text).texts("textarea");
      expect(proposed).toStartWith("The maintenance has ");
      const before = await site.state();
      const answer = await dashboard.send(path, { body: " ", notify: "yes" });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual({ body: "Message is empty." });
      expect(await site.state()).toEqual(before);
    });

    test(`the confirmation to ${name} a maintenance can be sent without notifications`, async () => {
      await using dashboard = await createMaintenanceDashboard();
      const { site } = dashboard;
      const path = `${MAINTENANCE}/${await planTo(dashboard, from)}/${name}`;
      expect((await dashboard.send(path, { body: "Quietly." })).status).toBe(303);
      const events = site.app.events().filter(({ type }) => type === event);
      expect(events.map(({ data }) => data["notify"])).toEqual([false]);
    });

    test(`the confirmation to ${name} a maintenance is rejected for a viewer and from another site`, async () => {
      await using dashboard = await createMaintenanceDashboard();
      const { site, session } = dashboard;
      const path = `${MAINTENANCE}/${await planTo(dashboard, from)}/${name}`;
      const viewer = await site.app.signedIn("viewer");
      const before = await site.state();
      expectProblem(await site.app.call(path, { session: viewer }), "insufficient_role");
      const sent = await site.app.call(path, { session: viewer, form: UPDATE });
      expectProblem(sent, "insufficient_role");
      const headers = { origin: "https://elsewhere.example" };
      expectProblem(
        await site.app.call(path, { session, form: UPDATE, headers }),
        "cross_site_request",
      );
      expect(await site.state()).toEqual(before);
    });
  });
}

describe("a status change that is no longer possible", () => {
  test("a change of a maintenance to its current status is a conflict and keeps the message", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await planTo(dashboard, "in_progress");
    const before = await site.state();
    const answer = await dashboard.send(`${MAINTENANCE}/${id}/start`, UPDATE);
    const page = readHtml(answer.text);
    expect(answer.status).toBe(409);
    expect(page.texts('[role="alert"]')).toEqual([
      "The status of the maintenance is now “In progress”. Nothing was published.",
    ]);
    expect(page.texts("textarea")).toEqual(["As we said."]);
    expect(page.attributes("main form", "action")).toEqual([`${MAINTENANCE}/${id}`]);
    expect(await site.state()).toEqual(before);
  });

  test("the confirmations of an ended maintenance redirect to its screen, and submitting them is a conflict", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await planTo(dashboard, "scheduled");
    await site.cancel(id);
    const before = await site.state();
    for (const name of ["start", "finish", "cancel"]) {
      const path = `${MAINTENANCE}/${id}/${name}`;
      const confirmation = await dashboard.open(path);
      expect(confirmation.status).toBe(303);
      expect(confirmation.headers.get("location")).toBe(`${MAINTENANCE}/${id}`);
      expect((await dashboard.send(path, UPDATE)).status).toBe(409);
    }
    expect(await site.state()).toEqual(before);
  });

  test("a maintenance that has not started cannot be finished", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await planTo(dashboard, "scheduled");
    const before = await site.state();
    expect((await dashboard.send(`${MAINTENANCE}/${id}/finish`, UPDATE)).status).toBe(409);
    expect(await site.state()).toEqual(before);
  });
});
