import { expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createMonitorApi, HTTP } from "../../support/monitor-api";

test("a monitor has no reminders unless it is created with them, and 0 ends them", async () => {
  await using api = await createMonitorApi();
  expect((await api.create()).reminder_seconds).toBe(0);
  const { id } = await api.create({ reminder_seconds: 300 });
  const changed = await api.patch(id, { reminder_seconds: 604_800 });
  expect(changed.body).toMatchObject({ reminder_seconds: 604_800, version: 2 });
  expect(api.app.audit().at(-1)?.summary).toBe("Changed the monitor “Shop”: reminders");
  expect((await api.patch(id, { reminder_seconds: 0 })).body.reminder_seconds).toBe(0);
});

test.each([
  [299, "must be 0 or at least 300"],
  [1, "must be 0 or at least 300"],
  [-1, "must be a whole number from 0 to 604,800"],
  [604_801, "must be a whole number from 0 to 604,800"],
  [null, "must be a whole number from 0 to 604,800"],
])(
  "reminders every %p seconds are rejected in a new monitor and in a change",
  async (seconds, detail) => {
    await using api = await createMonitorApi();
    const { id } = await api.create();
    const before = api.written();
    const fields = { reminder_seconds: seconds };
    for (const answer of [await api.post({ ...HTTP, ...fields }), await api.patch(id, fields)]) {
      expectProblem(answer, "validation_failed");
      expect(answer.body.errors).toEqual([{ pointer: "#/reminder_seconds", detail }]);
    }
    expect(api.written()).toEqual(before);
  },
);
