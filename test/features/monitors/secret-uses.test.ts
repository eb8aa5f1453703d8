import { describe, expect, test } from "bun:test";
import { SUPPORTED_TYPES, type SupportedType } from "../../../src/base/status";
import { type MonitorConfig, probeOf } from "../../../src/features/monitors/probes";
import { createMonitorApi } from "../../support/monitor-api";
import { MONITOR_CONFIGS } from "../../support/monitor-configs";
import { monitorSecrets } from "../../support/monitor-secrets";
import { expectProblem } from "../../support/app";
import { probe } from "../../support/probe";
import { startRawServer } from "../../support/raw-server";

/**
 * Fields of the types with secrets. A change of one in `steering` uses a stored secret in another way, so it asks for
 * the secrets again. One in `neutral` changes neither what is sent, nor to which server. A new field is one of both.
 */
const FIELDS: Partial<Record<SupportedType, { steering: MonitorConfig; neutral: MonitorConfig }>> =
  {
    http: {
      steering: {
        url: "https://shop.example.com/admin?token=hidden",
        method: "DELETE",
        headers: { "X-HTTP-Method-Override": "DELETE" },
        body: "drop all",
        oauth2: {
          token_url: "https://login.example.com/token",
          client_id: "allclear",
          scopes: ["admin"],
          auth: "body",
        },
        client_certificate: {
          ...(MONITOR_CONFIGS.http[1]["client_certificate"] as object),
          ca: "another authority",
        },
        proxy: { url: "http://evil.example.com:3128", username: "monitor" },
        digest: { username: "root" },
        host: "evil.example.com",
        connect_to: { address: "10.0.0.6" },
        ca: "another authority",
        tls_min: "1.1",
      },
      neutral: {
        follow_redirects: true,
        ip_family: "ipv6",
        max_body_kb: 2_048,
        // The other way round, the secrets are asked for again.
        verify_tls: true,
        assertions: [],
        certificate_warning_days: 4,
      },
    },
    websocket: {
      steering: {
        url: "ws://shop.example.com:8080/admin",
        subprotocols: ["admin"],
        send: "drop all",
        ca: "another authority",
        tls_min: "1.1",
      },
      neutral: {
        headers: { Origin: "x" },
        verify_tls: true,
        expected: "x",
        close_codes: [],
        certificate_warning_days: 4,
      },
    },
    grpc: {
      steering: {
        host: "x.example.com",
        port: 444,
        tls: "off",
        service: "admin",
        ca: "another authority",
        tls_min: "1.1",
      },
      neutral: { metadata: { "x-more": "1" }, certificate_warning_days: 4 },
    },
    postgres: {
      steering: {
        host: "x.example.com",
        port: 5432,
        database: "billing",
        user: "postgres",
        tls: "require",
        query: "SELECT secret FROM customers",
        allow_plain_password: true,
        ca: "another authority",
        tls_min: "1.1",
      },
      neutral: { password: "new", expected: "2", certificate_warning_days: 4 },
    },
    mysql: {
      steering: {
        host: "x.example.com",
        port: 3306,
        database: "billing",
        user: "root",
        tls: "off",
        query: "SELECT secret FROM customers",
        allow_plain_password: true,
        ca: "another authority",
        tls_min: "1.1",
      },
      neutral: { password: "new", expected: "2", certificate_warning_days: 4 },
    },
    redis: {
      steering: {
        host: "x.example.com",
        port: 6379,
        user: "default",
        tls: "off",
        database: 4,
        allow_plain_password: true,
        ca: "another authority",
        tls_min: "1.1",
      },
      neutral: { password: "new", role: "master", certificate_warning_days: 4 },
    },
    mqtt: {
      steering: {
        host: "x.example.com",
        port: 1883,
        user: "root",
        tls: "off",
        topic: "#",
        allow_plain_password: true,
        ca: "another authority",
        tls_min: "1.1",
      },
      neutral: { password: "new", assertions: [], certificate_warning_days: 4 },
    },
    smtp: {
      steering: {
        host: "x.example.com",
        port: 25,
        user: "root",
        tls: "off",
        allow_plain_password: true,
        ca: "another authority",
        tls_min: "1.1",
      },
      neutral: { password: "new", certificate_warning_days: 4 },
    },
  };

