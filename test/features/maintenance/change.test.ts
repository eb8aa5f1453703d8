import { describe, expect, test } from "bun:test";
import { expectProblem, versionOf } from "../../support/app";
import { HOUR_MS } from "../../../src/base/time";
import { at, createMaintenanceSite } from "../../support/maintenance-site";
import { MAIL_OFF, withoutMail } from "../../support/written-mail";

describe("PATCH /api/v1/maintenance/{id}", () => {
  test("an edit of a maintenance changes only the given fields and records maintenance.updated", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    const before = await site.get(id);
    await site.clock.advance(1_000);
    const answer = await site.patch(id, {
      name: "Database move",
      scheduled_until: at("16:00:00"),
      auto_complete: false,
      remind_minutes_before: null,
    });
    expect(answer.status).toBe(200);
    expect(versionOf(answer)).toBe(2);
    expect(answer.body.updates[0].mail).toEqual(MAIL_OFF);
    expect(withoutMail(answer.body)).toEqual({
      ...before,
      name: "Database move",
      scheduled_until: at("16:00:00"),
      auto_complete: false,
      remind_minutes_before: null,
      version: 2,
      updated_at: at("12:00:01"),
    });
    expect(site.eventTypes()).toEqual(["maintenance.scheduled", "maintenance.updated"]);
    expect(site.app.audit().at(-1)).toMatchObject({ action: "maintenance.update", targetId: id });
  });

  test("an edit of a maintenance keeps non-default values of fields that it does not name", async () => {
    await using site = await createMaintenanceSite();
    const unusual = { auto_start: false, auto_complete: false, remind_minutes_before: 7 };
    const id = await site.plan(unusual);
    expect((await site.patch(id, { name: "Other" })).body).toMatchObject(unusual);
  });

  test("an edit of a maintenance to its current values changes nothing and records no event", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    const before = await site.state();
    const answer = await site.patch(id, {
      name: "Database upgrade",
      scheduled_for: "2026-03-10T15:00:00+01:00",
      components: [site.ids["API"]],
    });
    expect(answer.body.version).toBe(1);
    expect(await site.state()).toEqual(before);
  });

  test("an edit of a maintenance in progress accepts a name; an earlier end, a changed start, flags or reminder are a conflict", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    await site.update(id, { status: "in_progress", body: "Begun." });
    const before = await site.state();
    for (const json of [
      { scheduled_until: at("14:59:59") },
      { scheduled_for: at("14:30:00") },
      { scheduled_for: at("14:30:00"), scheduled_until: at("18:00:00") },
      { scheduled_until: at("18:00:00"), auto_complete: false },
      { name: "Other", auto_complete: false },
      { remind_minutes_before: null },
    ]) {
      expectProblem(await site.patch(id, json), "conflict");
    }
    expect(
      expectProblem(await site.patch(id, { scheduled_until: at("14:30:00") }), "conflict").detail,
    ).toBe(
      `The maintenance is in progress; of its times and flags only the end can be changed, to a time later than ${at("15:00:00")}.`,
    );
    expect(await site.state()).toEqual(before);
    const same = { name: "Other", scheduled_until: at("15:00:00"), auto_complete: true };
    expect((await site.patch(id, same)).body.name).toBe("Other");
  });

  test.each([
    [{}, false],
    [{ notify: false }, false],
    [{ notify: true }, true],
    [{ name: "Longer upgrade" }, false],
  ])(
    "the end of a maintenance in progress or verifying moves later with %j, and people are notified: %p",
    async (more, notify) => {
      await using site = await createMaintenanceSite({ isClockRunning: true });
      const id = await site.plan();
      await site.skip(2 * HOUR_MS);
      expect((await site.get(id)).status).toBe("in_progress");
      const longer = await site.patch(id, { scheduled_until: at("16:00:00"), ...more });
      expect([longer.status, longer.body.scheduled_until]).toEqual([200, at("16:00:00")]);
      expect(site.app.events().at(-1)).toMatchObject({
        type: "maintenance.updated",
        data: { notify, scheduled_until: at("16:00:00") },
      });
      await site.update(id, { status: "verifying", body: "Checking." });
      const longest = await site.patch(id, { scheduled_until: at("17:00:00"), ...more });
      expect(longest.body).toMatchObject({ status: "verifying", scheduled_until: at("17:00:00") });
      await site.skip(3 * HOUR_MS - 1);
      expect((await site.get(id)).status).toBe("verifying");
      await site.skip(1);
      expect(await site.get(id)).toMatchObject({
        status: "completed",
        completed_at: at("17:00:00"),
      });
    },
  );

  test("an edit of a scheduled maintenance notifies people as it says, and else as planned", async () => {
    await using site = await createMaintenanceSite();
    for (const planned of [true, false]) {
      const id = await site.plan({ notify: planned });
      const notified = async (more: object, until: string) => {
        await site.patch(id, { scheduled_until: at(until), ...more });
        return site.app.events().at(-1)?.data["notify"];
      };
      expect(await notified({}, "16:00:00")).toBe(planned);
      expect(await notified({ notify: !planned }, "17:00:00")).toBe(!planned);
    }
  });

  test("an edit of a cancelled maintenance is a conflict", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    await site.cancel(id);
    const before = await site.state();
    expectProblem(await site.patch(id, { name: "Other" }), "conflict");
    expectProblem(await site.patch(id, { components: [] }), "conflict");
    expect(await site.state()).toEqual(before);
  });

  test.each([
    [{}, ["#"]],
    [{ name: null }, ["#/name"]],
    [{ scheduled_until: at("14:00:00") }, ["#/scheduled_until"]],
    [{ scheduled_for: at("15:00:00") }, ["#/scheduled_for"]],
    [{ scheduled_for: "tomorrow" }, ["#/scheduled_for"]],
    [{ components: ["cmp_x"] }, ["#/components/0"]],
    [{ status: "completed" }, ["#/status"]],
    [{ page: "acme", body: "x" }, ["#/page", "#/body"]],
  ])(
    "an edit of a maintenance with %j is rejected with all fields at fault, and nothing is written",
    async (json, pointers) => {
      await using site = await createMaintenanceSite();
      const id = await site.plan();
      const before = await site.state();
      const problem = expectProblem(await site.patch(id, json), "validation_failed");
      const named = problem.errors.map((error: { pointer: string }) => error.pointer);
      expect(named.toSorted()).toEqual(pointers.toSorted());
      expect(await site.state()).toEqual(before);
    },
  );

  test("one of two concurrent edits of a maintenance with the same If-Match succeeds", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    const answers = await Promise.all(
      ["One", "Two"].map((name) =>
        site.call(`/${id}`, { method: "PATCH", json: { name }, headers: { "if-match": '"1"' } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 412]);
    expect((await site.get(id)).name).toBe("One");
    expect(site.eventTypes()).toEqual(["maintenance.scheduled", "maintenance.updated"]);
  });
});
