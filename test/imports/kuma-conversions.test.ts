import { describe, expect, test } from "bun:test";
import { readConnection } from "../../src/imports/uptime-kuma/database";
import { jsonPathOf } from "../../src/imports/uptime-kuma/requests";
import { parseJsonPath } from "../../src/features/monitors/assertions/json-path";
import { findInRows, findOneMonitor, NEW_MONITOR } from "../support/kuma-monitor";

/** Returns the config of a monitor with the names of what is different. */
function configOf(columns: Parameters<typeof findOneMonitor>[0]) {
  const { body, changes, disabled, held } = findOneMonitor(columns);
  return { config: body.config, fields: changes.map(({ field }) => field), disabled, held };
}

const condition = (variable: string, operator: string, value: string, more: object = {}) => ({
  type: "expression",
  andOr: "and",
  variable,
  operator,
  value,
  ...more,
});

describe("a JSONata expression", () => {
  test.each([
    ["", "$"],
    ["$", "$"],
    ["a.b[0]", "$.a.b[0]"],
    ["$.a.b", "$.a.b"],
    ["$[0].a", "$[0].a"],
    ["a[-1]", "$.a[-1]"],
    ["`a-b`.`it's`", "$['a-b']['it\\'s']"],
    [" status ", "$.status"],
    ["größe", "$.größe"],
  ])("%j that names fields and indexes becomes the JSONPath %s", (expression, path) => {
    expect(jsonPathOf(expression)).toBe(path);
    expect(parseJsonPath(path)).toBeDefined();
  });

  test.each([
    "$count(a)",
    "a-b",
    "a[b=1]",
    "a.*",
    "**.a",
    "$x",
    "$$a",
    "[0]",
    "a..b",
    "a.",
    ".a",
    "true",
    "a and b",
    "$.",
    "a b",
    "'a'",
    "`a",
    "a[0",
    "a[1.5]",
  ])("%j has no JSONPath", (expression) => {
    expect(jsonPathOf(expression)).toBeUndefined();
  });

  test.each([
    ["==", "ok", [{ op: "eq", value: "ok" }]],
    [null, "ok", [{ op: "eq", value: "ok" }]],
    [
      "!=",
      "ok",
      [
        { op: "exists", value: true },
        { op: "ne", value: "ok" },
      ],
    ],
    [">=", "5", [{ op: "gte", value: 5 }]],
    ["contains", "ok", [{ op: "contains", value: "ok" }]],
  ])("is compared by %s with %s", (operator, expected, assertions) => {
    const columns = { json_path: "a", json_path_operator: operator, expected_value: expected };
    const { config, disabled } = configOf({ type: "json-query", ...columns });
    expect((config as { assertions: unknown[] }).assertions.slice(1)).toEqual(
      assertions.map((each) => ({ source: "json", property: "$.a", ...each })),
    );
    expect(disabled).toBeUndefined();
  });

  test.each([
    [">", "many"],
    ["<", ""],
    ["~", "1"],
  ])("compared by %s with %j switches its monitor off", (operator, expected) => {
    const columns = { json_path: "a", json_path_operator: operator, expected_value: expected };
    expect(configOf({ type: "json-query", ...columns }).disabled).toContain("comparison");
  });
});

