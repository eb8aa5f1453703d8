import { describe, expect, test } from "bun:test";
import { CreateMonitorBody } from "../../src/features/monitors/wire";
import { schemaErrors } from "../../src/base/validation";
import { thresholdsOf, TYPES } from "../../src/imports/gatus/endpoints";
import { ENDPOINT, EXTERNAL_ENDPOINT } from "../../src/imports/gatus/tables";
import { Notes } from "../../src/imports/kit";
import { readGatusEndpoint, readGatusText } from "../support/gatus-config";
import { clientCertificate } from "../support/raw-server";

const HTTP = `name: Shop
group: Core services
url: https://shop.example.com/health`;
const OK = `conditions: ["[STATUS] == 200"]`;
const CONNECTED = `conditions: ["[CONNECTED] == true"]`;

/** Reads one endpoint, whose body must be one of the API. */
async function monitorOf(lines: string, others = "", files = {}) {
  const read = await readGatusEndpoint(lines, others, files);
  const { monitor } = read;
  if (monitor && monitor.body.type !== "unsupported") {
    expect(schemaErrors(CreateMonitorBody, monitor.body)).toEqual([]);
  }
  return read;
}

describe("an endpoint", () => {
  test("becomes a component in its group, whose key is kept, and a monitor", async () => {
    const { found, monitor } = await monitorOf(`${HTTP}\n${OK}`);
    expect(found.groups.map(({ body }) => body.name)).toEqual(["Core services"]);
    expect(found.components).toMatchObject([
      {
        foreign: { type: "component", id: "core-services_shop", name: "Core services/Shop" },
        body: { name: "Shop", show_latency: true },
        page: "page:page",
        group: "group:Core services",
        key: "core-services_shop",
      },
    ]);
    expect(monitor).toMatchObject({
      foreign: { type: "endpoint", id: "core-services_shop" },
      body: {
        type: "http",
        name: "Shop",
        group: "Core services",
        interval_seconds: 60,
        retry_interval_seconds: 60,
        timeout_ms: 10_000,
        failure_threshold: 3,
        success_threshold: 1,
        reminder_seconds: 0,
        inverted: false,
        paused: false,
        config: {
          url: "https://shop.example.com/health",
          assertions: [{ source: "status", op: "eq", value: 200 }],
          certificate_warning_days: 0,
        },
      },
      changes: [],
      components: ["component:core-services_shop"],
    });
    expect(monitor?.disabled).toBeUndefined();
    expect(found.leftOut).toEqual([]);
    expect(found.notRead).toEqual([]);
  });

  test("without a group is in none", async () => {
    const { found, monitor } = await monitorOf(`name: A/B\nurl: https://a.example.com\n${OK}`);
    expect(found.groups).toEqual([]);
    expect(found.components).toMatchObject([{ group: null, key: "_a-b" }]);
    expect(monitor?.body.group).toBeNull();
  });

  test("that is switched off is not shown by the page, as by Gatus", async () => {
    const { found, monitor } = await monitorOf(`${HTTP}\n${OK}\nenabled: false`);
    expect(monitor.body).toMatchObject({ paused: true });
    expect(found.components[0]?.body).toMatchObject({ only_show_if_degraded: true });
  });

  test("with all fields of a request keeps them", async () => {
    const { monitor } = await monitorOf(`${HTTP}
${OK}
enabled: false
interval: 1m30s
method: POST
headers: { X-Token: 0123, Accept: "*/*" }
body: '{"name": "[ENDPOINT_NAME]", "group": "[ENDPOINT_GROUP]"}'
extra-labels: { env: prod, team: "7" }
client: { timeout: 2s, insecure: true, ignore-redirect: true }`);
    expect(monitor?.body).toMatchObject({
      paused: true,
      interval_seconds: 90,
      retry_interval_seconds: 90,
      timeout_ms: 2_000,
      tags: ["env:prod", "team:7"],
      config: {
        method: "POST",
        headers: { "X-Token": "0123", Accept: "*/*" },
        body: '{"name": "Shop", "group": "Core services"}',
        verify_tls: false,
        follow_redirects: false,
      },
    });
    expect(monitor?.changes).toEqual([]);
  });

  test("with variables in its conditions shows none of their values but in names", async () => {
    const text = `endpoints:
  - name: $REGION
    url: https://a.example.com/
    client: { network: $NETWORK }
    conditions: ["[IP] == $ADDRESS", "[BODY] != $TOKEN", "[STATUS] == any($STATUS, 200)"]
`;
    const environment = {
      REGION: "europe-1",
      NETWORK: "planted-network",
      ADDRESS: "planted-address",
      TOKEN: "planted-token",
      STATUS: "429",
    };
    const { monitors, leftOut } = await readGatusText(text, {}, { environment });
    const [monitor] = monitors;
    const shown = { ...monitor, body: undefined, leftOut };
    expect(JSON.stringify(shown)).not.toContain("planted");
    expect(shown).toMatchObject({ foreign: { name: "europe-1" } });
    expect(monitor?.disabled).toContain("“[IP] == [redacted]”");
    expect(JSON.stringify(monitor?.body)).toContain("planted-token");
  });

  test("with a variable where a long condition is cut shows no part of its value", async () => {
    const condition = `[IP] == ${"x".repeat(280)} $TOKEN`;
    const text = `endpoints:\n  - { name: A, url: "https://a.test", conditions: ["${condition}"] }`;
    const environment = { TOKEN: "planted-token-of-many-letters" };
    const { monitors } = await readGatusText(text, {}, { environment });
    expect(monitors[0]?.disabled).toContain("x [redacted]…” is not moved");
  });

  test("with GraphQL sends its body as a query", async () => {
    const { monitor } = await monitorOf(
      `${HTTP}\n${OK}\nmethod: POST\ngraphql: true\nbody: "{ a }"`,
    );
    expect(monitor?.body).toMatchObject({
      config: { headers: { "Content-Type": "application/json" }, body: '{"query":"{ a }"}' },
    });
  });

  test("with credentials in its URL sends them in a header", async () => {
    const { found, monitor } = await monitorOf(
      `name: A\nurl: "https://anna:hunt%40er22@a.example.com/x"\n${OK}`,
    );
    expect(monitor?.body).toMatchObject({
      config: {
        url: "https://a.example.com/x",
        headers: { Authorization: `Basic ${Buffer.from("anna:hunt@er22").toString("base64")}` },
      },
    });
    expect(JSON.stringify([found.leftOut, found.toDo, monitor?.changes])).not.toContain("er22");
  });

  test.each([
    ["a body that GET does not send", 'body: "x"', "cannot be sent with GET"],
    ["a random text in its body", 'method: POST\nbody: "[RANDOM_STRING_9]"', "random text"],
    ["a DNS resolver", 'client: { dns-resolver: "tcp://9.9.9.9:53" }', "DNS resolver"],
    [
      "an identity-aware proxy",
      "client: { identity-aware-proxy: { audience: a } }",
      "identity-aware",
    ],
    ["a tunnel", "client: { tunnel: a }", "SSH tunnel"],
    ["cookies", "client: { store-cookies: true }", "cookies"],
    ["a SOCKS proxy", 'client: { proxy-url: "socks5://p.example.com:1080" }', "none for HTTP"],
    [
      "a certificate without file",
      "client: { tls: { certificate-file: a.pem, private-key-file: b.pem } }",
      "cannot be read",
    ],
  ])("with %s is switched off and says why", async (_name, lines, word) => {
    const { monitor } = await monitorOf(`${HTTP}\n${OK}\n${lines}`);
    expect(monitor?.disabled).toContain(word);
    expect(monitor?.disabled).toEndWith("Change that here, and resume it.");
  });

  test("with http:// and a condition about a certificate is switched off", async () => {
    const { monitor } = await monitorOf(
      `name: A\nurl: http://a.example.com\nconditions: ["[CERTIFICATE_EXPIRATION] > 48h"]`,
    );
    expect(monitor?.disabled).toContain("certificate");
    expect(monitor?.body).toMatchObject({
      config: { assertions: [{ source: "status", op: "gte", value: 100 }] },
    });
  });

  test.each([
    ["interval: 2s", "interval", { interval_seconds: 5, retry_interval_seconds: 5 }],
    ["interval: 48h", "interval", { interval_seconds: 86_400 }],
    ["interval: 61500ms", "interval", { interval_seconds: 62 }],
    ["client: { timeout: 5m }", "client.timeout", { timeout_ms: 60_000 }],
    ["client: { timeout: 20ms }", "client.timeout", { timeout_ms: 100 }],
    ["client: { network: ip4 }", "client.network", {}],
    ["ui: { badge: { response-time: { thresholds: [1, 2, 3, 4, 5] } } }", "ui.badge", {}],
    [
      `extra-labels: { ${Array.from({ length: 21 }, (_, n) => `k${n}: v`).join(", ")} }`,
      "extra-labels",
      {},
    ],
  ])("with %s is changed", async (lines, field, body) => {
    const { monitor } = await monitorOf(`${HTTP}\n${OK}\n${lines}`);
    expect(monitor?.changes).toMatchObject([{ field }]);
    expect(monitor?.body).toMatchObject(body);
    expect(monitor?.disabled).toBeUndefined();
  });

  test("with client credentials, a proxy and a client certificate keeps them", async () => {
    const { certificate, key } = await clientCertificate("good");
    const { found, monitor } = await monitorOf(
      `${HTTP}
${OK}
client:
  oauth2: { token-url: https://login.example.com/token, client-id: allclear, client-secret: hunter22, scopes: [a, b] }
  proxy-url: http://anna:secret99@proxy.example.com:3128
  tls: { certificate-file: tls/client.pem, private-key-file: tls/client.key, renegotiation: never }`,
      "",
      { "tls/client.pem": certificate, "tls/client.key": key },
    );
    expect(monitor?.body).toMatchObject({
      config: {
        oauth2: {
          token_url: "https://login.example.com/token",
          client_id: "allclear",
          client_secret: "hunter22",
          scopes: ["a", "b"],
        },
        proxy: { url: "http://proxy.example.com:3128", username: "anna", password: "secret99" },
        client_certificate: { certificate, key },
      },
    });
    expect(found.notRead).toEqual([]);
    expect(monitor?.disabled).toBeUndefined();
  });

  test("reads no file that a configuration names if it must not", async () => {
    const text = `endpoints:
  - name: A
    url: https://a.example.com
    ${OK}
    client: { tls: { certificate-file: c.pem, private-key-file: k.pem } }`;
    const files = { "c.pem": "c", "k.pem": "k" };
    const found = await readGatusText(text, files, { readsNamedFiles: false });
    expect(found.monitors[0]?.disabled).toContain("cannot be read");
  });

  test("with a condition about the domain has a monitor of its own for that", async () => {
    const { monitor, more } = await monitorOf(
      `${HTTP}\ninterval: 5m\nconditions: ["[STATUS] == 200", "[DOMAIN_EXPIRATION] > 720h"]`,
    );
    expect(more).toMatchObject([
      {
        foreign: { type: "endpoint", id: "core-services_shop:domain" },
        body: { type: "domain", config: { domain: "shop.example.com", days: 30 } },
        components: monitor?.components,
        changes: [{ field: "conditions", to: "30 days" }],
      },
    ]);
    expect(schemaErrors(CreateMonitorBody, more[0]?.body)).toEqual([]);
  });

  test.each([
    ["tcp://db.example.com:5432", CONNECTED, "tcp", { host: "db.example.com", port: 5432 }],
    ["tcp://[2001:db8::1]:22", CONNECTED, "tcp", { host: "2001:db8::1", port: 22 }],
    ["tls://a.example.com:993", CONNECTED, "tls", { host: "a.example.com", port: 993, days: 0 }],
    ["icmp://a.example.com", CONNECTED, "ping", { host: "a.example.com" }],
    ["icmp://[2001:db8::1]", CONNECTED, "ping", { host: "2001:db8::1" }],
    [
      "wss://a.example.com/ws",
      'conditions: ["[BODY] == pat(*pong*)"]\nbody: ping',
      "websocket",
      { url: "wss://a.example.com/ws", send: "ping", expected: "pong" },
    ],
    [
      "grpc://a.example.com:50051",
      'conditions: ["[BODY].status == SERVING"]',
      "grpc",
      { host: "a.example.com", port: 50_051, tls: "off" },
    ],
    [
      "grpcs://a.example.com:443",
      'conditions: ["[BODY].status == SERVING"]',
      "grpc",
      { host: "a.example.com", port: 443, tls: "verify" },
    ],
    ["ssh://a.example.com", CONNECTED, "ssh", { host: "a.example.com" }],
    [
      "ssh://a.example.com:2222",
      `${CONNECTED}\nssh: { username: "", password: "" }`,
      "ssh",
      { host: "a.example.com", port: 2_222 },
    ],
    [
      "starttls://a.example.com:587",
      'conditions: ["[CONNECTED] == true"]',
      "smtp",
      { host: "a.example.com", port: 587, tls: "starttls" },
    ],
  ])("with the URL %s becomes its type", async (url, lines, type, config) => {
    const { monitor } = await monitorOf(`name: A\nurl: "${url}"\n${lines}`);
    expect(monitor).toMatchObject({ body: { type, config }, changes: [] });
    expect(monitor?.disabled).toBeUndefined();
  });

  test.each([
    ["192.0.2.53", "192.0.2.53"],
    ["192.0.2.53:5353", "192.0.2.53:5353"],
  ])("with dns asks the resolver %s", async (url, resolver) => {
    const { monitor } = await monitorOf(`name: A
url: ${url}
dns: { query-name: example.com., query-type: A }
conditions: ["[DNS_RCODE] == NOERROR", "[BODY] == 192.0.2.1"]`);
    expect(monitor?.body).toMatchObject({
      type: "dns",
      config: { name: "example.com", record_type: "A", resolver, expected: ["192.0.2.1"] },
    });
    expect(monitor?.disabled).toBeUndefined();
  });

  test("with dns and a resolver that has a name is switched off", async () => {
    const { monitor } = await monitorOf(
      `name: A\nurl: dns.example.com\ndns: { query-name: example.com, query-type: A }\n${CONNECTED}`,
    );
    expect(monitor?.disabled).toContain("resolver");
    expect(monitor?.body).toMatchObject({ config: { name: "example.com" } });
  });

  test.each([
    ["grpcs://a.example.com:443", "insecure: true", { tls: "require" }],
    ["starttls://a.example.com:25", "insecure: true", { tls: "starttls_if_offered" }],
    ["wss://a.example.com", "insecure: true", { verify_tls: false }],
  ])("with the URL %s accepts any certificate with %s", async (url, client, config) => {
    const { monitor } = await monitorOf(
      `name: A\nurl: ${url}\nconditions: ["[CONNECTED] == true"]\nclient: { ${client} }`,
    );
    expect(monitor?.body).toMatchObject({ config });
  });

  test("with tls:// that accepts any certificate is switched off", async () => {
    const { monitor } = await monitorOf(
      `name: A\nurl: tls://a.example.com:443\n${CONNECTED}\nclient: { insecure: true }`,
    );
    expect(monitor?.disabled).toContain("any certificate");
  });

  test.each([
    ["tcp://a.example.com:80", "body: hello", "body"],
    ["tcp://a.example.com:80", "client: { proxy-url: http://p.example.com }", "client.proxy-url"],
    ["grpc://a.example.com:80", "", "conditions"],
  ])("with the URL %s and %p is changed", async (url, lines, field) => {
    const { monitor } = await monitorOf(`name: A\nurl: ${url}\n${CONNECTED}\n${lines}`);
    expect(monitor?.changes).toMatchObject([{ field }]);
  });

  test.each([
    ["udp://a.example.com:53", "", "udp", "a.example.com:53"],
    ["sctp://a.example.com:38412", "", "sctp", "a.example.com:38412"],
    [
      "ssh://a.example.com:22",
      'ssh: { username: anna, password: hunter22 }\nbody: \'{"command": "uptime"}\'',
      "ssh",
      "a.example.com:22",
    ],
    ["192.0.2.53", "dns: { query-name: example.com, query-type: HTTPS }", "dns", "192.0.2.53"],
  ])("with the URL %s %s is held with its settings", async (url, lines, type, target) => {
    const { monitor } = await monitorOf(`name: A\nurl: ${url}\n${CONNECTED}\n${lines}`);
    expect(monitor).toMatchObject({
      body: { type: "unsupported", config: { source: "gatus", type, target, settings: { url } } },
    });
    expect(monitor?.held).toContain(type);
  });

  test.each([
    ["without a URL", `name: A\n${OK}`, "needs a url"],
    ["without a condition", "name: A\nurl: https://a.example.com", "needs a condition"],
    ["with an unknown scheme", `name: A\nurl: ftp://a.example.com\n${OK}`, "unknown type"],
    [
      "with an interval that is none",
      `${HTTP}\n${OK}\ninterval: 30`,
      "endpoints[].interval must be a duration",
    ],
    [
      "with headers that are no map",
      `${HTTP}\n${OK}\nheaders: [a]`,
      "endpoints[].headers must be a map",
    ],
    [
      "with a flag that is none",
      `${HTTP}\n${OK}\nenabled: maybe`,
      "endpoints[].enabled must be true or false",
    ],
    ["with a client that is text", `${HTTP}\n${OK}\nclient: a`, "endpoints[].client must be a map"],
    [
      "with alerts of text",
      `${HTTP}\n${OK}\nalerts: [slack]`,
      "endpoints[].alerts[] must be a map",
    ],
  ])("%s is kept and not checked, and the others are", async (_name, lines, reason) => {
    const { found } = await readGatusEndpoint(
      lines,
      `  - name: Other\n    url: https://o.example.com\n    ${OK}`,
    );
    const [held, other] = found.monitors;
    expect(held).toMatchObject({
      foreign: { type: "endpoint" },
      body: { type: "unsupported", config: { source: "gatus", settings: expect.any(Object) } },
      held: expect.stringContaining(reason),
    });
    expect(other?.body).toMatchObject({ type: "http", name: "Other" });
    expect(found.leftOut).toEqual([]);
  });

  test("without a name is not moved, and the others are", async () => {
    const { found } = await readGatusEndpoint(
      `url: https://a.example.com\n${OK}`,
      `  - name: Other\n    url: https://o.example.com\n    ${OK}`,
    );
    expect(found.leftOut).toMatchObject([
      { foreign: { id: "endpoints[0]" }, reason: expect.stringContaining("needs a name") },
    ]);
    expect(found.components.map(({ key }) => key)).toEqual(["_other"]);
  });

  test("with the key of another one is not moved", async () => {
    const { found } = await readGatusEndpoint(
      `name: a b\nurl: https://a.example.com\n${OK}`,
      `external-endpoints: [{ name: A/B, token: x }]`,
    );
    expect(found.components).toHaveLength(1);
    expect(found.leftOut).toMatchObject([
      {
        foreign: { type: "external-endpoint", name: "A/B" },
        reason: "Another endpoint has the same group and name.",
      },
    ]);
  });

  test("names fields that this version does not know, each once", async () => {
    const { found } = await readGatusEndpoint(
      `${HTTP}\n${OK}\nnew-one: 1\nclient: { other: 1 }\nalerts: [{ type: slack, third: 1 }, { type: slack, third: 1 }]`,
      "top: 1",
    );
    expect(found.notRead).toEqual([
      "endpoints[].alerts[].third",
      "endpoints[].client.other",
      "endpoints[].new-one",
      "top",
    ]);
  });
});

