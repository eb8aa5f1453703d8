import { dockerInstruction, dockerNames } from "../../src/imports/uptime-kuma/types";
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import type { Found } from "../../src/imports/found";
import { readUptimeKuma } from "../../src/imports/uptime-kuma/read";
import { kumaFolder, monitorNamed, readFixture, textsIn } from "../support/kuma-fixture";
import { png } from "../support/pictures";
import { SECRET } from "./fixtures/uptime-kuma/objects";

const found = await readFixture("2.5.3");
const monitor = (name: string) => monitorNamed(found, name);
const nameless = ({ foreign }: { foreign: { type: string; id: string; name: string } }) => foreign;
const componentOf = (name: string, of: Found = found) =>
  of.components.filter(({ body }) => body.name === name);
const reasonOf = (name: string) =>
  found.leftOut.find(({ foreign }) => foreign.name === name)?.reason;

/** Fields that each monitor of the fixture has unless it says otherwise. */
const USUAL = {
  interval_seconds: 60,
  retry_interval_seconds: 60,
  failure_threshold: 1,
  timeout_ms: 48_000,
  reminder_seconds: 0,
  inverted: false,
  paused: true,
  notes: null,
  tags: [],
};

describe("a database of Uptime Kuma 2.5.3", () => {
  test("has only tables, columns and types that are known, but for the planted type", () => {
    expect(found.notRead).toEqual(["monitor type of-the-future"]);
  });

  test("is known by a hash of its secret", () => {
    expect(found.kind).toBe("uptime-kuma");
    expect(found.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  test("gives each object once", () => {
    const all = [
      ...found.pages,
      ...found.groups,
      ...found.components,
      ...found.monitors,
      ...found.webhooks,
      ...found.maintenance,
      ...found.schedules,
      ...found.incidents,
      ...found.leftOut,
    ].map((each) => `${nameless(each).type}:${nameless(each).id}`);
    expect(new Set(all).size).toBe(all.length);
  });

  test("tells no secret beside the settings of monitors and webhooks", () => {
    const { monitors, webhooks, ...rest } = found;
    const shown = [
      ...textsIn(rest),
      ...[...monitors, ...webhooks].flatMap((each) => textsIn({ ...each, body: {}, tokens: [] })),
    ];
    expect(shown.filter((text) => text.includes(SECRET))).toEqual([]);
    const hidden = [...textsIn(monitors), ...textsIn(webhooks)];
    expect(hidden.filter((text) => text.includes(SECRET)).length).toBeGreaterThan(30);
  });

  test.each([
    ["Basic", "http", { headers: { Authorization: `Basic ${btoa(`kuma:${SECRET}basic`)}` } }],
    ["Bearer", "http", { headers: { Authorization: `Bearer ${SECRET}bearer` } }],
    [
      "OAuth",
      "http",
      {
        oauth2: {
          token_url: "https://login.test/token",
          client_id: "kuma",
          client_secret: `${SECRET}oauth`,
          scopes: ["read", "write"],
          audience: "https://api.test",
          auth: "body",
        },
      },
    ],
    ["Certificate", "http", { url: "https://127.0.0.1/", certificate_warning_days: 28 }],
    [
      "Form",
      "http",
      {
        method: "PUT",
        body: "a=b",
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        follow_redirects: false,
      },
    ],
    ["XML", "http", { body: "<a/>", headers: { "Content-Type": "text/xml; charset=utf-8" } }],
    ["Port", "tcp", { host: "127.0.0.1", port: 22 }],
    ["STARTTLS port", "smtp", { host: "mail.test", port: 587, tls: "starttls" }],
    ["Ping", "ping", { host: "127.0.0.1" }],
    [
      "PostgreSQL",
      "postgres",
      {
        host: "127.0.0.1",
        port: 5433,
        database: "orders",
        user: "kuma",
        password: `${SECRET}pg@`,
        tls: "require",
        query: `SELECT '${SECRET}query'`,
      },
    ],
    [
      "MySQL",
      "mysql",
      { host: "127.0.0.1", user: "kuma", password: `${SECRET}mysql`, tls: "off", expected: "1" },
    ],
    [
      "MQTT",
      "mqtt",
      {
        host: "broker.test",
        port: 8883,
        tls: "verify",
        topic: "sensors/kitchen",
        user: "kuma",
        password: `${SECRET}mqtt`,
        assertions: [{ source: "body", op: "contains", value: "on" }],
      },
    ],
    [
      "MQTT with JSON",
      "mqtt",
      {
        tls: "off",
        assertions: [{ source: "json", property: "$.state.power", op: "eq", value: "on" }],
      },
    ],
    ["SMTP", "smtp", { host: "mail.test", port: 465, tls: "tls" }],
    [
      "WebSocket",
      "websocket",
      {
        url: "wss://ws.test/updates",
        subprotocols: ["chat", "superchat"],
        headers: { "X-Key": `${SECRET}wsheader`, Authorization: `Bearer ${SECRET}wsbearer` },
        close_codes: [1000, 1001],
      },
    ],
    [
      "gRPC health",
      "grpc",
      { host: "orders.test", port: 50051, tls: "verify", service: "acme.Orders" },
    ],
    [
      "RabbitMQ",
      "http",
      {
        url: "https://rabbit.test:15671/api/health/checks/alarms/",
        headers: {
          Accept: "application/json",
          Authorization: `Basic ${btoa(`kuma:${SECRET}rabbit`)}`,
        },
        assertions: [{ source: "status", op: "eq", value: 200 }],
      },
    ],
  ])("takes the monitor %s over without a difference", (name, type, config) => {
    const { body, changes, disabled, held } = monitor(name);
    expect(body).toMatchObject({ type, ...USUAL, config });
    expect({ changes, disabled, held }).toEqual({
      changes: [],
      disabled: undefined,
      held: undefined,
    });
  });

  test("takes the password of a monitor over that was sent without verified TLS, and says so", () => {
    const { body, changes, disabled } = monitor("Redis");
    const config = { host: "cache.test", port: 6380, user: "kuma", database: 2, tls: "require" };
    const allowed = { ...config, allow_plain_password: true };
    expect(body).toMatchObject({ type: "redis", ...USUAL, config: allowed });
    expect(changes).toEqual([
      {
        field: "database_connection_string",
        from: "set",
        to: "allow_plain_password",
        reason:
          "The password is sent without TLS, or to a server that is not verified, as before. Set tls to verify if the server can.",
      },
    ]);
    expect(disabled).toBeUndefined();
  });

  test("takes over all that a request has, and names what has no counterpart", () => {
    const { body, changes } = monitor("Request");
    expect(body).toMatchObject({
      type: "http",
      group: "Data centre / Rack 1",
      timeout_ms: 24_500,
      reminder_seconds: 600,
      inverted: true,
      config: {
        url: "http://127.0.0.1/path?a=b",
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-Key": `${SECRET}header`,
          accept: "text/plain",
          Authorization: `Basic ${btoa(`kuma:${SECRET}url`)}`,
        },
        body: `{"password": "${SECRET}body"}`,
        follow_redirects: true,
        ip_family: "ipv6",
        verify_tls: false,
        proxy: {
          url: "http://proxy.test:3128",
          username: "monitor",
          password: `${SECRET}proxy`,
        },
        assertions: [{ source: "status", op: "in", value: ["200-299", "401"] }],
      },
    });
    expect(changes.map(({ field, from, to }) => [field, from, to])).toEqual([
      ["cache_bust", true, false],
      ["save_response", true, false],
      ["maxredirects", 3, 10],
    ]);
  });

  test("turns keywords and JSON paths into assertions", () => {
    const assertionOf = (name: string) =>
      (monitor(name).body.config as { assertions: unknown[] }).assertions.slice(1);
    expect(assertionOf("Keyword")).toEqual([{ source: "body", op: "contains", value: "fine" }]);
    expect(assertionOf("No keyword")).toEqual([
      { source: "body", op: "not_contains", value: "broken" },
    ]);
    expect(assertionOf("JSON")).toEqual([
      { source: "json", property: "$.checks[0].status", op: "eq", value: "ok" },
    ]);
    const { disabled } = monitor("JSON with an expression");
    expect(disabled).toContain("$count(checks)");
  });

  test("keeps monitors that cannot be checked, with their target and without telling secrets", () => {
    const held = found.monitors.filter((each) => each.held !== undefined);
    const targets = held.map(({ body, held: reason }) => [
      body.name,
      body.type === "unsupported" ? body.config.target : body.type,
      reason,
    ]);
    const cannot = (type: string) => `Monitors of the type ${type} cannot be checked here.`;
    expect(targets.toSorted()).toEqual(
      [
        ["Browser", "acme.test", cannot("real-browser")],
        ["Game", "127.0.0.1:25565", cannot("gamedig")],
        ["Globalping", "acme.test", cannot("globalping")],
        ["Kafka", "kafka.test:9092", cannot("kafka-producer")],
        ["MQTT over a WebSocket", "broker.test:8083", "It uses MQTT over a WebSocket."],
        ["MongoDB", "db.test:27017", cannot("mongodb")],
        ["NTLM", new URL(urlOf("Site")).host, "It signs in by NTLM."],
        ["NTP", "ntp.test:123", cannot("ntp")],
        ["Of the future", "future.test", cannot("of-the-future")],
        ["Oracle", "oracle.test:1521/XE", cannot("oracledb")],
        ["PM2", "web", cannot("pm2")],
        ["RADIUS", "radius.test:1812", cannot("radius")],
        [
          "RabbitMQ cluster",
          "rabbit1.test:15671, rabbit2.test:15671",
          "It is up while one of several nodes is.",
        ],
        ["SFTP", "sftp.test:22", cannot("sftp")],
        ["SIP", "sip.test:5060", cannot("sip-options")],
        ["SNMP", "switch.test:161", cannot("snmp")],
        ["SQL Server", "sql.test,1433", cannot("sqlserver")],
        ["Service", "nginx", cannot("system-service")],
        ["Steam", "127.0.0.1:27015", cannot("steam")],
        ["TLS alert", "mtls.test:443", "It expects an alert of TLS."],
        ["Tailscale", "laptop", cannot("tailscale-ping")],
        ["gRPC", "orders.test:50051", "It calls a method other than that of the health service."],
      ].toSorted(),
    );
    expect(monitor("MongoDB").body.config).toMatchObject({
      source: "uptime-kuma",
      type: "mongodb",
      settings: { database_connection_string: expect.stringContaining(SECRET) as string },
    });
  });

  test("names small differences, and switches off what needs something first", () => {
    const fieldsOf = (name: string) => monitor(name).changes.map(({ field }) => field);
    expect(fieldsOf("Pings")).toEqual([
      "packet_size",
      "ping_count",
      "ping_numeric",
      "ping_per_request_timeout",
    ]);
    expect(monitor("TLS port")).toMatchObject({
      body: { type: "tls", config: { host: "ldap.test", port: 636, days: 0 } },
      changes: [{ field: "expiry_notification" }],
    });
    expect(monitor("SOCKS").disabled).toContain("SOCKS");
    expect(monitor("Container")).toMatchObject({
      body: { type: "docker", config: { host: "this-machine", container: "web" } },
      disabled: expect.stringContaining("ALLCLEAR_DOCKER_HOSTS") as string,
    });
    expect(found.toDo).toEqual([
      "Set ALLCLEAR_DOCKER_HOSTS=this-machine=unix:///var/run/docker.sock,nas=tcp://10.0.0.5:2376, restart, and resume the monitors of containers.",
      "Let https://kuma.example.com lead to this server, or replace it in the addresses that jobs call: their paths /api/push/… stay.",
    ]);
  });

  test("asks the first resolver for records, and for the name of an address", () => {
    expect(monitor("DNS")).toMatchObject({
      body: {
        config: {
          name: "example.com",
          record_type: "A",
          resolver: "9.9.9.9:53",
          expected: ["192.0.2.1"],
        },
      },
      changes: [{ field: "dns_resolve_server", from: "9.9.9.9,1.1.1.1", to: "9.9.9.9" }],
    });
    expect(monitor("Reverse DNS")).toMatchObject({
      body: { config: { name: "7.2.0.192.in-addr.arpa", resolver: "[2620:fe::fe]:5353" } },
      changes: [{ field: "conditions", from: "set", to: "none" }],
    });
  });

  test("keeps the tokens with which jobs call", () => {
    expect(monitor("Backup")).toMatchObject({
      body: {
        type: "push",
        interval_seconds: 3_600,
        failure_threshold: 1,
        paused: false,
        config: { grace_seconds: 1 },
      },
      tokens: [{ kind: "kuma", value: `${SECRET}PushTokenOfTheBackup` }],
      changes: [],
    });
    expect(monitor("Backup with retries")).toMatchObject({
      body: { config: { grace_seconds: 181 } },
      changes: [{ field: "maxretries", from: 3, to: 0 }],
    });
  });

  test("takes over thresholds, texts and tags, and the pause of a group", () => {
    expect(monitor("Site")).toMatchObject({
      number: 4,
      body: {
        failure_threshold: 3,
        retry_interval_seconds: 20,
        notes: "The site",
        tags: ["production", "team:web"],
        paused: false,
      },
    });
    expect(monitor("In a paused group").body).toMatchObject({
      paused: true,
      group: "Paused group",
    });
    expect(reasonOf("Paused group")).toBe(
      "It becomes the label of 1 monitor, and no object of its own.",
    );
  });

  test("watches a domain with a monitor of its own, for the webhooks of its monitors", () => {
    expect(monitor("example.com")).toMatchObject({
      foreign: { type: "domain_expiry", id: "1" },
      body: { type: "domain", config: { domain: "example.com", days: 21 }, paused: false },
      components: [],
    });
    const phone = found.webhooks.find(({ body }) => body.description === "Phone");
    expect(phone?.monitors).toEqual(["monitor:18", "domain_expiry:1"]);
  });
});

function urlOf(name: string): string {
  return (monitor(name).body.config as { url: string }).url;
}

describe("status pages of Uptime Kuma 2.5.3", () => {
  test("become pages with their settings, and name what has no counterpart on one line", () => {
    expect(found.pages).toMatchObject([
      {
        number: 1,
        isDefault: true,
        domains: ["status.acme.test", "acme.test"],
        logo: null,
        body: {
          slug: "acme",
          name: "Acme",
          description: "All services of Acme",
          theme: "system",
          visibility: "public",
          time_zone: "Europe/Berlin",
          compat: ["uptime-kuma"],
        },
      },
      { number: 2, isDefault: false, domains: [], body: { slug: "second", theme: "dark" } },
    ]);
    expect(found.pages[0]?.changes.map(({ field }) => field)).toEqual([
      "icon",
      "description",
      "custom_css, footer_text, show_tags, show_certificate_expiry, show_powered_by",
    ]);
  });

  test("have the words of their description, which is Markdown there", async () => {
    using folder = kumaFolder("2.5.3");
    const describe = async (description: string) => {
      using kuma = new Database(folder.database);
      kuma.run("UPDATE status_page SET description = ? WHERE id = 1", [description]);
      const { pages, history } = await readUptimeKuma(folder.path);
      history?.[Symbol.dispose]();
      const change = pages[0]?.changes.find(({ field }) => field === "description");
      return [pages[0]?.body.description, change?.to];
    };
    expect(await describe("Two\nlines, 2 * 3.")).toEqual(["Two\nlines, 2 * 3.", undefined]);
    const plain = "Status of Acme & co.";
    expect(await describe("## Status\n\nof [Acme](https://acme.test) & *co.*")).toEqual([
      plain,
      plain,
    ]);
  });

  test("have their picture from the data directory, and from no other place", async () => {
    using folder = kumaFolder("2.5.3");
    const picture = png(1, 1);
    folder.writePicture("logo1.png", picture);
    for (const path of [folder.path, folder.database]) {
      const { pages } = await readUptimeKuma(path);
      expect(pages[0]?.logo).toEqual(Buffer.from(picture));
      expect(pages[1]?.changes).toMatchObject([{ field: "icon" }]);
    }
  });

  test("have groups and components in their order, and one component for each place", () => {
    expect(found.groups.map(({ page, body }) => [page, body.name])).toEqual([
      ["status_page:1", "Web"],
      ["status_page:2", "Services"],
      ["status_page:1", "Inside"],
    ]);
    const places = found.components.map(({ group, foreign, body }) => [
      group,
      foreign.id,
      body.name,
    ]);
    expect(places).toEqual([
      ["group:1", "1/4", "Site"],
      ["group:1", "1/5", "Keyword"],
      ["group:1", "1/4/2", "Site"],
      ["group:3", "3/4", "Site"],
      ["group:3", "3/45", "MongoDB"],
      ["group:2", "2/1", "Data centre"],
      ["group:2", "2/41", "By hand"],
      ["group:2", "2/27", "Backup"],
    ]);
    expect(monitor("Site").components).toEqual([
      "monitor_group:1/4",
      "monitor_group:1/4/2",
      "monitor_group:3/4",
    ]);
    expect(monitor("Form").components).toBe("internal");
  });

  test("show addresses that are public there", () => {
    expect(componentOf("Site").map(({ body }) => body.description)).toEqual([
      urlOf("Site"),
      null,
      null,
    ]);
    expect(componentOf("Keyword")[0]?.body.description).toBe("https://acme.test/about");
  });

  test("show a group by its members, and a monitor set by hand by its status", () => {
    expect(monitor("Port").components).toEqual(["monitor_group:2/1"]);
    expect(monitor("Request").components).toEqual(["monitor_group:2/1"]);
    expect(componentOf("Data centre")[0]).toMatchObject({ number: 1, baseline: null });
    expect(componentOf("By hand")[0]).toMatchObject({ number: 41, baseline: "major_outage" });
  });

  test("have their incidents", () => {
    expect(found.incidents).toMatchObject([
      {
        number: 1,
        page: "status_page:1",
        externalId: "incident:1",
        body: {
          name: "Slow answers",
          impact_override: "minor",
          updates: [{ status: "investigating", body: "We look **into** it." }],
        },
      },
      { body: { impact_override: "major", updates: [{ status: "resolved" }] } },
      { body: { impact_override: "none", updates: [{ status: "investigating" }] } },
    ]);
  });

  test("have maintenance at the times of its zone, on each of its pages", () => {
    expect(found.maintenance).toMatchObject([
      {
        foreign: { id: "1/1" },
        number: 1,
        page: "status_page:1",
        components: ["monitor_group:1/4", "monitor_group:1/4/2"],
        body: {
          name: "Past upgrade",
          scheduled_for: "2026-01-10T07:00:00.000Z",
          scheduled_until: "2026-01-10T09:30:00.000Z",
          updates: [{ status: "scheduled", body: "About Past upgrade" }],
        },
      },
      { foreign: { id: "1/2" }, number: null, components: ["monitor_group:3/4"] },
      {
        foreign: { id: "2" },
        page: "status_page:1",
        components: ["monitor_group:2/1"],
        body: { scheduled_for: "2099-01-10T01:00:00.000Z" },
      },
    ]);
    expect(reasonOf("By hand")).toContain("no end");
  });

  test("have schedules for maintenance that recurs", () => {
    expect(found.schedules.map(({ body }) => body)).toMatchObject([
      { cron: "30 3 * * *", duration_minutes: 45, time_zone: "UTC", every_days: null },
      {
        cron: "30 2 * * *",
        duration_minutes: 90,
        time_zone: "Europe/Berlin",
        every_days: 3,
        starts_on: "2026-02-01",
        ends_on: "2099-01-31",
      },
      { cron: "30 2 * * 0,6", enabled: true },
      { cron: "30 2 1,L * *", enabled: false },
    ]);
  });
});

describe("notifications of Uptime Kuma 2.5.3", () => {
  const webhook = (name: string) => found.webhooks.find(({ body }) => body.description === name);

  test.each([
    [
      "Everybody",
      { format: "slack", url: `https://hooks.slack.com/services/T000/B000/${SECRET}slack` },
    ],
    [
      "Chat",
      {
        format: "discord",
        url: `https://discord.com/api/webhooks/123456789/${SECRET}discord?thread_id=987654321`,
      },
    ],
    [
      "Bot",
      {
        format: "telegram",
        url: "https://api.telegram.org",
        settings: {
          bot_token: `123456:${SECRET}telegram`,
          chat_id: "-1001234567890",
          message_thread_id: 42,
        },
      },
    ],
    [
      "Gotify at home",
      {
        format: "gotify",
        url: "http://192.168.1.20:8080",
        settings: { token: `${SECRET}gotify` },
      },
    ],
    [
      "Phone",
      {
        format: "ntfy",
        url: "https://ntfy.sh/acme-alerts",
        settings: { token: `tk_${SECRET}ntfy` },
      },
    ],
    [
      "Our program",
      {
        format: "uptime-kuma",
        url: "https://hooks.example.com/kuma",
        settings: { headers: `{"Authorization":"Bearer ${SECRET}header"}` },
      },
    ],
    [
      "Phone with a password",
      {
        format: "ntfy",
        url: "https://ntfy.example.com/acme",
        settings: { authorization: `Basic ${btoa(`kuma:${SECRET}ntfypassword`)}` },
      },
    ],
    ["Mail", { format: "email", url: "mailto:ops@example.com" }],
    [
      "Pager",
      {
        format: "template",
        url: "https://events.pagerduty.com/v2/enqueue",
        settings: { secrets: { INTEGRATION_KEY: `${SECRET}pager` } },
      },
    ],
  ])("%s becomes a webhook", (name, body) => {
    expect(webhook(name)).not.toHaveProperty("page");
    expect(webhook(name)).toMatchObject({
      body: {
        ...body,
        enabled: true,
        events: ["monitor.down", "monitor.up", "monitor.reminder", "monitor.certificate_expiring"],
      },
    });
  });

  test("are for the monitors that have them, and those of groups for their members", () => {
    expect(webhook("Chat")).toMatchObject({
      monitors: ["monitor:9", "monitor:19", "monitor:4"],
      changes: [
        { field: "monitors", from: "Data centre", to: "2 monitors" },
        { field: "discordUsername", from: "set", to: "none" },
      ],
    });
    expect(webhook("Everybody")?.monitors).not.toContain("monitor:18");
    expect(webhook("Bot")?.monitors).toEqual([]);
  });

  test("to several addresses of mail become a webhook for each", () => {
    const mails = found.webhooks.filter(({ body }) => body.format === "email");
    expect(mails.map(({ foreign, body }) => [foreign.id, body.url])).toEqual([
      ["12", "mailto:ops@example.com"],
      ["12/2", "mailto:oncall@example.com"],
    ]);
  });

  test("without a counterpart are named with their type and monitors", () => {
    expect(reasonOf("Old Teams")).toContain("retired");
    expect(reasonOf("Form")).toContain("as a form");
    expect(reasonOf("Template")).toContain("template");
  });
});

test("objects of Uptime Kuma that are not moved are one line for each kind", () => {
  const lines = found.leftOut.filter(({ foreign }) => foreign.id === "all");
  expect(lines.map(({ foreign }) => [foreign.type, foreign.name])).toEqual([
    ["user", "1 user"],
    ["api_key", "1 API key"],
    ["tag", "2 tags"],
    ["proxy", "2 proxy servers"],
    ["docker_host", "2 Docker hosts"],
    ["remote_browser", "1 remote browser"],
    ["setting", "4 settings"],
  ]);
});

test.each([
  ["socket", "/var/run/docker.sock", "unix:///var/run/docker.sock"],
  ["socket", "/run/docker.sock,x=tcp://10.0.0.9", "unix:///PATH"],
  ["socket", "hunter2", "unix:///PATH"],
  ["tcp", "tcp://admin:hunter2@10.0.0.5:2376/?t=hunter2", "tcp://10.0.0.5:2376"],
  ["tcp", "hunter2", "tcp://HOST:PORT"],
])("the Docker host %s %s is named as %s in the instruction", (type, daemon, shown) => {
  const host = { id: 1, name: "nas", docker_type: type, docker_daemon: daemon };
  expect(dockerInstruction([host], dockerNames([host]))).toBe(
    `Set ALLCLEAR_DOCKER_HOSTS=nas=${shown}, restart, and resume the monitors of containers.`,
  );
});
