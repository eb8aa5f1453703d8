import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createMonitorApi, HTTP } from "../../support/monitor-api";

const PUSH = { type: "push", name: "Backup" };
const YEAR = 31_536_000;

describe("intervals of monitors", () => {
  test("a push monitor may expect one call a year, or calls without a deadline", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ ...PUSH, config: {}, interval_seconds: YEAR });
    expect((await api.call(`/${id}`)).body).toMatchObject({
      interval_seconds: YEAR,
      retry_interval_seconds: 10,
    });
    expect((await api.patch(id, { interval_seconds: null })).body).toMatchObject({
      interval_seconds: null,
      version: 2,
    });
    expect((await api.patch(id, { name: "Restore" })).body.interval_seconds).toBeNull();
    const free = await api.create({ ...PUSH, config: {}, interval_seconds: null });
    expect(free).toMatchObject({ interval_seconds: null, retry_interval_seconds: 10 });
  });

  test.each([
    ["no interval", HTTP, null, "must be a whole number from 5 to 86,400"],
    ["an interval of more than a day", HTTP, 86_401, "must be a whole number from 5 to 86,400"],
    ["an interval of 4 s", HTTP, 4, "must be a whole number from 5 to 86,400"],
  ])("an active check with %s is rejected", async (_, body, interval_seconds, detail) => {
    await using api = await createMonitorApi();
    const answer = await api.post({ ...body, interval_seconds });
    expectProblem(answer, "validation_failed");
    expect(answer.body.errors).toEqual([{ pointer: "#/interval_seconds", detail }]);
  });

  test.each([null, 86_401, YEAR])(
    "a change of an active check to an interval of %p is rejected",
    async (interval_seconds) => {
      await using api = await createMonitorApi();
      const { id } = await api.create();
      const before = api.written();
      const answer = await api.patch(id, { interval_seconds });
      expectProblem(answer, "validation_failed");
      const detail = "must be a whole number from 5 to 86,400";
      expect(answer.body.errors).toEqual([{ pointer: "#/interval_seconds", detail }]);
      expect(api.written()).toEqual(before);
    },
  );

  test("a push monitor that expects a call in more than a year is rejected", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ ...PUSH, config: {} });
    const answers = [
      await api.post({ ...PUSH, interval_seconds: YEAR + 1 }),
      await api.patch(id, { interval_seconds: YEAR + 1 }),
    ];
    for (const answer of answers) {
      expectProblem(answer, "validation_failed");
      expect(answer.body.errors).toMatchObject([{ pointer: "#/interval_seconds" }]);
    }
  });
});
