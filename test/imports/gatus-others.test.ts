import { describe, expect, test } from "bun:test";
import { schemaErrors } from "../../src/base/validation";
import { CONFIG } from "../../src/imports/gatus/tables";
import { OTHER_PROVIDERS, PROVIDERS } from "../../src/imports/gatus/receivers";
import { CreateScheduleBody } from "../../src/features/maintenance/schedules/wire";
import { PageInput } from "../../src/features/pages/wire";
import { CreateWebhookBody } from "../../src/features/webhooks/wire";
import { readGatusText } from "../support/gatus-config";

/** Returns endpoints by name, with lines of each. */
function endpoints(byName: Record<string, string>): string {
  const all = Object.entries(byName).map(
    ([name, lines]) => `  - name: ${name}
    url: https://${name}.example.com
    conditions: ["[STATUS] == 200"]
    ${lines.trim().replace(/\n/g, "\n    ")}`,
  );
  return `endpoints:\n${all.join("\n")}\n`;
}

const ONE = endpoints({ shop: "" });
const SLACK = "https://hooks.slack.com/services/T0/B0/secret";

describe("the page", () => {
  test("is called Status, is the default page, and can be read as Gatus", async () => {
    const { pages } = await readGatusText(ONE);
    expect(pages).toMatchObject([
      {
        foreign: { type: "page", id: "page", name: "Status" },
        body: { slug: "status-page", name: "Status", visibility: "public", compat: ["gatus"] },
        isDefault: true,
        changes: [],
      },
    ]);
    expect(schemaErrors(PageInput, pages[0]?.body)).toEqual([]);
  });

  test("has the title and the description, and names the link", async () => {
    const ui = "ui: { title: Acme status, description: All of it, link: https://acme.example.com }";
    const { pages, leftOut } = await readGatusText(`${ONE}${ui}`);
    expect(pages[0]).toMatchObject({
      body: { slug: "acme-status", name: "Acme status", description: "All of it" },
      changes: [{ field: "ui.link", from: "https://acme.example.com" }],
    });
    expect(leftOut).toEqual([]);
  });

  test("is private if Gatus asks for a sign-in", async () => {
    const security = "security: { basic: { username: anna, password-bcrypt-base64: hunter22 } }";
    const found = await readGatusText(`${ONE}${security}`);
    expect(found.pages[0]?.body.visibility).toBe("private");
    expect(found.toDo.join()).toContain("private");
    expect(JSON.stringify(found)).not.toContain("hunter22");
  });
});

test("settings of the whole installation are not moved, one line each", async () => {
  const found = await readGatusText(`${ONE}
storage: { type: postgres, path: "postgres://anna:hunter22@db/gatus" }
web: { port: 8080 }
metrics: true
remote: { instances: [] }
connectivity: { checker: { target: 192.0.2.1:53, interval: 60s } }
tunneling: {}
concurrency: 5
debug: true
disable-monitoring-lock: true
skip-invalid-config-update: true
ui: { logo: a.svg, buttons: [{ name: a, link: b }], custom-css: x, dark-mode: true, header: h }`);
  expect(found.leftOut.map(({ foreign }) => `${foreign.type} ${foreign.id}`)).toEqual([
    "setting storage",
    "setting web",
    "setting metrics",
    "setting remote",
    "setting connectivity",
    "setting tunneling",
    "setting concurrency",
    "setting debug",
    "setting disable-monitoring-lock",
    "setting skip-invalid-config-update",
    "setting ui.header",
    "setting ui.logo",
    "setting ui.buttons",
    "setting ui.custom-css",
    "setting ui.dark-mode",
  ]);
  expect(found.toDo).toEqual([
    "To ignore failures while this server is offline, start it with --reference-targets 192.0.2.1:53",
  ]);
  expect(found.notRead).toEqual([]);
});