describe("an external endpoint", () => {
  const read = (lines: string) =>
    readGatusText(`endpoints: []\nexternal-endpoints:\n  - ${lines.replace(/\n/g, "\n    ")}`);

  test("becomes a push monitor without deadline, whose token is bound to its key", async () => {
    const { monitors, components, toDo } = await read("name: Backup\ngroup: jobs\ntoken: hunter22");
    expect(components).toMatchObject([{ key: "jobs_backup", group: "group:jobs" }]);
    expect(monitors).toMatchObject([
      {
        foreign: { type: "external-endpoint", id: "jobs_backup" },
        body: { type: "push", name: "Backup", interval_seconds: null, config: {} },
        tokens: [{ kind: "gatus", value: "jobs_backup\0hunter22" }],
        components: ["component:jobs_backup"],
      },
    ]);
    expect(schemaErrors(CreateMonitorBody, monitors[0]?.body)).toEqual([]);
    expect(toDo).toEqual([expect.stringContaining("Keys and tokens stay.")]);
  });

  test("with a heartbeat has a deadline and the same time as grace period", async () => {
    const { monitors } = await read(
      "name: A\ntoken: t\nheartbeat: { interval: 30m }\nenabled: false",
    );
    expect(monitors[0]?.body).toMatchObject({
      interval_seconds: 1_800,
      config: { grace_seconds: 1_800 },
      paused: true,
    });
  });

  test("without a token is kept, and takes no calls", async () => {
    const { monitors } = await read("name: A");
    expect(monitors).toMatchObject([
      {
        body: { type: "unsupported" },
        held: "external-endpoints[] needs a token. Its settings are kept.",
      },
    ]);
    expect(monitors[0]).not.toHaveProperty("tokens");
  });
});

