import { describe, expect, test } from "bun:test";
import { createMonitorApi, HTTP } from "../../support/monitor-api";

const SECRETS_OF_THE_HOST = "http://169.254.169.254/latest";

/** Returns the pointers of the errors of an answer, sorted. */
const pointersIn = ({ body }: { body: { errors?: { pointer: string }[] } }) =>
  (body.errors ?? []).map(({ pointer }) => pointer).sort();

describe("one answer about a monitor lists every wrong field", () => {
  test("a new monitor with an invalid optional field gets the error of its URL too", async () => {
    await using api = await createMonitorApi();
    const before = api.written();
    const config = { url: SECRETS_OF_THE_HOST, certificate_warning_days: "many", assertions: [{}] };
    const answer = await api.post({ ...HTTP, name: "", config, timeout_ms: 1 });
    expect(answer.status).toBe(422);
    expect(pointersIn(answer)).toEqual([
      "#/config/assertions/0/source",
      "#/config/certificate_warning_days",
      "#/config/url",
      "#/name",
      "#/timeout_ms",
    ]);
    expect(api.written()).toEqual(before);
  });

  test("a changed monitor with an invalid optional field gets the error of its URL too", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create();
    const before = api.written();
    const config = { url: SECRETS_OF_THE_HOST, certificate_warning_days: "many" };
    const answer = await api.patch(id, { config, name: "" });
    expect(answer.status).toBe(422);
    expect(pointersIn(answer)).toEqual([
      "#/config/certificate_warning_days",
      "#/config/url",
      "#/name",
    ]);
    expect(api.written()).toEqual(before);
  });

  test("an error that only follows from an invalid field is left out", async () => {
    await using api = await createMonitorApi();
    const config = { schedule: "never", time_zone: "Europe/Berlin" };
    const answer = await api.post({ type: "push", name: "Backup", config });
    expect(pointersIn(answer)).toEqual(["#/config/schedule"]);
    const { id } = await api.create({ type: "push", config: {} });
    expect(pointersIn(await api.patch(id, { config, interval_seconds: null }))).toEqual([
      "#/config/schedule",
    ]);
  });
});