describe("the target that proves that Gatus is online", () => {
  test.each([
    ["1.1.1.1:53", "1.1.1.1:53"],
    ["'[2606:4700::1111]:53'", "[2606:4700::1111]:53"],
    ["ping.example.com:443", "ping.example.com:443"],
    ["https://ping.example.com/t0ken", "HOST:PORT"],
    ["user:hunter2@ping.example.com:443", "HOST:PORT"],
    ["hunter2@ping.example.com:443", "HOST:PORT"],
    ["'1.1.1.1:53; rm -rf /'", "HOST:PORT"],
    ["hunter2", "HOST:PORT"],
  ])("%s is repeated as %s", async (target, shown) => {
    const { toDo } = await readGatusText(
      `${endpoints({ shop: "" })}connectivity: { checker: { target: ${target} } }\n`,
    );
    expect(toDo).toEqual([
      `To ignore failures while this server is offline, start it with --reference-targets ${shown}`,
    ]);
  });
});

describe("alerts", () => {
  const monitorWith = async (alerts: string, alerting = "") =>
    (await readGatusText(`${endpoints({ shop: `alerts:\n${alerts}` })}${alerting}`)).monitors[0]!;

  test("without numbers mean 3 failures and 2 successes", async () => {
    const { body } = await monitorWith("  - type: slack");
    expect(body).toMatchObject({ failure_threshold: 3, success_threshold: 2, reminder_seconds: 0 });
  });

  test("give the smallest thresholds and the shortest reminders", async () => {
    const { body } = await monitorWith(`
  - { type: slack, failure-threshold: 5, success-threshold: 1, minimum-reminder-interval: 2h }
  - { type: discord, failure-threshold: 4, success-threshold: 4, minimum-reminder-interval: 10m }
  - { type: ntfy, failure-threshold: 1, enabled: false }`);
    expect(body).toMatchObject({
      failure_threshold: 4,
      success_threshold: 1,
      reminder_seconds: 600,
    });
  });

  test("that are all switched off count as none", async () => {
    const { body } = await monitorWith("  - { type: slack, enabled: false, failure-threshold: 9 }");
    expect(body).toMatchObject({ failure_threshold: 3, success_threshold: 1 });
  });

  test("have the default of their provider where they have nothing", async () => {
    const { body } = await monitorWith(
      "  - type: pagerduty\n  - { type: pagerduty, failure-threshold: 7, description: Own }",
      `alerting: { pagerduty: { integration-key: k, default-alert: { failure-threshold: 6, success-threshold: 4, minimum-reminder-interval: 1h, description: Usual } } }`,
    );
    expect(body).toMatchObject({
      failure_threshold: 6,
      success_threshold: 4,
      reminder_seconds: 3_600,
      notes: "Usual\nOwn",
    });
  });

  test("may be switched off by the default of their provider", async () => {
    const alerting = "alerting: { slack: { default-alert: { enabled: false } } }";
    const { body } = await monitorWith("  - type: slack", alerting);
    expect(body).toMatchObject({ success_threshold: 1 });
  });

  test.each([
    ["failure-threshold: 500", "alerts[].failure-threshold", { failure_threshold: 100 }],
    [
      "minimum-reminder-interval: 240h",
      "alerts[].minimum-reminder-interval",
      { reminder_seconds: 604_800 },
    ],
    [`description: ${"x".repeat(1_001)}`, "alerts[].description", { notes: "x".repeat(1_000) }],
  ])("with %s are changed", async (field, name, expected) => {
    const { body, changes } = await monitorWith(`  - { type: slack, ${field} }`);
    expect(body).toMatchObject(expected);
    expect(changes).toMatchObject([{ field: name }]);
  });
});