describe("a connection string", () => {
  test("has its parts with characters that were escaped", () => {
    const { parameters, ...parts } =
      readConnection("mysql://a%40b:c%3Ad@[::1]:3307/my%20db?x=1") ?? {};
    expect(parts as object).toEqual({
      scheme: "mysql",
      host: "::1",
      port: 3307,
      user: "a@b",
      password: "c:d",
      database: "my db",
    });
    expect(parameters?.get("x")).toBe("1");
  });

  test("can have user, password and host as parameters", () => {
    expect(readConnection("postgres:///db?host=db.test&port=5433&user=u&password=p")).toMatchObject(
      {
        host: "db.test",
        port: 5433,
        user: "u",
        password: "p",
        database: "db",
      },
    );
  });

  test.each(["", "host=db user=u", "postgres://u@/db?host=/run", "/run/db", "postgres://a,b/db"])(
    "%j cannot be read",
    (text) => {
      expect(readConnection(text)).toBeUndefined();
    },
  );

  test.each([
    ["", "off"],
    ["?sslmode=disable", "off"],
    ["?sslmode=require", "verify"],
    ["?sslmode=verify-full", "verify"],
    ["?sslmode=no-verify", "require"],
    ["?ssl=true", "verify"],
    ["?ssl=false", "off"],
  ])("of PostgreSQL with %j has the TLS %s", (query, tls) => {
    const text = `postgres://u:p@db.test/orders${query}`;
    const { config } = configOf({ type: "postgres", database_connection_string: text });
    expect(config).toMatchObject({ tls, host: "db.test", database: "orders" });
  });

  test.each([
    ["", "off"],
    ['?ssl={"rejectUnauthorized":true}', "verify"],
    ['?ssl={"rejectUnauthorized":false}', "require"],
    ["?ssl=Amazon RDS", "verify"],
  ])("of MySQL with %j has the TLS %s", (query, tls) => {
    const text = `mysql://u@db.test/orders${query}`;
    const { config } = configOf({ type: "mysql", database_connection_string: text });
    expect(config).toMatchObject({ tls, user: "u" });
  });

  test("without a user switches a database off", () => {
    const text = "postgres://db.test/orders";
    expect(configOf({ type: "postgres", database_connection_string: text }).disabled).toContain(
      "user",
    );
  });

  test.each([
    ["redis", "http://cache.test"],
    ["redis", "cache.test:6379"],
    ["postgres", "not a URL"],
    ["mysql", ""],
  ])("of %s that is %j keeps the monitor unchecked", (type, text) => {
    const { held } = configOf({ type, database_connection_string: text });
    expect(held).toBe("Its connection string cannot be read.");
  });
});

describe("conditions", () => {
  const mqtt = (...conditions: object[]) =>
    configOf({
      type: "mqtt",
      hostname: "broker.test",
      mqtt_topic: "a",
      json_path: "x.y",
      conditions: JSON.stringify(conditions),
    });

  test("on a message become assertions", () => {
    const { config, fields } = mqtt(
      condition("message", "contains", "on"),
      condition("message", "starts_with", "a.b"),
      condition("message", "ends_with", "!"),
      condition("json_value", "equals", ""),
      condition("json_value", "gte", "5"),
    );
    const json = { source: "json", property: "$.x.y" };
    expect(config).toMatchObject({
      assertions: [
        { source: "body", op: "contains", value: "on" },
        { source: "body", op: "matches", value: "\\Aa\\.b" },
        { source: "body", op: "matches", value: "!\\z" },
        { ...json, op: "eq", value: "" },
        { ...json, op: "gte", value: 5 },
      ],
    });
    expect(fields).toEqual([]);
  });

  test.each([
    [
      "alternatives",
      [condition("message", "equals", "a"), condition("message", "equals", "b", { andOr: "or" })],
    ],
    ["groups", [{ type: "group", andOr: "and", children: [] }]],
    ["topics", [condition("topic", "equals", "a")]],
    ["unknown operators", [condition("message", "sounds_like", "a")]],
    ["long beginnings", [condition("message", "starts_with", "x".repeat(81))]],
  ])("that are %s are left out with a note", (_name, conditions) => {
    expect(mqtt(...conditions).fields).toEqual(["conditions"]);
  });

  test("on the type MX are left out, since a record is only a part of its text", () => {
    const columns = { type: "dns", hostname: "a.test", dns_resolve_server: "9.9.9.9", port: 53 };
    const conditions = JSON.stringify([condition("record", "equals", "mail.a.test")]);
    const { config, fields } = configOf({ ...columns, dns_resolve_type: "MX", conditions });
    expect(config).not.toHaveProperty("expected");
    expect(fields).toEqual(["conditions"]);
  });
});

