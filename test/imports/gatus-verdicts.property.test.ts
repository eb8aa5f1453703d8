import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { PROCESS_TEST_MS } from "../support/binary";
import { createTestApp } from "../support/app";
import { readGatusText } from "../support/gatus-config";
import { importPast } from "../support/past-source";

setDefaultTimeout(PROCESS_TEST_MS);

const text = fc.string({ unit: "binary", maxLength: 20 });
const name = fc.oneof(text, fc.constantFrom("a", "A b", "a-b", "shop/api", ""));
const durations = fc.oneof(
  text,
  fc.constantFrom("1m", "3s", "90m", "1h", "0", "-5m", "400h", "30"),
);

const condition = fc.oneof(
  text,
  fc
    .tuple(
      fc.constantFrom(
        "[STATUS]",
        "[BODY]",
        "[BODY].a[0].b",
        "len([BODY].a)",
        "has([BODY].a)",
        "[IP]",
      ),
      fc.constantFrom("==", "!=", "<", ">="),
      fc.oneof(
        text,
        fc.constantFrom("200", "pat(*a*)", "pat([a)", "any(1, 2)", "5s", "true", "1.5"),
      ),
    )
    .map((parts) => parts.join(" ")),
  fc.constantFrom(
    "[CONNECTED] == true",
    "[CONNECTED] == false",
    "[CERTIFICATE_EXPIRATION] > 36h",
    "[DOMAIN_EXPIRATION] > 720h",
    "[RESPONSE_TIME] < 3s",
    "[DNS_RCODE] == NOERROR",
  ),
);

const alert = fc.record(
  {
    type: fc.constantFrom("slack", "email", "ntfy", "pagerduty", "custom", "other", ""),
    enabled: fc.constantFrom(true, false, "maybe"),
    "failure-threshold": fc.integer({ min: -2, max: 300 }),
    "minimum-reminder-interval": durations,
    description: text,
    "send-on-resolved": fc.boolean(),
    "provider-override": fc.constant({ a: "b" }),
  },
  { requiredKeys: [] },
);

const window = fc.record(
  {
    start: fc.constantFrom("23:00", "7:00", "25:00"),
    duration: durations,
    every: fc.constantFrom(["Monday"], ["Mon"], []),
    timezone: fc.constantFrom("UTC", "Europe/Riga", "Mars/Base"),
    enabled: fc.boolean(),
  },
  { requiredKeys: [] },
);

const common = {
  name,
  group: name,
  enabled: fc.boolean(),
  alerts: fc.array(alert, { maxLength: 2 }),
  "maintenance-windows": fc.array(window, { maxLength: 2 }),
};

const endpoint = fc.record(
  {
    ...common,
    url: fc.oneof(
      text,
      fc.webUrl(),
      fc.constantFrom(
        "https://a:b@c.example.com/%",
        "tcp://c.example.com:80",
        "tcp://c.example.com",
        "udp://c.example.com:53",
        "starttls://c.example.com:25",
        "ssh://c.example.com",
        "http://169.254.169.254/",
      ),
    ),
    method: fc.constantFrom("GET", "POST", "BREW"),
    body: text,
    graphql: fc.boolean(),
    headers: fc.dictionary(text, text, { maxKeys: 2 }),
    interval: durations,
    conditions: fc.array(condition, { maxLength: 3 }),
    "extra-labels": fc.dictionary(text, text, { maxKeys: 3 }),
    client: fc.record(
      {
        timeout: durations,
        insecure: fc.boolean(),
        "proxy-url": fc.oneof(text, fc.constant("http://%:b@p.example.com:1")),
        network: fc.constantFrom("ip", "ip6"),
        "dns-resolver": text,
      },
      { requiredKeys: [] },
    ),
    dns: fc.record({ "query-type": fc.constantFrom("A", "HTTPS"), "query-name": text }),
  },
  { requiredKeys: ["name", "url", "conditions"] },
);

const external = fc.record(
  { ...common, token: text, heartbeat: fc.record({ interval: durations }) },
  { requiredKeys: ["name", "token"] },
);

const announcement = fc.record(
  {
    timestamp: fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-02 10:00:00", "soon"),
    type: fc.constantFrom("outage", "none", "other"),
    message: text,
    archived: fc.boolean(),
  },
  { requiredKeys: [] },
);

const mostly = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.array(
    fc.oneof({ weight: 9, arbitrary }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) }),
    {
      maxLength: 4,
    },
  );

const config = fc.record(
  {
    endpoints: mostly(endpoint),
    "external-endpoints": mostly(external),
    suites: mostly(fc.record({ name, group: name })),
    announcements: mostly(announcement),
    // A value of a wrong type makes Gatus refuse the whole file.
    maintenance: window.map((one) => ({ ...one, duration: "90m" })),
    alerting: fc.record(
      {
        slack: fc.record({ "webhook-url": fc.oneof(text, fc.webUrl()), title: text }),
        email: fc.record({ to: text, host: text }),
        ntfy: fc.record({
          topic: text,
          overrides: fc.array(fc.record({ group: name, topic: text }), { maxLength: 2 }),
        }),
        pagerduty: fc.constant({}),
      },
      { requiredKeys: [] },
    ),
    ui: fc.record({ title: text, description: text, link: text }, { requiredKeys: [] }),
    security: fc.constant({}),
  },
  { requiredKeys: ["endpoints"] },
);

test("an import of Gatus gives each object one verdict, and the next one changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(config, async (document) => {
      // One endpoint always, since Gatus needs one. JSON is YAML too, in which a dollar sign begins a variable.
      const first = {
        name: "first",
        url: "https://first.example.com",
        conditions: ["[STATUS] == 200"],
      };
      const all = { ...document, endpoints: [first, ...document.endpoints] };
      const found = await readGatusText(JSON.stringify(all).replaceAll("$", "$$$$"));
      await using app = await createTestApp();
      const report = await importPast(app, found);
      const count = (type: string, isOwn = (id: string) => id !== "") =>
        report.items.filter(({ foreign }) => foreign.type === type && isOwn(foreign.id)).length;
      expect(count("endpoint", (id) => !id.endsWith(":domain"))).toBe(all.endpoints.length);
      expect(count("external-endpoint")).toBe(document["external-endpoints"]?.length ?? 0);
      expect(count("suite")).toBe(document.suites?.length ?? 0);
      expect(count("announcement")).toBe(document.announcements?.length ?? 0);
      const ids = report.items.map(({ foreign }) => `${foreign.type} ${foreign.id}`);
      expect(ids).toHaveLength(new Set(ids).size);
      const again = await importPast(app, found);
      const counts = Object.keys(again.counts).filter((verdict) => verdict !== "not_moved");
      expect(counts).toEqual(["unchanged"]);
    }),
    { numRuns: 60 },
  );
});