describe("a provider of alerts", () => {
  const found = async (provider: string, alert: string, more = {}) =>
    readGatusText(
      `${endpoints({ shop: `alerts:\n  - ${alert}`, ...more })}alerting:\n  ${provider.replace(/\n/g, "\n  ")}`,
    );

  test.each([
    ["slack", `{ webhook-url: "${SLACK}" }`, "slack", SLACK, undefined],
    [
      "discord",
      "{ webhook-url: https://discord.com/api/webhooks/1/secret }",
      "discord",
      "https://discord.com/api/webhooks/1/secret",
      undefined,
    ],
    [
      "teams-workflows",
      "{ webhook-url: https://prod.logic.azure.com/secret }",
      "teams",
      "https://prod.logic.azure.com/secret",
      undefined,
    ],
    [
      "telegram",
      '{ token: "1:secret", id: -100, topic-id: "7" }',
      "telegram",
      "https://api.telegram.org",
      { bot_token: "1:secret", chat_id: "-100", message_thread_id: 7 },
    ],
    [
      "telegram",
      '{ token: "1:secret", id: "@a", api-url: https://t.example.com }',
      "telegram",
      "https://t.example.com",
      { bot_token: "1:secret", chat_id: "@a" },
    ],
    [
      "ntfy",
      "{ topic: secret-topic, token: tk_secret }",
      "ntfy",
      "https://ntfy.sh/secret-topic",
      { token: "tk_secret" },
    ],
    [
      "ntfy",
      "{ topic: secret-topic, url: https://n.example.com/ }",
      "ntfy",
      "https://n.example.com/secret-topic",
      undefined,
    ],
    [
      "gotify",
      "{ server-url: https://g.example.com, token: secret99 }",
      "gotify",
      "https://g.example.com",
      { token: "secret99" },
    ],
    ["email", "{ to: oncall@example.com }", "email", "mailto:oncall@example.com", undefined],
  ])(
    "%s %s becomes a webhook for the monitors that name it",
    async (type, config, format, url, settings) => {
      const { webhooks, leftOut, notRead } = await found(`${type}: ${config}`, `type: ${type}`, {
        other: "",
      });
      expect(webhooks).toMatchObject([
        {
          foreign: { type: "alerting", id: `${type}:down` },
          body: { format, url, events: ["monitor.down"] },
          monitors: ["endpoint:_shop"],
          changes: [],
        },
      ]);
      expect(webhooks[0]).not.toHaveProperty("page");
      expect(webhooks[0]?.body.settings).toEqual(settings as never);
      expect(schemaErrors(CreateWebhookBody, webhooks[0]?.body)).toEqual([]);
      expect([leftOut, notRead]).toEqual([[], []]);
      const { body: _body, ...shown } = webhooks[0]!;
      expect(JSON.stringify(shown)).not.toMatch(/secret|oncall/);
    },
  );

  test("tells of recoveries and reminders where alerts ask for them", async () => {
    const { webhooks } = await found(
      `slack: { webhook-url: "${SLACK}", default-alert: { send-on-resolved: true } }`,
      "type: slack",
      {
        b: "alerts: [{ type: slack, minimum-reminder-interval: 1h }]",
        c: "alerts: [{ type: slack, send-on-resolved: false }]",
      },
    );
    expect(webhooks).toMatchObject([
      {
        foreign: { id: "slack", name: "Slack" },
        body: { events: ["monitor.down", "monitor.up", "monitor.reminder"] },
        monitors: ["endpoint:_shop", "endpoint:_b"],
      },
      {
        foreign: { id: "slack:down", name: "Slack, without recoveries" },
        body: { events: ["monitor.down"] },
        monitors: ["endpoint:_c"],
      },
    ]);
  });

  test("with an override has a webhook of its own for its group", async () => {
    const { webhooks } = await found(
      `ntfy:
  topic: all-secret
  token: tk_secret
  overrides:
    - { group: core, topic: core-secret }
    - { group: unused, topic: unused-secret }`,
      "type: ntfy",
      { b: "group: core\nalerts: [{ type: ntfy }]" },
    );
    expect(
      webhooks.map(({ foreign, body, monitors }) => [
        foreign.id,
        body.url,
        body.settings,
        monitors,
      ]),
    ).toEqual([
      ["ntfy:down", "https://ntfy.sh/all-secret", { token: "tk_secret" }, ["endpoint:_shop"]],
      [
        "ntfy:group:core:down",
        "https://ntfy.sh/core-secret",
        { token: "tk_secret" },
        ["endpoint:core_b"],
      ],
    ]);
  });

  test("for mail has a webhook for each address, and hides them in the report", async () => {
    const { webhooks } = await found(
      `email: { from: gatus@example.com, host: mail.example.com, port: 587, username: u, password: hunter22, to: "anna@example.com, bert@example.com" }`,
      "type: email",
    );
    expect(webhooks.map(({ body }) => body.url)).toEqual([
      "mailto:anna@example.com",
      "mailto:bert@example.com",
    ]);
    expect(webhooks.map(({ foreign }) => foreign.id)).toEqual(["email:down", "email:2:down"]);
    expect(webhooks[0]?.changes.map(({ field, from }) => [field, from])).toEqual([
      ["from", "set"],
      ["host", "set"],
      ["port", "set"],
      ["username", "set"],
      ["password", "set"],
    ]);
  });

  test("names the settings of messages that it drops", async () => {
    const { webhooks } = await found(
      `slack: { webhook-url: "${SLACK}", title: "Gatus: [ALERT]" }`,
      "type: slack",
    );
    expect(webhooks[0]?.changes).toMatchObject([{ field: "title", from: "set", to: null }]);
  });

  test.each([
    [
      "that no alert names",
      `slack: { webhook-url: "${SLACK}" }`,
      "type: discord",
      "slack",
      "No enabled alert",
    ],
    ["without URL", "slack: {}", "type: slack", "slack", "no webhook-url"],
    [
      "without counterpart",
      "pagerduty: { integration-key: k }",
      "type: pagerduty",
      "pagerduty",
      "no counterpart here. It notifies about 1 endpoint: shop.",
    ],
    [
      "without counterpart and alerts",
      "custom: { url: https://x.example.com/secret }",
      "type: slack",
      "custom",
      "no counterpart here.",
    ],
    [
      "that is not configured",
      `discord: { webhook-url: "${SLACK}" }`,
      "type: slack",
      "slack",
      "not configured",
    ],
    ["of a wrong shape", "slack: [a]", "type: slack", "slack", "alerting.slack must be a map"],
  ])("%s is not moved", async (_name, provider, alert, id, reason) => {
    const { leftOut, webhooks } = await found(provider, alert);
    expect(webhooks).toEqual([]);
    expect(leftOut).toContainEqual({
      foreign: { type: "alerting", id, name: expect.any(String) },
      reason: expect.stringContaining(reason),
    });
    expect(JSON.stringify(leftOut)).not.toContain("secret");
  });

  test("with a provider-override is not moved for that alert", async () => {
    const { leftOut, webhooks } = await found(
      `slack: { webhook-url: "${SLACK}" }`,
      `{ type: slack, provider-override: { webhook-url: "${SLACK}2" } }`,
      { b: "alerts: [{ type: slack }]" },
    );
    expect(webhooks.map(({ monitors }) => monitors)).toEqual([["endpoint:_b"]]);
    expect(leftOut).toMatchObject([
      { foreign: { type: "alert", id: "_shop:slack:0", name: "slack of shop" } },
    ]);
  });

  test("that this version does not know is named", async () => {
    const { notRead } = await found("carrier-pigeon: { loft: 1 }", "type: slack");
    expect(notRead).toEqual(["alerting.carrier-pigeon"]);
  });
});