describe("times of a monitor", () => {
  const bodyOf = (columns: Parameters<typeof findOneMonitor>[0]) => {
    const { body, changes } = findOneMonitor(columns);
    return { body, fields: changes.map(({ field, from, to }) => [field, from, to]) };
  };

  test.each([
    [{ interval: 1, retry_interval: 1, timeout: 1 }, { interval_seconds: 5 }, ["interval", 1, 5]],
    [
      { interval: 200_000, timeout: 1 },
      { interval_seconds: 86_400 },
      ["interval", 200_000, 86_400],
    ],
    [
      { interval: 20, timeout: 1 },
      { interval_seconds: 20, retry_interval_seconds: 20 },
      ["retry_interval", 60, 20],
    ],
    [{ interval: 300, timeout: 240 }, { timeout_ms: 60_000 }, ["timeout", 240_000, 60_000]],
    [{ maxretries: 500 }, { failure_threshold: 100 }, ["maxretries", 501, 100]],
    [{ resend_interval: 1 }, { reminder_seconds: 300 }, ["resend_interval", 60, 300]],
    [
      { resend_interval: 100_000 },
      { reminder_seconds: 604_800 },
      ["resend_interval", 6_000_000, 604_800],
    ],
  ])("%j are brought within the limits, which is a difference", (columns, expected, change) => {
    const { body, fields } = bodyOf(columns);
    expect(body).toMatchObject(expected);
    expect(fields).toEqual([change]);
  });

  test.each([
    [{ retry_interval: 0 }, { retry_interval_seconds: 60 }],
    [{ timeout: 0 }, { timeout_ms: 48_000 }],
    [{ resend_interval: 0 }, { reminder_seconds: 0 }],
    [{ resend_interval: 30 }, { reminder_seconds: 1_800 }],
    [{ type: "push", push_token: "a", interval: 2_000_000 }, { interval_seconds: 2_000_000 }],
  ])("%j are taken over as they are meant", (columns, expected) => {
    const { body, fields } = bodyOf(columns);
    expect(body).toMatchObject(expected);
    expect(fields).toEqual([]);
  });
});

describe("a request", () => {
  test.each([
    ["no JSON", { headers: "X: y" }, "no JSON object"],
    ["no statuses", { accepted_statuscodes_json: "[]" }, "accepts no status"],
    [
      "an inverted empty keyword",
      { type: "keyword", keyword: "", invert_keyword: 1 },
      "no keyword",
    ],
    ["a proxy that is unknown", { proxy_id: 7 }, "proxy"],
  ])("with %s is switched off", (_name, columns, reason) => {
    expect(configOf(columns).disabled).toContain(reason);
  });

  test("with an authority alone trusts it, without a client certificate", () => {
    const { config, disabled } = configOf({ auth_method: "mtls", tls_ca: "PEM" });
    expect(config).toMatchObject({ ca: "PEM" });
    expect(config).not.toHaveProperty("client_certificate");
    expect(disabled).toBeUndefined();
  });

  test("with a header Host has that host, and not the header", () => {
    const { config } = configOf({ headers: '{"HOST": "app.example.com", "X-A": "1"}' });
    expect(config).toMatchObject({ host: "app.example.com", headers: { "X-A": "1" } });
    expect(config).not.toHaveProperty("headers.HOST");
  });

  test("with GET has no body, which is a difference", () => {
    const { config, fields } = configOf({ body: '{"a": 1}' });
    expect(config).not.toHaveProperty("body");
    expect(fields).toEqual(["body"]);
  });

  test("has statuses that can exist, and names others", () => {
    const { config, fields } = configOf({ accepted_statuscodes_json: '["200-299", "999"]' });
    expect(config).toMatchObject({ assertions: [{ value: ["200-299"] }] });
    expect(fields).toEqual(["accepted_statuscodes_json"]);
  });

  test("has one header for names that differ only in case, with the value that is sent there", () => {
    const { config } = configOf({
      auth_method: "basic",
      basic_auth_user: "u",
      basic_auth_pass: null,
      headers: '{"authorization": "Token 1", "CONTENT-TYPE": "text/plain"}',
      method: "POST",
      body: "{}",
    });
    expect(config).toMatchObject({
      headers: { authorization: "Token 1", "CONTENT-TYPE": "text/plain" },
    });
    expect(Object.keys((config as { headers: object }).headers)).toHaveLength(2);
  });

  test("with OAuth 2.0 and a header Authorization has only the header", () => {
    const { config, fields } = configOf({
      auth_method: "oauth2-cc",
      oauth_token_url: "https://login.test",
      headers: '{"Authorization": "Token 1"}',
    });
    expect(config).not.toHaveProperty("oauth2");
    expect(fields).toEqual(["oauth_client_secret"]);
  });

  test("for a keyword in JSON says that white space counts", () => {
    expect(configOf({ type: "keyword", keyword: '"a":1' }).fields).toEqual(["keyword"]);
  });

  test("that ignores certificates does not warn of them", () => {
    const { config } = configOf({ expiry_notification: 1, ignore_tls: 1 });
    expect(config).toMatchObject({ verify_tls: false, certificate_warning_days: 0 });
    const { config: other } = configOf({ expiry_notification: 1 });
    expect(other).toMatchObject({ verify_tls: true, certificate_warning_days: 21 });
  });
});

