import { describe, expect, test } from "bun:test";
import { schemaErrors } from "../../../src/base/validation";
import { httpProbe } from "../../../src/features/monitors/probes/http";
import { completed, type HttpConfig } from "../../../src/features/monitors/probes/http-config";

const URL_HERE = "https://example.com/health";

const SECRETS: HttpConfig = {
  url: URL_HERE,
  method: "POST",
  headers: { Authorization: "Bearer s3cret", "X-Key": "s3cret" },
  body: "s3cret",
};

/** Returns the errors of a configuration, from its schema or else from its probe. */
function problems(config: object) {
  const broken = schemaErrors(httpProbe.config, config);
  return broken.length > 0 ? broken : httpProbe.validate(config as HttpConfig);
}

const pointers = (config: object) => problems(config).map(({ pointer }) => pointer);

describe("the config of an http monitor", () => {
  test("the configuration of an HTTP monitor needs only a URL and accepts all fields", () => {
    expect(problems({ url: URL_HERE })).toEqual([]);
    expect(problems({ url: "http://192.168.1.5:8080/x?y=z" })).toEqual([]);
    expect(
      problems({
        ...SECRETS,
        follow_redirects: false,
        ip_family: "ipv6",
        verify_tls: false,
        certificate_warning_days: 30,
        assertions: [
          { source: "status", op: "eq", value: 200 },
          { source: "header", property: "X-A", op: "exists" },
          { source: "body", op: "matches", value: "^ok$" },
          { source: "json", property: "$.a[0]", op: "eq", value: null },
          { source: "latency", op: "lt", value: 500 },
          { source: "certificate_days", op: "gte", value: 14 },
          { source: "status", op: "in", value: [204, "200-299", "301"] },
          { source: "header", property: "X-A", op: "in", value: ["a", 1, true] },
          { source: "json", property: "$.a", op: "in", value: ["a", 1, true, null] },
          { source: "json", property: "$.a", op: "length_gte", value: 0 },
        ],
      }),
    ).toEqual([]);
  });

  test("a header can be named __proto__ or constructor", () => {
    const headers = JSON.parse('{"__proto__": "a", "constructor": "b"}');
    expect(problems({ url: URL_HERE, headers })).toEqual([]);
    expect(httpProbe.present({ url: URL_HERE, headers }).header_names).toEqual([
      "__proto__",
      "constructor",
    ]);
    expect(Object.entries(completed({ url: URL_HERE, headers }).headers)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });

  test.each([
    "file:///etc/passwd",
    "data:text/plain,hi",
    "ftp://example.com/",
    "s3://bucket/key",
    "javascript:alert(1)",
    "example.com",
    "/health",
    "http://",
    "https://user:pw@example.com/",
    "https://user@example.com/",
    " https://example.com/",
    "https://example.com/\n",
    "https://exa\tmple.com/",
    "https://example.com:99999/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://0.0.0.0/",
    "http://224.0.0.1/",
    `https://example.com/${"a".repeat(2_000)}`,
    "",
  ])("the configuration rejects the URL %p", (url) => {
    expect(pointers({ url })).toEqual(["#/url"]);
  });

  test("the error of a rejected URL gives a reason and contains no password", () => {
    const [problem] = problems({ url: "https://user:hunter2@example.com/" });
    expect(problem?.detail).toContain("Authorization header");
    expect(problem?.detail).not.toContain("hunter2");
    expect(problems({ url: "http://169.254.169.254/" })).toEqual([
      {
        pointer: "#/url",
        detail: "names an address that is a link-local address, where clouds keep their metadata",
      },
    ]);
  });

  test.each([
    "Host",
    "host",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Upgrade",
    "X A",
    "X\n",
    "",
  ])("the configuration rejects the header %p", (name) => {
    const found = problems({ url: URL_HERE, headers: { [name]: "s3cret" } });
    expect(found.map(({ pointer }) => pointer)).toEqual([`#/headers/${name}`]);
    expect(JSON.stringify(found)).not.toContain("s3cret");
  });

  test("the configuration rejects control characters in header values and does not repeat the values", () => {
    for (const value of ["s3cret\r\nX-B: 1", "s3cret\u2028", "s3cret\u0001"]) {
      const found = problems({ url: URL_HERE, headers: { "X-A": value } });
      expect(found.map(({ pointer }) => pointer)).toEqual(["#/headers/X-A"]);
      expect(JSON.stringify(found)).not.toContain("s3cret");
    }
    expect(pointers({ url: URL_HERE, headers: { "X-A": "1", "x-a": "2" } })).toEqual([
      "#/headers/x-a",
    ]);
  });

  test("the configuration rejects a body for GET and HEAD", () => {
    expect(pointers({ url: URL_HERE, body: "x" })).toEqual(["#/body"]);
    expect(pointers({ url: URL_HERE, method: "HEAD", body: "x" })).toEqual(["#/body"]);
    expect(pointers({ url: URL_HERE, method: "PUT", body: "x" })).toEqual([]);
  });

  test.each<[object, string]>([
    [{ source: "status", op: "contains", value: 200 }, "op"],
    [{ source: "status", op: "eq", value: "200" }, "value"],
    [{ source: "status", op: "eq", value: 99 }, "value"],
    [{ source: "status", op: "eq" }, "value"],
    [{ source: "status", op: "eq", value: 200, property: "x" }, "property"],
    [{ source: "latency", op: "lt", value: -1 }, "value"],
    [{ source: "weather", op: "eq", value: 1 }, "source"],
    [{ source: "header", op: "eq", value: "x" }, "property"],
    [{ source: "header", property: "a b", op: "eq", value: "x" }, "property"],
    [{ source: "header", property: "a", op: "eq" }, "value"],
    [{ source: "header", property: "a", op: "lt", value: "5" }, "value"],
    [{ source: "header", property: "a", op: "exists", value: "yes" }, "value"],
    [{ source: "body", op: "exists", value: "x" }, "op"],
    [{ source: "body", op: "contains", value: "" }, "value"],
    [{ source: "body", op: "matches", value: "(" }, "value"],
    [{ source: "body", op: "matches", value: "(?=a)" }, "value"],
    [{ source: "body", op: "matches", value: "(?:a{0,90}b){9}" }, "value"],
    [{ source: "body", op: "matches", value: "a".repeat(501) }, "value"],
    [{ source: "json", property: "status", op: "eq", value: 1 }, "property"],
    [{ source: "json", property: "$..a", op: "eq", value: 1 }, "property"],
    [{ source: "json", property: "$[?@.a]", op: "eq", value: 1 }, "property"],
    [{ source: "json", property: "$.a", op: "eq", value: {} }, "value"],
  ])("the configuration rejects the assertion %j", (assertion, field) => {
    expect(pointers({ url: URL_HERE, assertions: [assertion] })).toEqual([
      `#/assertions/0/${field}`,
    ]);
  });

  test("the configuration rejects an assertion about the certificate for http URLs", () => {
    const assertions = [{ source: "certificate_days", op: "gte", value: 14 }];
    expect(pointers({ url: "https://example.com/", assertions })).toEqual([]);
    expect(pointers({ url: "http://example.com/", assertions })).toEqual(["#/assertions/0/source"]);
  });

  test("the configuration rejects unknown fields and too many headers or assertions", () => {
    expect(pointers({ url: URL_HERE, uri: "x" })).toEqual(["#/uri"]);
    const headers = Object.fromEntries(Array.from({ length: 31 }, (_, nth) => [`X-${nth}`, "1"]));
    expect(pointers({ url: URL_HERE, headers })).toEqual(["#/headers"]);
    const assertions = Array(31).fill({ source: "status", op: "eq", value: 200 });
    expect(pointers({ url: URL_HERE, assertions })).toEqual(["#/assertions"]);
  });
});

describe("the representation of an HTTP monitor's configuration", () => {
  test("a shown configuration contains the defaults and no secret", () => {
    expect(httpProbe.present({ url: URL_HERE })).toEqual({
      url: URL_HERE,
      host: null,
      connect_to: null,
      method: "GET",
      header_names: [],
      has_body: false,
      follow_redirects: true,
      ip_family: "any",
      verify_tls: true,
      ca: null,
      tls_min: "1.2",
      assertions: [],
      certificate_warning_days: 14,
      oauth2: null,
      client_certificate: null,
      proxy: null,
      digest: null,
      max_body_kb: 256,
    });
    const shown = httpProbe.present(SECRETS);
    expect(shown).toMatchObject({ header_names: ["Authorization", "X-Key"], has_body: true });
    expect(JSON.stringify(shown)).not.toContain("s3cret");
    expect(schemaErrors(httpProbe.shown, shown)).toEqual([]);
  });

  test("the target in lists contains only host and path", () => {
    expect(httpProbe.targetOf({ url: "https://example.com/a/b?token=s3cret#x" })).toBe(
      "example.com/a/b",
    );
    expect(httpProbe.targetOf({ url: "http://example.com:8080/" })).toBe("example.com:8080");
  });
});

describe("changes of an HTTP monitor's configuration", () => {
  test("a change of a configuration affects the given fields only, and null clears a field", () => {
    const before: HttpConfig = { ...SECRETS, verify_tls: false, certificate_warning_days: 30 };
    const after = httpProbe.merge(before, { verify_tls: null, ip_family: "ipv4" });
    expect(after).toEqual({ ...SECRETS, certificate_warning_days: 30, ip_family: "ipv4" });
    expect(httpProbe.merge(before, { headers: null, body: null })).toEqual({
      url: URL_HERE,
      method: "POST",
      verify_tls: false,
      certificate_warning_days: 30,
    });
  });

  test("a change of headers merges by case-insensitive name, and null removes one", () => {
    const change = { headers: { authorization: "new", "x-key": null, "X-More": "1" } };
    expect(httpProbe.merge(SECRETS, change).headers).toEqual({
      authorization: "new",
      "X-More": "1",
    });
  });

  test("a body or a header that is removed keeps the other secrets", () => {
    expect(httpProbe.validateChange(SECRETS, { body: null })).toEqual([]);
    expect(httpProbe.validateChange(SECRETS, { headers: { "X-Key": null } })).toEqual([]);
  });

  test.each(["https://evil.test/", "http://example.com/health", "https://example.com:8443/"])(
    "a change of the URL to another server drops the secrets: %s",
    (url) => {
      expect(httpProbe.merge(SECRETS, { url })).toEqual({ url, method: "POST" });
      expect(httpProbe.validateChange(SECRETS, { url }).map(({ pointer }) => pointer)).toEqual([
        "#/headers",
        "#/body",
      ]);
      expect(httpProbe.merge(SECRETS, { url, headers: { "X-Key": "again" } }).headers).toEqual({
        "X-Key": "again",
      });
    },
  );

  test("a check that no longer verifies the certificate drops the secrets", () => {
    const change = { verify_tls: false };
    expect(httpProbe.merge(SECRETS, change)).toEqual({ url: URL_HERE, method: "POST", ...change });
    expect(httpProbe.validateChange(SECRETS, change).map(({ pointer }) => pointer)).toEqual([
      "#/headers",
      "#/body",
    ]);
    const unverified = { ...SECRETS, ...change };
    for (const verify_tls of [true, null]) {
      expect(httpProbe.validateChange(unverified, { verify_tls })).toEqual([]);
    }
    expect(httpProbe.validateChange(unverified, { url: "https://evil.test/" })).toHaveLength(2);
    const plain = { ...SECRETS, url: "http://example.com/" };
    expect(httpProbe.validateChange(plain, change)).toEqual([]);
  });

  test.each<Partial<HttpConfig>>([
    { host: "evil.test" },
    { connect_to: { address: "evil.test" } },
    { connect_to: { address: "10.0.0.5", port: 8443 } },
    { ca: "another authority" },
  ])("a change of the place or of the authorities drops the secrets: %o", (change) => {
    const before: HttpConfig = {
      ...SECRETS,
      host: "app.test",
      connect_to: { address: "10.0.0.5" },
    };
    const dropped = httpProbe.validateChange(before, change).map(({ pointer }) => pointer);
    expect(dropped).toEqual(["#/headers", "#/body"]);
    expect(httpProbe.merge(before, change).headers).toBeUndefined();
    expect(httpProbe.validateChange(before, { host: before.host, tls_min: "1.3" })).toEqual([]);
  });

  test("a change of the server is accepted if all secrets are given again or removed", () => {
    const url = "https://new.test/";
    const headers = { authorization: "again", "X-Key": null };
    expect(httpProbe.validateChange(SECRETS, { url, headers, body: "again" })).toEqual([]);
    expect(httpProbe.validateChange(SECRETS, { url, headers: null, body: null })).toEqual([]);
    expect(httpProbe.validateChange(SECRETS, { url, headers })).toHaveLength(1);
    expect(httpProbe.validateChange({ url: URL_HERE }, { url })).toEqual([]);
  });
});