describe("a maintenance window", () => {
  const MONDAY = `{ start: "23:30", duration: 1h30m, every: [Monday, Thursday], timezone: Europe/Riga }`;

  test("of the installation becomes a schedule of all components", async () => {
    const more = "external-endpoints: [{ name: job, token: t }]\n";
    const found = await readGatusText(`${ONE}${more}maintenance: ${MONDAY}`);
    expect(found.schedules).toMatchObject([
      {
        foreign: { type: "maintenance", id: "maintenance" },
        body: {
          cron: "30 23 * * MON,THU",
          duration_minutes: 90,
          time_zone: "Europe/Riga",
          enabled: true,
        },
        components: ["component:_shop", "component:_job"],
        changes: [{ field: "maintenance" }],
      },
    ]);
    expect(schemaErrors(CreateScheduleBody, { ...found.schedules[0]?.body, page: "x" })).toEqual(
      [],
    );
  });

  test("of an endpoint becomes a schedule of its component", async () => {
    const windows = `maintenance-windows: [${MONDAY}, { start: "00:05", duration: 24h, enabled: false }]`;
    const { schedules } = await readGatusText(endpoints({ shop: windows, other: "" }));
    expect(schedules).toMatchObject([
      { foreign: { id: "_shop:0" }, components: ["component:_shop"] },
      {
        foreign: { id: "_shop:1" },
        body: { cron: "5 0 * * *", duration_minutes: 1_440, time_zone: "UTC", enabled: false },
      },
    ]);
  });

  test.each([
    ['{ start: "24:00", duration: 1h }', "start"],
    ["{ duration: 1h }", "start"],
    ['{ start: "10:00", duration: 1h, every: [Mon] }', "days"],
    ['{ start: "10:00" }', "duration"],
    ['{ start: "10:00", duration: 25h }', "duration"],
    ['{ start: "10:00", duration: 1h, timezone: Mars/Base }', "time zone"],
  ])("%s is not moved", async (window, word) => {
    const { schedules, leftOut } = await readGatusText(`${ONE}maintenance: ${window}`);
    expect(schedules).toEqual([]);
    expect(leftOut).toMatchObject([
      { foreign: { type: "maintenance" }, reason: expect.stringContaining(word) },
    ]);
  });
});