describe("a server", () => {
  test("with STARTTLS of another protocol than SMTP is not checked", () => {
    const columns = { type: "port", hostname: "imap.test", expiry_notification: 1 };
    const { held } = configOf({ ...columns, port: 143, smtp_security: "starttls" });
    expect(held).toContain("STARTTLS");
  });

  test.each([
    ["secure", "tls"],
    ["starttls", "starttls"],
    ["nostarttls", "off"],
    [null, "starttls_if_offered"],
  ])("of mail with the security %s has the TLS %s", (smtp_security, tls) => {
    const columns = { type: "smtp", hostname: "mail.test", port: null, smtp_security };
    expect(configOf(columns).config).toMatchObject({ port: 25, tls });
  });

  test("of names by IPv6 is asked for its reverse name", () => {
    const columns = { type: "dns", hostname: "2001:db8::1", dns_resolve_server: "resolver.test" };
    const { config, fields } = configOf({ ...columns, dns_resolve_type: "PTR" });
    expect(config).toEqual({
      name: "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
      record_type: "PTR",
    });
    expect(fields).toEqual(["dns_resolve_server"]);
  });

  test("of WebSockets has ranges of closing codes, and the usual one without any", () => {
    const columns = { type: "websocket-upgrade", url: "ws://u:p@ws.test/" };
    const accepted = (codes: string[]) =>
      configOf({ ...columns, accepted_statuscodes_json: JSON.stringify(codes) });
    expect(accepted(["1000-1002", "3000"]).config).toMatchObject({
      url: "ws://ws.test/",
      headers: { Authorization: `Basic ${btoa("u:p")}` },
      close_codes: [1000, 1001, 1002, 3000],
    });
    expect(accepted([])).toMatchObject({
      config: { close_codes: [1000] },
      fields: ["accepted_statuscodes_json"],
    });
    expect(accepted(["1000-4999"]).fields).toEqual(["accepted_statuscodes_json"]);
  });

  test("of WebSockets that signs in by a certificate is not checked", () => {
    const columns = { type: "websocket-upgrade", url: "ws://ws.test/", auth_method: "mtls" };
    expect(configOf(columns).held).toContain("certificate");
  });

  test.each([
    ["", "no token"],
    ["ä", "no token"],
    ["x".repeat(65), "no token"],
  ])("that calls with the token %j is switched off", (push_token, reason) => {
    expect(configOf({ type: "push", push_token }).disabled).toContain(reason);
  });
});

test("a token that several monitors have is that of the first one that is active", () => {
  const push = { ...NEW_MONITOR, type: "push", push_token: "abc" };
  const { monitors } = findInRows({
    monitor: [
      { ...push, id: 1, name: "C", active: 0 },
      { ...push, id: 2, name: "B" },
      { ...push, id: 3, name: "A" },
      { ...NEW_MONITOR, id: 4, name: "D", push_token: "abc" },
    ],
  });
  expect(monitors.map(({ body, tokens = [] }) => [body.name, tokens.length])).toEqual([
    ["A", 0],
    ["B", 1],
    ["C", 0],
    ["D", 0],
  ]);
  expect(monitors[0]?.disabled).toContain("same token");
});