const WITH_SECRETS = SUPPORTED_TYPES.filter(
  (type) => Object.keys(monitorSecrets(type).secrets).length > 0,
);

describe.each(WITH_SECRETS)("the stored secrets of a %s monitor", (type) => {
  const { steering = {}, neutral = {} } = FIELDS[type] ?? {};
  const { config, validateChange, merge } = probeOf(type);
  // The secrets of the whole configuration are given; the body of a request is left out, which is one itself.
  const most: MonitorConfig = {
    ...MONITOR_CONFIGS[type][1],
    tls_min: "1.2",
    ...(type === "http" && { digest: { username: "monitor", password: "hidden" } }),
  };

  test("each field of the configuration is listed as steering or neutral", () => {
    const fields = Object.keys((config as unknown as { properties: object }).properties);
    const listed = new Set([...Object.keys(steering), ...Object.keys(neutral)]);
    expect(fields.filter((field) => !listed.has(field))).toEqual([]);
  });

  test.each(Object.keys(steering))("are asked for again with another %s", (field) => {
    const change = { [field]: steering[field] };
    const errors = validateChange?.(most, change) ?? [];
    expect(errors).not.toEqual([]);
    for (const { pointer, detail } of errors) {
      expect(detail).toStartWith("is a secret for another server or request");
      const [name = "", part] = pointer.slice(2).split("/");
      const kept = (merge(most, change) as Record<string, Record<string, unknown>>)[name];
      if (part === undefined && name !== field) expect(kept).toBeUndefined();
    }
  });

  test("are kept with a newer version of TLS", () => {
    expect(validateChange?.(most, { tls_min: "1.3" })).toEqual([]);
  });

  test.each(Object.keys(neutral))("are kept with another %s", (field) => {
    expect(validateChange?.(most, { [field]: neutral[field] })).toEqual([]);
  });
});

/** Configurations with a secret, a change, and the fields that it asks for again. A stranger adds a row. */
const CHANGES: [name: string, before: MonitorConfig, change: MonitorConfig, asked: string[]][] = (
  [
    ["an authority for the proxy", { proxy: "https" }, { ca: "another" }, ["#/proxy/password"]],
    ["an old TLS with the proxy", { proxy: "https" }, { tls_min: "1.0" }, ["#/proxy/password"]],
    [
      "a token server that is reached through the proxy",
      { proxy: "http" },
      { oauth2: { token_url: "https://10.0.0.9/token", client_id: "a", client_secret: "b" } },
      ["#/proxy/password"],
    ],
    [
      "a token server of the same origin",
      { proxy: "http" },
      { oauth2: { token_url: "https://a.example.com/t", client_id: "a", client_secret: "b" } },
      [],
    ],
    ...["SOAPAction", "X-Amz-Target", "Destination", "X-Host", "X-HTTP-Host-Override"].map(
      (name) => [
        `the header ${name}`,
        { headers: { Authorization: "hidden" } },
        { headers: { [name]: "DeleteAll" } },
        ["#/headers"],
      ],
    ),
    [
      "the same address in another order",
      { headers: { A: "hidden" }, connect_to: { address: "10.0.0.5", port: 443 } },
      { connect_to: { port: 443, address: "10.0.0.5" } },
      [],
    ],
    [
      "the same URL in another spelling",
      { headers: { A: "hidden" } },
      { url: "HTTPS://A.example.com:443" },
      [],
    ],
  ] as [string, MonitorConfig, MonitorConfig, string[]][]
).map(([name, { proxy, ...before }, change, asked]) => [
  name,
  {
    url: "https://a.example.com/",
    ...before,
    ...(proxy !== undefined && {
      proxy: {
        url: `${proxy as string}://proxy.example.com:3128`,
        username: "a",
        password: "hidden",
      },
    }),
  },
  change,
  asked,
]);

test.each(CHANGES)(
  "of secrets of an HTTP monitor, %s asks for those",
  (_, before, change, asked) => {
    const errors = probeOf("http").validateChange?.(before, change) ?? [];
    expect(errors.map(({ pointer }) => pointer)).toEqual(asked);
  },
);