describe("an announcement", () => {
  const read = (lines: string) => readGatusText(`${ONE}announcements:\n${lines}`);

  test.each([
    ["outage", "major", "Outage"],
    ["warning", "minor", "Warning"],
    ["information", "none", "Information"],
    ["operational", "none", "Operational"],
    ["none", "none", "Announcement"],
  ])("of the type %s becomes an incident with the impact %s", async (type, impact, name) => {
    const { incidents } = await read(
      `  - { timestamp: 2026-08-15T14:00:00Z, type: ${type}, message: "Down.\\nSorry." }`,
    );
    expect(incidents).toMatchObject([
      {
        foreign: { type: "announcement", name: "Down. Sorry." },
        body: {
          name,
          impact_override: impact,
          started_at: "2026-08-15T14:00:00.000Z",
          updates: [
            {
              status: "investigating",
              body: "Down.\nSorry.",
              display_at: "2026-08-15T14:00:00.000Z",
              components: {},
            },
          ],
        },
        changes: [],
      },
    ]);
    expect(incidents[0]?.externalId).toBe(`announcement:${incidents[0]?.foreign.id}`);
  });

  test("that is archived is resolved", async () => {
    const { incidents } = await read("  - { timestamp: 2026-08-15, message: a, archived: true }");
    expect(incidents[0]?.body.updates).toMatchObject([
      { status: "resolved", display_at: "2026-08-15T00:00:00.000Z" },
    ]);
  });

  test("is the same object after its text was edited, and one of several at one time", async () => {
    const at = "timestamp: 2026-08-15T14:00:00Z";
    const before = await read(`  - { ${at}, message: a }\n  - { ${at}, message: b }`);
    const after = await read(`  - { ${at}, message: c }\n  - { ${at}, message: b }`);
    const ids = before.incidents.map(({ foreign }) => foreign.id);
    expect(new Set(ids).size).toBe(2);
    expect(after.incidents.map(({ foreign }) => foreign.id)).toEqual(ids);
  });

  test("is in order of time, whatever the order of the file", async () => {
    const { incidents } = await read(
      `  - { timestamp: 2026-08-15T14:00:00+02:00, message: later }\n  - { timestamp: 2026-08-15 11:00:00, message: earlier }`,
    );
    expect(incidents.map(({ foreign, body }) => [foreign.name, body.started_at])).toEqual([
      ["earlier", "2026-08-15T11:00:00.000Z"],
      ["later", "2026-08-15T12:00:00.000Z"],
    ]);
  });

  test.each([
    ["{ message: a }", "no time"],
    ["{ timestamp: soon, message: a }", "no time"],
    ["{ timestamp: 2026-08-15 }", "no message"],
    ["a", "must be a map"],
  ])("%s is not moved", async (announcement, reason) => {
    const { incidents, leftOut } = await read(`  - ${announcement}`);
    expect(incidents).toEqual([]);
    expect(leftOut).toMatchObject([
      { foreign: { type: "announcement" }, reason: expect.stringContaining(reason) },
    ]);
  });
});

test("every provider and every setting says what becomes of it", () => {
  for (const { becomes } of Object.values(CONFIG)) expect(becomes).not.toBe("");
  for (const { fields } of Object.values(PROVIDERS)) {
    for (const { becomes } of Object.values(fields)) expect(becomes).not.toBe("");
  }
  expect(OTHER_PROVIDERS.filter((name) => Object.hasOwn(PROVIDERS, name))).toEqual([]);
});