describe("control characters", () => {
  const escape = "\u001b[31m\n";

  test("in the names of types are in no reason", () => {
    expect(findOneMonitor({ type: `a${escape}b` }).held).toBe(
      "Monitors of the type a[31mb cannot be checked here.",
    );
    const config = JSON.stringify({ type: `a${escape}b` });
    const { leftOut } = findInRows({
      notification: [{ id: 1, name: "A", config }],
      monitor: [{ ...NEW_MONITOR, name: `Shop${escape}` }],
      monitor_notification: [{ id: 1, monitor_id: 1, notification_id: 1 }],
    });
    expect(leftOut[0]?.reason).toBe(
      "Notifications of the type a[31mb are not sent here. Used by Shop [31m .",
    );
  });

  test("in the socket of a Docker host are in no instruction", () => {
    const { toDo } = findInRows({
      docker_host: [{ id: 1, name: "a", docker_type: "socket", docker_daemon: `/a${escape}` }],
      monitor: [{ ...NEW_MONITOR, type: "docker", docker_host: 1 }],
    });
    expect(toDo[0]).toContain("a=unix:///PATH,");
  });
});

test.each([
  ["user:secret@a.test", "a.test"],
  ["sftp://user:secret@a.test", "a.test"],
  ["user:se cret@a b.test", "a b.test"],
  ["user:secret\n@a b.test", "a b.test"],
])("a monitor that is held with the host %j shows it without credentials", (hostname, target) => {
  const { body } = findOneMonitor({ type: "sftp", hostname });
  expect(body.config).toMatchObject({ target });
});

describe("values of other types", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

  test.each([
    ["headers", { headers: `{"a":${deep}}` }],
    ["statuses", { accepted_statuscodes_json: `["200",${deep}]` }],
    ["conditions", { type: "mqtt", conditions: `[{"type":"expression","variable":${deep}}]` }],
  ])("such as very deep %s are read without them", (_name, columns) => {
    expect(findOneMonitor(columns).foreign.name).toBe("Shop");
  });

  test("such as a very deep address of a receiver are read without it", () => {
    const config = `{"type":"slack","slackwebhookURL":${deep}}`;
    const { webhooks } = findInRows({ notification: [{ id: 1, name: "A", active: 1, config }] });
    expect(webhooks[0]?.body.url).toBe("");
  });

  test.each([
    [1, true],
    ["1", true],
    ["true", true],
    ["TRUE", true],
    [0, false],
    ["0", false],
    ["false", false],
    ["", false],
    [null, false],
  ])("such as %j are flags", (value, isOn) => {
    expect(findOneMonitor({ active: value, upside_down: value }).body).toMatchObject({
      paused: !isOn,
      inverted: isOn,
    });
  });
});

describe("groups of monitors", () => {
  const group = { ...NEW_MONITOR, type: "group" };

  test("in a circle end, and their monitors are found", () => {
    const { monitors } = findInRows({
      monitor: [
        { ...group, id: 1, name: "A", parent: 2 },
        { ...group, id: 2, name: "B", parent: 1 },
        { ...NEW_MONITOR, id: 3, name: "Shop", parent: 1 },
        { ...NEW_MONITOR, id: 4, name: "Own", parent: 4 },
      ],
    });
    expect(monitors.map(({ body }) => [body.name, body.group])).toEqual([
      ["Own", null],
      ["Shop", "B / A"],
    ]);
  });

  test("in a chain of 50,000 are read in short time", () => {
    const chain = Array.from({ length: 50_000 }, (_, index) => ({
      ...group,
      id: index + 1,
      parent: index,
    }));
    expect(findInRows({ monitor: chain }).leftOut).toHaveLength(50_000);
  });

  test("without a name have one", () => {
    const { monitors } = findInRows({
      monitor: [
        { ...group, id: 1, name: " \u0000" },
        { ...NEW_MONITOR, id: 2, parent: 1 },
      ],
    });
    expect(monitors[0]?.body.group).toBe("Group");
  });
});