test("a header that chooses another path asks for the secrets of a WebSocket monitor", () => {
  const { validateChange } = probeOf("websocket");
  const before = { url: "wss://a.example.com/", headers: { Authorization: "hidden" } };
  const change = { headers: { "X-Original-URL": "/admin" } };
  expect(validateChange?.(before, change)).toMatchObject([{ pointer: "#/headers" }]);
  expect(validateChange?.(before, { headers: { "X-More": "1" } })).toEqual([]);
});

test.each(["redis", "mqtt", "postgres", "mysql", "grpc"] as const)(
  "the secrets of a %s monitor are kept when its server is verified from now on",
  (type) => {
    const { validateChange } = probeOf(type);
    const { secrets } = monitorSecrets(type);
    const stored = Object.entries(secrets).map(([name, kind]) => [
      name,
      kind === "text" ? "hidden" : { a: "hidden" },
    ]);
    const before = { host: "a.example.com", port: 1, tls: "off", ...Object.fromEntries(stored) };
    expect(validateChange?.(before, { tls: "verify" })).toEqual([]);
    expect(validateChange?.({ ...before, tls: "verify" }, { tls: "require" })).not.toEqual([]);
  },
);

describe("a key that may manage monitors", () => {
  const config = { host: "db.example.com", user: "monitor", password: "s3cret", database: "app" };

  test("cannot have a stored password run another query, or sign in to another database", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ type: "postgres", name: "Shop", config });
    const before = api.written();
    const changes = [
      { query: "SELECT * FROM customers" },
      { database: "billing" },
      { user: "root" },
    ];
    for (const change of changes) {
      /* oxlint-disable no-await-in-loop */
      const answer = await api.patch(id, { config: change });
      const { errors } = expectProblem(answer, "validation_failed");
      expect(errors).toEqual([
        {
          pointer: "#/config/password",
          detail: "is a secret for another server or request: enter it again, or remove it",
        },
      ]);
      /* oxlint-enable no-await-in-loop */
    }
    expect(api.written()).toEqual(before);
    const again = { query: "SELECT 2", password: "s3cret" };
    expect((await api.patch(id, { config: again })).status).toBe(200);
    expect((await api.patch(id, { config: { expected: "2" } })).status).toBe(200);
  });
});

describe.each(["redis", "mqtt"] as const)("the password of a %s monitor", (type) => {
  const config = { host: "cache.example.com", user: "monitor", password: "s3cret" };
  const detail = "needs TLS with a verified certificate (tls: verify), or allow_plain_password";
  const refused = [{ pointer: "#/config/password", detail }];

  test("needs TLS that is verified, unless it may be sent as it is", async () => {
    await using api = await createMonitorApi();
    const monitor = (more: object) => ({ type, name: "Cache", config: { ...config, ...more } });
    for (const more of [{}, { tls: "require" }, { allow_plain_password: false }]) {
      // oxlint-disable-next-line no-await-in-loop
      expect(expectProblem(await api.post(monitor(more)), "validation_failed").errors).toEqual(
        refused,
      );
    }
    const { id } = await api.create(monitor({ tls: "verify" }));
    await api.create(monitor({ allow_plain_password: true }));
    await api.create({ type, name: "Open", config: { host: "cache.example.com" } });
    const weaker = { tls: "off", password: "s3cret" };
    expect(
      expectProblem(await api.patch(id, { config: weaker }), "validation_failed").errors,
    ).toEqual(refused);
  });

  test("of an earlier version goes on being sent, and is shown as allowed", async () => {
    const stored = { ...config, host: "localhost" };
    const { present, merge, validate } = probeOf(type);
    expect(present(stored)).toMatchObject({ allow_plain_password: true });
    expect(validate(merge(stored, { certificate_warning_days: 3 }))).toEqual([]);
    expect(validate(merge(stored, { allow_plain_password: false }))).toHaveLength(1);
    let received = "";
    await using server = await startRawServer((socket) => {
      socket.on("data", (data) => {
        received += data.toString("latin1");
        socket.end();
      });
    });
    const { run } = probeOf(type);
    expect(run).toBeDefined();
    await probe(type, merge({ ...stored, port: server.port }, { certificate_warning_days: 3 }), {
      names: { localhost: [["127.0.0.1"]] },
    });
    expect(received).toContain("s3cret");
  });
});
