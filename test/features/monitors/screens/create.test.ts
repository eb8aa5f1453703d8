import { describe, expect, test } from "bun:test";
import { isPassive, SUPPORTED_TYPES, type SupportedType } from "../../../../src/base/status";
import { expectProblem } from "../../../support/app";
import { type Fields, openForm } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { MONITOR_CONFIGS } from "../../../support/monitor-configs";
import {
  createMonitorDashboard,
  formOf,
  monitorIdIn,
  MONITORS,
  NEW_MONITOR,
} from "../../../support/monitor-dashboard";
import { shareSite } from "../../../support/shared-site";

describe("the form for a new monitor", () => {
  test("a new monitor has the typed values, is audited, and its screen confirms that it was created", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, site } = dashboard;
    const answer = await dashboard.create({
      name: " Checkout ",
      config_url: "https://shop.example.com/health",
      config_method: "POST",
      config_follow_redirects: [],
      config_certificate_warning_days: "30",
      config_body: "ping",
      header_0_name: "Authorization",
      header_0_value: "Bearer abc",
      assertion_0_source: "status",
      assertion_0_op: "lt",
      assertion_0_value: "400",
      assertion_1_source: "",
      assertion_1_op: "eq",
      assertion_2_source: "json",
      assertion_2_property: "$.ok",
      assertion_2_op: "eq",
      assertion_2_value: "true",
      interval_seconds: "30",
      degraded_after_ms: "800",
      on_down: "major_outage",
      open_incident: "draft",
    });
    const { row, components } = dashboard.stored(monitorIdIn(answer));
    expect(row).toMatchObject({
      name: "Checkout",
      type: "http",
      intervalSeconds: 30,
      timeoutMs: 10_000,
      retryIntervalSeconds: 10,
      degradedAfterMs: 800,
      onDown: "major_outage",
      openIncident: "draft",
      config: {
        url: "https://shop.example.com/health",
        method: "POST",
        follow_redirects: false,
        verify_tls: true,
        certificate_warning_days: 30,
        body: "ping",
        headers: { Authorization: "Bearer abc" },
        assertions: [
          { source: "status", op: "lt", value: 400 },
          { source: "json", property: "$.ok", op: "eq", value: true },
        ],
      },
    });
    expect(components.map(({ id }) => id)).toEqual([site.components["API"] ?? ""]);
    expect(app.audit().at(-1)).toMatchObject({ action: "monitor.create", actorKind: "user" });
    const next = await dashboard.open(answer.headers.get("location") ?? "");
    expect(readHtml(next.text).texts(".flash")).toEqual([
      "The monitor was created. The check at 12:00:00 UTC succeeded. The response took 12 ms. Nobody is notified about it. Next: Create webhook",
    ]);
  });

  test("values separated by commas become a list, and are shown as typed", async () => {
    await using dashboard = await createMonitorDashboard();
    const typed = {
      assertion_0_source: "status",
      assertion_0_op: "in",
      assertion_0_value: "200-299, 304",
      assertion_1_source: "header",
      assertion_1_property: "Content-Type",
      assertion_1_op: "in",
      assertion_1_value: "text/plain,text/html",
      assertion_2_source: "json",
      assertion_2_property: "$.state",
      assertion_2_op: "in",
      assertion_2_value: "ok, 1, true, null",
      assertion_3_source: "json",
      assertion_3_property: "$.list",
      assertion_3_op: "length_gte",
      assertion_3_value: "2",
    };
    const answer = await dashboard.create({ config_url: "https://shop.example.com/", ...typed });
    const id = monitorIdIn(answer);
    const assertions = [
      { source: "status", op: "in", value: ["200-299", 304] },
      { source: "header", property: "Content-Type", op: "in", value: ["text/plain", "text/html"] },
      { source: "json", property: "$.state", op: "in", value: ["ok", 1, true, null] },
      { source: "json", property: "$.list", op: "length_gte", value: 2 },
    ];
    expect(dashboard.stored(id).row.config["assertions"]).toEqual(assertions);
    const form = await dashboard.open(`/admin/monitors/${id}/edit`);
    expect([0, 1, 2, 3].flatMap((row) => typedIn(form.text, `assertion_${row}_value`))).toEqual([
      "200-299, 304",
      "text/plain, text/html",
      "ok, 1, true, null",
      "2",
    ]);
    await dashboard.edit(id, { assertion_3_value: "3" });
    expect(dashboard.stored(id).row.config["assertions"]).toEqual([
      ...assertions.slice(0, 3),
      { ...assertions[3], value: 3 },
    ]);
  });

  const CONFIGS: { type: SupportedType; fields: Fields; config: object }[] = [
    {
      type: "tcp",
      fields: { config_host: "db.example.com", config_port: "5432" },
      config: { host: "db.example.com", port: 5432 },
    },
    {
      type: "tls",
      fields: { config_host: "example.com", config_port: "", config_days: "21" },
      config: { host: "example.com", days: 21 },
    },
    {
      type: "dns",
      fields: {
        config_name: "example.com",
        config_record_type: "MX",
        config_expected: "10 a.example.com\r\n\r\n 20 b.example.com",
        config_resolver: "",
      },
      config: {
        name: "example.com",
        record_type: "MX",
        expected: ["10 a.example.com", "20 b.example.com"],
      },
    },
    { type: "push", fields: { config_grace_seconds: "300" }, config: { grace_seconds: 300 } },
  ];

  for (const { type, fields, config } of CONFIGS) {
    test(`a new ${type} monitor has the configuration of its type`, async () => {
      await using dashboard = await createMonitorDashboard();
      await dashboard.create({ type, ...fields });
      const [link = ""] = readHtml((await dashboard.open()).text).attributes(".row-link", "href");
      const { row } = dashboard.stored(link.slice(MONITORS.length + 1));
      expect(row).toMatchObject({ type, name: "Shop", config });
      expect(Object.keys(row.config)).toEqual(Object.keys(config));
    });
  }

  test("the form for a new monitor of each type is accepted once its required fields are filled in", async () => {
    await using dashboard = await createMonitorDashboard();
    const needed = (type: SupportedType) =>
      Object.fromEntries(
        Object.entries(MONITOR_CONFIGS[type][0]).map(([name, value]) => [
          `config_${name}`,
          String(value),
        ]),
      );
    for (const type of SUPPORTED_TYPES.filter((each) => each !== "ping")) {
      const { text } = await dashboard.open(`${NEW_MONITOR}?type=${type}`);
      const form = { ...formOf(text), name: type, ...needed(type) };
      const { status } = await dashboard.send(NEW_MONITOR, form);
      expect([type, status]).toEqual([type, isPassive(type) ? 200 : 303]);
    }
  });

  const WRONG: { what: string; fields: Fields; at: string; says: string }[] = [
    { what: "no name", fields: { name: " " }, at: "name", says: "Name is empty." },
    {
      what: "an address that is none",
      fields: { config_url: "shop" },
      at: "config_url",
      says: "URL must be an address such as https://example.com/health.",
    },
    {
      what: "an address of the machine's own secrets",
      fields: { config_url: "http://169.254.169.254/latest" },
      at: "config_url",
      says: "URL names an address",
    },
    {
      what: "an interval of 4 s",
      fields: { interval_seconds: "4" },
      at: "interval_seconds_other",
      says: "Interval in seconds must be a whole number from 5 to 86,400.",
    },
    {
      what: "an interval of 1e9",
      fields: { interval_seconds: "other", interval_seconds_other: "1e9" },
      at: "interval_seconds_other",
      says: "Interval in seconds must be a whole number from 5 to 86,400.",
    },
    {
      what: "a timeout that is not there",
      fields: { timeout_ms: "" },
      at: "timeout_ms",
      says: "Timeout (ms) must be a whole number from 100 to 300,000.",
    },
    {
      what: "a retry that is longer than the interval",
      fields: { retry_interval_seconds: "90" },
      at: "retry_interval_seconds",
      says: "Check again after (seconds) must not be longer than the interval of 60 seconds.",
    },
    {
      what: "a component of nothing",
      fields: { component_ids: ["cmp_none"] },
      at: "component_ids",
      says: "Select components that exist.",
    },
    {
      what: "an invalid component status",
      fields: { on_down: "operational" },
      at: "on_down",
      says: "Component status while down must be one of",
    },
    {
      what: "a header that is set by itself",
      fields: { header_0_name: "Host", header_0_value: "x" },
      at: "config_headers",
      says: "“Host” must be given as host",
    },
    {
      what: "a header that is named twice",
      fields: { header_0_name: "X-A", header_0_value: "1", header_1_name: "X-A" },
      at: "config_headers",
      says: "“X-A” is named twice.",
    },
    {
      what: "a body that cannot be sent",
      fields: { config_body: "x" },
      at: "config_body",
      says: "Body cannot be sent with GET.",
    },
    {
      what: "a path that is none, in the second of two conditions",
      fields: {
        assertion_0_source: "status",
        assertion_0_op: "eq",
        assertion_0_value: "200",
        assertion_1_source: "json",
        assertion_1_op: "exists",
        assertion_1_property: "..",
      },
      at: "config_assertions",
      says: "Condition 2: the name or path must be a JSONPath",
    },
    {
      what: "a status that is no number",
      fields: { assertion_0_source: "status", assertion_0_op: "eq", assertion_0_value: "ok" },
      at: "config_assertions",
      says: "Condition 1: the value must be a whole number from 100 to 599.",
    },
    {
      what: "an invalid range of statuses",
      fields: { assertion_0_source: "status", assertion_0_op: "in", assertion_0_value: "200, 2xx" },
      at: "config_assertions",
      says: "Condition 1: the value must be a list of statuses and ranges, such as 200-299.",
    },
    {
      what: "a length that is no number",
      fields: {
        assertion_0_source: "json",
        assertion_0_property: "$.a",
        assertion_0_op: "length_gt",
        assertion_0_value: "two",
      },
      at: "config_assertions",
      says: "Condition 1: the value must be a whole number of at least 0.",
    },
    {
      what: "a comparison with no number",
      fields: {
        assertion_0_source: "header",
        assertion_0_property: "Age",
        assertion_0_op: "lt",
        assertion_0_value: "old",
      },
      at: "config_assertions",
      says: "Condition 1: the value must be a number.",
    },
  ];

  const shared = shareSite(createMonitorDashboard);
  for (const { what, fields, at, says } of WRONG) {
    test(`a new monitor with ${what} is redisplayed with the typed values, and is not created`, async () => {
      const dashboard = await shared();
      const before = dashboard.written();
      const answer = await dashboard.create(fields);
      expect(answer.status).toBe(422);
      const errors = fieldErrorsOn(answer.text);
      expect(Object.keys(errors)).toEqual([at]);
      expect(errors[at]).toStartWith(says);
      expect(dashboard.written()).toEqual(before);
      const sent = dashboard.fields(fields);
      const again = formOf(answer.text);
      for (const name of ["name", "config_url", "timeout_ms"]) {
        expect(again[name]).toEqual([String(sent[name])]);
      }
      const { interval_seconds: interval, interval_seconds_other: other } = sent;
      expect(again["interval_seconds"]).toEqual([at.startsWith("interval") ? "other" : "60"]);
      expect(again["interval_seconds_other"]).toEqual([
        at.startsWith("interval") ? String(other ?? interval) : "",
      ]);
      expect((await dashboard.create()).status).toBe(303);
    });
  }

  test("an invalid configuration is reported at its field even if this machine cannot run the check", async () => {
    await using dashboard = await createMonitorDashboard();
    const answer = await dashboard.create({ type: "ping", config_host: "-f" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["config_host"]);
  });

  test("the button for more rows adds empty rows, keeps the typed values and creates nothing", async () => {
    await using dashboard = await createMonitorDashboard();
    const before = dashboard.written();
    const answer = await dashboard.create({
      name: "Shop 🛒",
      intent: "rows",
      assertion_0_source: "body",
      assertion_0_op: "contains",
      assertion_0_value: "Basket",
    });
    expect(answer.status).toBe(200);
    expect(typedIn(answer.text, "name")).toEqual(["Shop 🛒"]);
    expect(typedIn(answer.text, "assertion_0_value")).toEqual(["Basket"]);
    const rows = readHtml(answer.text).attributes("select[name$=_source]", "name");
    expect(rows).toEqual([0, 1, 2, 3, 4].map((row) => `assertion_${row}_source`));
    expect(readHtml(answer.text).attributes("input[name^=header_]", "name")).toHaveLength(8);
    expect(dashboard.written()).toEqual(before);
  });

  test("submitting one form for a new monitor twice at once creates one, and both answers lead to it", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, session } = dashboard;
    const form = { form: await openForm(app, NEW_MONITOR, session), ...dashboard.fields() };
    const answers = await Promise.all([1, 2].map(() => dashboard.send(NEW_MONITOR, form)));
    expect(new Set(answers.map(monitorIdIn)).size).toBe(1);
    expect(app.audit().filter(({ action }) => action === "monitor.create")).toHaveLength(1);
    monitorIdIn(await dashboard.create());
    expect(app.audit().filter(({ action }) => action === "monitor.create")).toHaveLength(2);
  });

  test("a new monitor submitted from another site is rejected", async () => {
    await using dashboard = await createMonitorDashboard();
    const before = dashboard.written();
    const headers = { origin: "https://elsewhere.example" };
    const { app, session } = dashboard;
    const form = dashboard.fields();
    expectProblem(await app.call(NEW_MONITOR, { session, form, headers }), "cross_site_request");
    expect(dashboard.written()).toEqual(before);
  });

  test("an editor can neither open nor submit the form for a new monitor nor try it out", async () => {
    await using dashboard = await createMonitorDashboard("editor");
    const before = dashboard.written();
    expectProblem(await dashboard.open(NEW_MONITOR), "insufficient_role");
    expectProblem(await dashboard.send(NEW_MONITOR, dashboard.fields()), "insufficient_role");
    const trial = dashboard.fields({ intent: "check" });
    expectProblem(await dashboard.send(NEW_MONITOR, trial), "insufficient_role");
    expect(dashboard.triedOut).toEqual([]);
    expect(dashboard.written()).toEqual(before);
    expect((await dashboard.open()).status).toBe(200);
  });
});