describe("maintenance", () => {
  const tables = (columns: object) => ({
    status_page: [{ id: 1, slug: "a", title: "A", created_date: "2026-01-01 00:00:00" }],
    group: [{ id: 1, name: "G", status_page_id: 1 }],
    monitor_group: [{ id: 1, group_id: 1, monitor_id: 1, weight: 1 }],
    monitor: [NEW_MONITOR],
    monitor_maintenance: [{ id: 1, monitor_id: 1, maintenance_id: 1 }],
    maintenance: [{ id: 1, title: "Work", active: 1, strategy: "single", ...columns }],
  });
  const find = (columns: object) => {
    const { maintenance, schedules, leftOut } = findInRows(tables(columns));
    return {
      maintenance,
      schedules,
      reason: leftOut.find(({ foreign }) => foreign.type === "maintenance")?.reason,
    };
  };

  test.each([
    [{ start_date: "2026-01-02 00:00", end_date: "2026-01-01 00:00" }, "dates"],
    [{ start_date: "99999-01-01 00:00", end_date: "99999-01-02 00:00" }, "dates"],
    [{ start_date: "2026-02-30 00:00", end_date: "2026-03-01 00:00" }, "dates"],
    [{ start_date: "2026-01-01 00:00", end_date: "2026-01-02 00:00", active: 0 }, "not active"],
    [{ strategy: "cron", cron: "61 * * * *", duration: 60 }, "no valid minute"],
    [{ strategy: "cron", cron: "5 4 3 * * *", duration: 60 }, "five fields"],
    [{ strategy: "cron", cron: "0 3 * * *", duration: 0 }, "no duration"],
    [
      { strategy: "recurring-interval", interval_day: 3, start_time: "02:00", duration: 60 },
      "first day",
    ],
    [{ strategy: "manual" }, "no end"],
  ])("with %j is not moved, and says why", (columns, reason) => {
    const found = find(columns);
    expect(found.reason).toContain(reason);
    expect([...found.maintenance, ...found.schedules]).toEqual([]);
  });

  test("of a monitor on no page is not moved", () => {
    const { leftOut } = findInRows({ ...tables({}), monitor_group: [] });
    expect(leftOut.find(({ foreign }) => foreign.type === "maintenance")?.reason).toContain(
      "no status page",
    );
  });

  test("names monitors that are on none of its pages", () => {
    const rows = tables({ strategy: "cron", cron: "0 3 * * *", duration: 60 });
    const { schedules } = findInRows({
      ...rows,
      monitor: [NEW_MONITOR, { ...NEW_MONITOR, id: 2, name: "Elsewhere" }],
      monitor_maintenance: [
        ...rows.monitor_maintenance,
        { id: 2, monitor_id: 2, maintenance_id: 1 },
      ],
    });
    expect(schedules[0]?.changes).toMatchObject([{ field: "monitors", from: "Elsewhere" }]);
  });

  test.each([
    ["SAME_AS_SERVER", "2026-01-01T05:00:00.000Z"],
    ["Asia/Tokyo", "2025-12-31T15:00:00.000Z"],
    // Those of versions before 1.21.2.
    [null, "2026-01-01T00:00:00.000Z"],
    ["", "2026-01-01T00:00:00.000Z"],
    ["Mars/Olympus", "2026-01-01T00:00:00.000Z"],
  ])(
    "with the time zone %p has its times in that of the server, its own, or UTC",
    (zone, start) => {
      const times = { start_date: "2026-01-01 00:00", end_date: "2026-01-01 01:00" };
      const setting = [{ id: 1, key: "serverTimezone", value: '"America/New_York"' }];
      const { maintenance } = findInRows({ ...tables({ ...times, timezone: zone }), setting });
      expect(maintenance[0]?.body.scheduled_for).toBe(start);
    },
  );

  test("in an hour that the clock skips starts after it", () => {
    const times = { start_date: "2026-03-29 02:30", end_date: "2026-03-29 05:00" };
    const { maintenance } = find({ ...times, timezone: "Europe/Berlin" });
    expect(maintenance[0]?.body).toMatchObject({
      scheduled_for: "2026-03-29T01:30:00.000Z",
      scheduled_until: "2026-03-29T03:00:00.000Z",
    });
  });

  test("with a cron expression of seconds that are 0 has its other fields", () => {
    const { schedules } = find({ strategy: "cron", cron: "0 30 3 * * *", duration: 61 });
    expect(schedules[0]?.body).toMatchObject({ cron: "30 3 * * *", duration_minutes: 2 });
  });
});

