import { describe, expect, test } from "bun:test";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createMonitorDashboard,
  formOf,
  monitorIdIn,
  NEW_MONITOR,
} from "../../../support/monitor-dashboard";

const resultOn = (html: string) => readHtml(html).texts('[role="status"] .notice');

describe("“Check now” before a monitor is saved", () => {
  test("trying a new monitor runs one check, shows its result, keeps the typed values and saves nothing", async () => {
    await using dashboard = await createMonitorDashboard();
    const before = dashboard.written();
    const answer = await dashboard.create({
      intent: "check",
      name: "",
      config_url: "https://shop.example.com/up",
      timeout_ms: "2500",
      header_0_name: "X-Key",
      header_0_value: "s3cr3t",
    });
    expect(answer.status).toBe(200);
    expect(dashboard.triedOut).toEqual([
      {
        type: "http",
        config: expect.objectContaining({
          url: "https://shop.example.com/up",
          headers: { "X-Key": "s3cr3t" },
        }),
        timeoutMs: 2_500,
      },
    ]);
    expect(resultOn(answer.text)).toEqual([
      "The check succeeded The response took 12 ms. Nothing was saved yet.",
    ]);
    expect(typedIn(answer.text, "config_url")).toEqual(["https://shop.example.com/up"]);
    expect(answer.text).not.toContain("s3cr3t");
    expect(dashboard.written()).toEqual(before);
  });

  test("the steps of a tried check are shown below its result", async () => {
    await using dashboard = await createMonitorDashboard();
    dashboard.steps = [{ name: "request", durationMs: 12, isOk: true, detail: "HTTP status 200" }];
    const made = await dashboard.create({ intent: "check" });
    const id = await dashboard.make();
    for (const { text } of [made, await dashboard.edit(id, { intent: "check" })]) {
      expect(resultOn(text)).toEqual([
        "The check succeeded HTTP status 200 in 12 ms. Nothing was saved yet.",
      ]);
      expect(readHtml(text).texts("#check-steps tbody tr")).toEqual([
        "RequestHTTP status 20012 ms",
      ]);
    }
  });

  test("the result of a tried check shows its message as text and the end of the certificate", async () => {
    await using dashboard = await createMonitorDashboard();
    dashboard.found = {
      outcome: "failed",
      latencyMs: null,
      message: "The status is 503; <b>it</b> should be 200.",
      certificate: {
        host: "shop.example.com",
        fingerprint: "5e".repeat(32),
        expiresAt: Date.parse("2026-05-01T00:00:00Z"),
      },
    };
    const { text } = await dashboard.create({ intent: "check" });
    expect(resultOn(text)).toEqual([
      "The check failed The status is 503; <b>it</b> should be 200. The certificate expires on 1 May 2026. Nothing was saved yet.",
    ]);
  });

  test("a monitor saved after trying it has the typed values and secrets", async () => {
    await using dashboard = await createMonitorDashboard();
    const tried = await dashboard.create({
      intent: "check",
      header_0_name: "X-Key",
      header_0_value: "s3cr3t",
    });
    const id = monitorIdIn(await dashboard.send(NEW_MONITOR, formOf(tried.text)));
    expect(dashboard.stored(id).row.config).toMatchObject({ headers: { "X-Key": "s3cr3t" } });
    expect(dashboard.triedOut).toHaveLength(1);
  });

  test("trying an invalid monitor runs no check and shows its errors", async () => {
    await using dashboard = await createMonitorDashboard();
    const answer = await dashboard.create({ intent: "check", config_url: "file:///etc/passwd" });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      config_url: "URL must begin with http:// or https://.",
    });
    expect(dashboard.triedOut).toEqual([]);
  });

  test("a push monitor cannot be tried, and its form offers its due times instead", async () => {
    await using dashboard = await createMonitorDashboard();
    const before = dashboard.written();
    const answer = await dashboard.create({ type: "push", intent: "check" });
    expect(answer.status).toBe(200);
    expect(dashboard.triedOut).toEqual([]);
    expect(dashboard.written()).toEqual(before);
    const page = readHtml((await dashboard.open(`${NEW_MONITOR}?type=push`)).text);
    expect(page.texts("button[name=intent]")).toEqual(["Show due times"]);
  });

  test("trying an existing monitor uses its stored secrets and changes nothing", async () => {
    await using dashboard = await createMonitorDashboard();
    const url = "https://shop.example.com/";
    const id = await dashboard.make({ config: { url, headers: { "X-Key": "s3cr3t" } } });
    const before = dashboard.written();
    const answer = await dashboard.edit(id, { intent: "check", config_ip_family: "ipv4" });
    expect(answer.status).toBe(200);
    expect(dashboard.triedOut.map(({ config }) => config)).toEqual([
      { url, ip_family: "ipv4", headers: { "X-Key": "s3cr3t" } },
    ]);
    expect(resultOn(answer.text)).toHaveLength(1);
    expect(typedIn(answer.text, "config_url")).toEqual([url]);
    expect(dashboard.written()).toEqual(before);
  });

  test("trying an outdated monitor form with an invalid field keeps it outdated", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    expect((await dashboard.edit(id, { name: "Theirs" })).status).toBe(303);
    const tried = await dashboard.edit(id, { version: "1", intent: "check", config_url: "shop" });
    expect([tried.status, typedIn(tried.text, "version")]).toEqual([422, ["1"]]);
  });
});
