import fc from "fast-check";
import type { CreateMonitorBody } from "../../src/features/monitors/wire";
import { MonitorGroup, TagText } from "../../src/base/tags";
import { NameText } from "../../src/base/texts";
import { Text } from "../../src/base/schema";
import { SUPPORTED_TYPES, type SupportedType } from "../../src/base/status";
import { textOf } from "./arbitrary-text";
import { MONITOR_CONFIGS } from "./monitor-configs";

/** Secret of monitors that no output may contain. */
export const MONITOR_SECRET = "s3cret-4-monitors";

const host = fc.constantFrom("db.example.com", "192.0.2.7", "2001:db8::1", "münchen.example");
const optional = { requiredKeys: [] };
const expected = fc.oneof(textOf(Text({ maxLength: 20 }), 8), fc.integer(), fc.boolean());

const secret = fc.constantFrom("", " again", " ${A}").map((more) => `${MONITOR_SECRET}${more}`);

const assertion = fc.oneof(
  fc.constant({ source: "status", op: "lt", value: 400 }),
  fc.record({
    source: fc.constant("status"),
    op: fc.constant("in"),
    value: fc.array(fc.constantFrom(200, "200-299", "404"), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    source: fc.constant("json"),
    property: fc.constant("$.list"),
    op: fc.constantFrom("length_eq", "length_gt"),
    value: fc.nat(),
  }),
  fc.record({
    source: fc.constant("body"),
    op: fc.constantFrom("eq", "contains"),
    value: textOf(Text({ maxLength: 20 }), 8),
  }),
  fc.record({
    source: fc.constant("json"),
    property: fc.constantFrom("$.a", "$['b c'][0]"),
    op: fc.constantFrom("eq", "ne"),
    value: fc.option(expected),
  }),
);

const httpMore = fc.record(
  {
    method: fc.constantFrom("GET", "POST", "PUT"),
    headers: fc.dictionary(fc.constantFrom("authorization", "X-Key", "null", "0"), secret),
    body: secret,
    follow_redirects: fc.boolean(),
    ip_family: fc.constantFrom("any", "ipv6"),
    verify_tls: fc.boolean(),
    assertions: fc.array(assertion, { maxLength: 2 }),
    certificate_warning_days: fc.constantFrom(0, 14, 30),
    oauth2: fc.record(
      {
        token_url: fc.constant("https://login.example/token"),
        client_id: textOf(Text({ minLength: 1, maxLength: 20 }), 8),
        client_secret: secret,
        scopes: fc.uniqueArray(fc.constantFrom("read", "openid"), { maxLength: 2 }),
        auth: fc.constantFrom("basic", "body"),
      },
      { requiredKeys: ["token_url", "client_id"] },
    ),
    proxy: fc.record(
      {
        url: fc.constant("http://proxy.example:3128"),
        username: fc.constant("monitor"),
        password: secret,
      },
      { requiredKeys: ["url", "username"] },
    ),
    digest: fc.record(
      { username: fc.constantFrom("monitor", "null"), password: secret },
      { requiredKeys: ["username"] },
    ),
    max_body_kb: fc.constantFrom(1, 256, 4_096),
  },
  optional,
);

const port = fc.integer({ min: 1, max: 65_535 });
const tls = fc.constantFrom("off", "require", "verify");
const user = fc.constantFrom("monitor", "null");
const warningDays = fc.constantFrom(0, 14, 30);

const database = fc.record(
  {
    host,
    port,
    database: fc.constantFrom("app", "0"),
    user,
    password: secret,
    tls,
    query: secret,
    expected: fc.constantFrom("1", "", "null"),
    certificate_warning_days: warningDays,
  },
  { requiredKeys: ["host", "user"] },
);

type Configs = fc.Arbitrary<Readonly<Record<string, unknown>>>;

/**
 * Configurations by type; those of other types are in `MONITOR_CONFIGS`. Some are rejected, such as a body with GET.
 */
const configs: Partial<Record<SupportedType, Configs>> = {
  http: fc
    .tuple(fc.constantFrom("https://a.example/#x", "http://192.0.2.1:81/?q=1"), httpMore)
    .map(([url, more]) => ({ url, ...more })),
  tcp: fc.record({ host, port: fc.integer({ min: 1, max: 65_535 }) }),
  tls: fc.record(
    { host, port: fc.constantFrom(443, 8443), days: fc.constantFrom(0, 14) },
    { requiredKeys: ["host"] },
  ),
  dns: fc.record(
    {
      name: fc.constantFrom("example.com", "_dmarc.example.com"),
      record_type: fc.constantFrom("A", "MX", "TXT"),
      resolver: fc.constantFrom("192.0.2.53", "[2001:db8::53]:5353"),
      expected: fc.uniqueArray(textOf(NameText, 8), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ["name"] },
  ),
  ping: fc.record({ host }),
  websocket: fc.record(
    {
      url: fc.constantFrom("wss://a.example/?q=1", "ws://192.0.2.1:81/"),
      subprotocols: fc.constantFrom(["chat"], ["a", "b"]),
      headers: fc.dictionary(fc.constantFrom("authorization", "X-Key", "null", "0"), secret),
      verify_tls: fc.boolean(),
      send: secret,
      expected: fc.constantFrom("hello", " "),
      close_codes: fc.constantFrom([1000], [1000, 4999]),
      certificate_warning_days: warningDays,
    },
    { requiredKeys: ["url"] },
  ),
  grpc: fc.record(
    {
      host,
      port,
      tls,
      service: fc.constantFrom("acme.v1.Orders", "x"),
      metadata: fc.dictionary(fc.constantFrom("authorization", "x-key"), secret),
      certificate_warning_days: warningDays,
    },
    { requiredKeys: ["host", "port"] },
  ),
  postgres: database,
  mysql: database,
  redis: fc.record(
    {
      host,
      port,
      user,
      password: secret,
      tls,
      database: fc.nat(15),
      role: fc.constantFrom("master", "replica"),
      certificate_warning_days: warningDays,
    },
    { requiredKeys: ["host"] },
  ),
  mqtt: fc.record(
    {
      host,
      port,
      tls,
      user,
      password: secret,
      topic: fc.constantFrom("a/b", "#"),
      assertions: fc.array(assertion, { maxLength: 2 }),
      certificate_warning_days: warningDays,
    },
    { requiredKeys: ["host"] },
  ),
  smtp: fc.record(
    {
      host,
      port,
      tls: fc.constantFrom("off", "starttls", "starttls_if_offered", "tls"),
      user,
      password: secret,
      certificate_warning_days: warningDays,
    },
    { requiredKeys: ["host"] },
  ),
  domain: fc.record(
    { domain: fc.constantFrom("example.com", "münchen.example"), days: fc.nat(365) },
    { requiredKeys: ["domain"] },
  ),
  push: fc.oneof(
    fc.record({ grace_seconds: fc.constantFrom(0, 60, 300) }, optional),
    fc.record(
      {
        grace_seconds: fc.constantFrom(0, 60, 31_536_000),
        schedule: fc.constantFrom("0 3 * * *", "*/5 8-18 * * 1-5", "0 0 L * *"),
        time_zone: fc.constantFrom("UTC", "Europe/Berlin"),
      },
      { requiredKeys: ["schedule"] },
    ),
  ),
};

/** Lists of different tags. */
export const arbitraryTags = fc.uniqueArray(textOf(TagText, 8), {
  maxLength: 3,
  selector: (tag) => tag.toLowerCase(),
});

const settings = fc.record(
  {
    interval_seconds: fc.constantFrom(5, 60, 3_600),
    timeout_ms: fc.constantFrom(100, 10_000),
    failure_threshold: fc.constantFrom(1, 3),
    success_threshold: fc.constantFrom(1, 2),
    retry_interval_seconds: fc.constantFrom(1, 10, 60),
    degraded_after_ms: fc.constantFrom(null, 500),
    on_down: fc.constantFrom("partial_outage" as const, "major_outage" as const),
    open_incident: fc.constantFrom("never" as const, "draft" as const, "automatic" as const),
    paused: fc.boolean(),
    inverted: fc.boolean(),
    reminder_seconds: fc.constantFrom(0, 300, 604_800),
    group: fc.option(textOf(MonitorGroup, 12)),
    tags: arbitraryTags,
    notes: fc.option(textOf(Text({ maxLength: 1_000 }), 12)),
  },
  optional,
);

type AnyMonitor = Omit<CreateMonitorBody, "component_ids">;

/** Input for a monitor of any type, without its components. */
export const arbitraryMonitor: fc.Arbitrary<AnyMonitor> = fc
  .constantFrom<SupportedType[]>("http", "http", "http", ...SUPPORTED_TYPES)
  .chain((type) =>
    fc.tuple(
      fc.constant(type),
      textOf(NameText, 12),
      settings,
      type === "push" ? fc.constantFrom({}, { interval_seconds: null }) : fc.constant({}),
      configs[type] ?? fc.constantFrom(...MONITOR_CONFIGS[type]),
    ),
  )
  .map(([type, name, { interval_seconds: interval, ...more }, deadline, config]) => ({
    type,
    name,
    ...more,
    // A schedule replaces the interval.
    ...("schedule" in config || interval === undefined ? {} : { interval_seconds: interval }),
    ...deadline,
    config,
  }));