describe("status pages", () => {
  test("show addresses without credentials, and monitors that are private not at all", () => {
    const found = findInRows({
      status_page: [{ id: 1, slug: "a", title: "A", published: 0, theme: "light" }],
      group: [{ id: 1, name: "G", status_page_id: 1 }],
      monitor_group: [{ id: 1, group_id: 1, monitor_id: 1, send_url: 1 }],
      monitor: [{ ...NEW_MONITOR, url: "https://u:secret@shop.test/a" }],
    });
    expect(found.pages[0]?.body).toMatchObject({ visibility: "private", theme: "light" });
    expect(found.components[0]).toMatchObject({
      body: { description: "https://shop.test/a" },
      changes: [{ field: "url" }],
    });
    expect(JSON.stringify(found.components)).not.toContain("secret");
  });

  test("have pictures in data URLs", () => {
    const icon = "data:image/png;base64,AQID";
    const { pages } = findInRows({ status_page: [{ id: 1, slug: "a", title: "A", icon }] });
    expect(pages[0]?.logo).toEqual(Buffer.from([1, 2, 3]));
  });

  test.each(["/upload/../kuma.db", "/upload/a/b.png", "/etc/passwd", "https://a.test/x.png"])(
    "do not read a picture at %s",
    (icon) => {
      const { pages } = findInRows({ status_page: [{ id: 1, slug: "a", title: "A", icon }] });
      expect(pages[0]).toMatchObject({ logo: null, changes: [{ field: "icon" }] });
    },
  );
});

describe("notifications", () => {
  test("that are default and that all monitors have are for all monitors", () => {
    const { webhooks } = findInRows({
      monitor: [NEW_MONITOR, { ...NEW_MONITOR, id: 2, type: "manual" }],
      notification: [
        { id: 1, name: "A", active: 1, is_default: 1, config: '{"type":"gotify"}' },
        { id: 2, name: "B", active: 0, is_default: 0, config: '{"type":"gotify"}' },
      ],
      monitor_notification: [
        { id: 1, monitor_id: 1, notification_id: 1 },
        { id: 2, monitor_id: 1, notification_id: 2 },
      ],
    });
    expect(webhooks.map(({ monitors, body }) => [monitors, body.enabled])).toEqual([
      ["all", true],
      [["monitor:1"], false],
    ]);
  });

  test.each([
    ["{", "unknown"],
    ["null", "unknown"],
    ['{"type":"__proto__"}', "__proto__"],
    ['{"type":"discord","discordChannelType":"createNewForumPost"}', "forum"],
    ['{"type":"discord","discordWebhookUrl":"x"}', "address"],
    ['{"type":"smtp","smtpTo":" , "}', "no address"],
    ['{"type":"webhook","webhookURL":"https://a.test","httpMethod":"get"}', "GET"],
  ])("with the settings %s are not moved", (config, reason) => {
    const { leftOut } = findInRows({ notification: [{ id: 1, name: "A", active: 1, config }] });
    expect(leftOut[0]?.reason).toContain(reason);
  });

  test("to mail are for each address once, without its name", () => {
    const config = JSON.stringify({
      type: "smtp",
      smtpTo: "Ops <a@b.test>; c@d.test",
      smtpCC: "c@d.test",
    });
    const { webhooks } = findInRows({ notification: [{ id: 1, name: "A", active: 1, config }] });
    expect(webhooks.map(({ body }) => body.url)).toEqual(["mailto:a@b.test", "mailto:c@d.test"]);
  });
});