test("a suite is held with its settings, and has one component", async () => {
  const found = await readGatusText(`
suites:
  - name: Order
    group: shop
    interval: 5m
    context: { id: 1 }
    endpoints:
      - { name: create, url: https://a.example.com, conditions: ["[STATUS] == 201"], store: { id: "[BODY].id" } }`);
  expect(found.components).toMatchObject([{ key: "shop_order" }]);
  expect(found.monitors).toMatchObject([
    {
      foreign: { type: "suite", id: "shop_order" },
      body: {
        type: "unsupported",
        config: { type: "suite", target: "Order", settings: { context: { id: "1" } } },
      },
      held: expect.stringContaining("context"),
    },
  ]);
  expect(found.notRead).toEqual([]);
});

test("thresholds of a million alerts are the smallest", () => {
  const alerts = Array.from({ length: 1_000_000 }, () => ({
    "minimum-reminder-interval": 600_000,
  }));
  expect(thresholdsOf(alerts as never, new Notes())).toEqual({
    failure_threshold: 3,
    success_threshold: 2,
    reminder_seconds: 600,
  });
});

test("every field and every type of the tables says what becomes of it", () => {
  const fields = [...Object.values(ENDPOINT), ...Object.values(EXTERNAL_ENDPOINT)];
  for (const { becomes } of [...fields, ...TYPES]) expect(becomes).not.toBe("");
});
