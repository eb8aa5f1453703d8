import { describe, expect, test } from "bun:test";
import { type Answer, expectProblem } from "../../support/app";
import { canSendEcho } from "../../../src/egress/echo";
import { createMonitorApi, HTTP } from "../../support/monitor-api";
import { usePingProgram } from "../../support/ping-program";
import { shareSite } from "../../support/shared-site";

/** Returns the pointers of the rejected fields. */
function broken(answer: Answer): string[] {
  return expectProblem(answer, "validation_failed").errors.map(
    ({ pointer }: { pointer: string }) => pointer,
  );
}

const http = (config: object) => ({
  ...HTTP,
  config: { url: "https://shop.example.com/", ...config },
});
const url = (text: string) => http({ url: text });

const REFUSED: [what: string, body: unknown, fields: string[]][] = [
  ["no type", { name: "Shop", config: {} }, ["#/type"]],
  ["an unknown type", { type: "gopher", name: "Shop", config: {} }, ["#/type"]],
  ["a type of JavaScript's own", { type: "constructor", name: "Shop", config: {} }, ["#/type"]],
  ["no name", { ...HTTP, name: undefined }, ["#/name"]],
  ["a blank name", { ...HTTP, name: " " }, ["#/name"]],
  ["no config", { ...HTTP, config: undefined }, ["#/config"]],
  [
    "another type's config",
    { ...HTTP, type: "tcp" },
    ["#/config/url", "#/config/host", "#/config/port"],
  ],
  ["unknown fields", { ...HTTP, interval: 60, state: "up" }, ["#/interval", "#/state"]],
  ["an unknown field of the config", http({ uri: "" }), ["#/config/uri"]],
  ["an interval of 4", { ...HTTP, interval_seconds: 4 }, ["#/interval_seconds"]],
  ["an interval of 0", { ...HTTP, interval_seconds: 0 }, ["#/interval_seconds"]],
  ["an interval of -1", { ...HTTP, interval_seconds: -1 }, ["#/interval_seconds"]],
  ["an interval of 1e9", { ...HTTP, interval_seconds: 1e9 }, ["#/interval_seconds"]],
  ["an interval of 5.5", { ...HTTP, interval_seconds: 5.5 }, ["#/interval_seconds"]],
  ["an interval in quotes", { ...HTTP, interval_seconds: "60" }, ["#/interval_seconds"]],
  ["no timeout", { ...HTTP, timeout_ms: 0 }, ["#/timeout_ms"]],
  ["a timeout of an hour", { ...HTTP, timeout_ms: 3_600_000 }, ["#/timeout_ms"]],
  [
    "a timeout over five minutes",
    { ...HTTP, interval_seconds: 600, timeout_ms: 300_001 },
    ["#/timeout_ms"],
  ],
  [
    "a long timeout beyond the interval",
    { ...HTTP, interval_seconds: 120, timeout_ms: 120_001 },
    ["#/timeout_ms"],
  ],
  ["a body limit of 0", http({ max_body_kb: 0 }), ["#/config/max_body_kb"]],
  ["a body limit over 4 MiB", http({ max_body_kb: 4_097 }), ["#/config/max_body_kb"]],
  ["Digest sign-in without a name", http({ digest: {} }), ["#/config/digest/username"]],
  [
    "Digest sign-in with a colon in the name",
    http({ digest: { username: "a:b" } }),
    ["#/config/digest/username"],
  ],
  [
    "Digest sign-in beside an Authorization header",
    http({ digest: { username: "a" }, headers: { Authorization: "Basic x" } }),
    ["#/config/headers/Authorization"],
  ],
  [
    "thresholds of 0",
    { ...HTTP, failure_threshold: 0, success_threshold: 0 },
    ["#/failure_threshold", "#/success_threshold"],
  ],
  ["a retry interval of 0", { ...HTTP, retry_interval_seconds: 0 }, ["#/retry_interval_seconds"]],
  [
    "a retry interval beyond the interval",
    { ...HTTP, interval_seconds: 30, retry_interval_seconds: 31 },
    ["#/retry_interval_seconds"],
  ],
  ["an invalid component status", { ...HTTP, on_down: "operational" }, ["#/on_down"]],
  [
    "components that are none",
    { ...HTTP, component_ids: ["cmp_1", "x"] },
    ["#/component_ids/0", "#/component_ids/1"],
  ],
  ["a file", url("file:///etc/passwd"), ["#/config/url"]],
  ["data", url("data:text/plain,x"), ["#/config/url"]],
  ["user info", url("https://user:secret@shop.example.com/"), ["#/config/url"]],
  ["no URL", url("shop"), ["#/config/url"]],
  ["a metadata address", url("http://169.254.169.254/latest/meta-data"), ["#/config/url"]],
  ["the same in decimal", url("http://2852039166/"), ["#/config/url"]],
  ["the same in hexadecimal", url("http://0xa9.0xfe.0xa9.0xfe/"), ["#/config/url"]],
  ["the same mapped to IPv6", url("http://[::ffff:169.254.169.254]/"), ["#/config/url"]],
  ["a link-local IPv6 address", url("http://[fe80::1]/"), ["#/config/url"]],
  [
    "a JSON path that is none",
    http({ assertions: [{ source: "json", property: "$.[", op: "eq", value: 1 }] }),
    ["#/config/assertions/0"],
  ],
  [
    "lists of statuses with an invalid entry, too many entries, or none",
    http({
      assertions: [
        { source: "status", op: "in", value: [200, 99] },
        { source: "status", op: "in", value: Array.from({ length: 51 }, () => 200) },
        { source: "status", op: "in", value: [] },
        { source: "status", op: "eq", value: "200-299" },
      ],
    }),
    [0, 1, 2, 3].map((nth) => `#/config/assertions/${nth}/value${nth === 0 ? "/1" : ""}`),
  ],
  [
    "lists where the comparison takes one value, one value where it takes a list, and invalid ranges",
    http({
      assertions: [
        { source: "status", op: "eq", value: [200] },
        { source: "status", op: "in", value: 200 },
        { source: "status", op: "in", value: ["299-200"] },
        { source: "status", op: "in", value: ["2xx"] },
        { source: "json", property: "$.a", op: "ne", value: ["a"] },
        { source: "json", property: "$.a", op: "in", value: "a" },
        { source: "header", property: "A", op: "in" },
      ],
    }),
    [0, 1, 2, 3, 4, 5, 6].map((nth) => `#/config/assertions/${nth}/value`),
  ],
  [
    "lengths of other sources, and lengths that are no whole number",
    http({
      assertions: [
        { source: "header", property: "A", op: "length_eq", value: 1 },
        { source: "body", op: "length_eq", value: 1 },
      ],
    }),
    ["#/config/assertions/0/op", "#/config/assertions/1/op", "#/config/assertions/1/value"],
  ],
  [
    "lengths that are no whole number of at least 0",
    http({
      assertions: [-1, 1.5, "2", [2], undefined].map((value) => ({
        source: "json",
        property: "$.a",
        op: "length_gte",
        value,
      })),
    }),
    [0, 1, 2, 3, 4].map((nth) => `#/config/assertions/${nth}/value`),
  ],
  [
    "a metadata address to connect to",
    { type: "tcp", name: "T", config: { host: "169.254.169.254", port: 80 } },
    ["#/config/host"],
  ],
  [
    "no port",
    { type: "tcp", name: "T", config: { host: "db.example.com", port: 0 } },
    ["#/config/port"],
  ],
  [
    "a host that is none",
    { type: "tls", name: "T", config: { host: "https://shop.example.com" } },
    ["#/config/host"],
  ],
  [
    "a host that is an option",
    { type: "ping", name: "P", config: { host: "-f" } },
    ["#/config/host"],
  ],
  [
    "an unknown record type",
    { type: "dns", name: "D", config: { name: "example.com", record_type: "ANY" } },
    ["#/config/record_type"],
  ],
  [
    "a resolver that is a name",
    { type: "dns", name: "D", config: { name: "example.com", resolver: "dns.example" } },
    ["#/config/resolver"],
  ],
  ["a token of the caller's own", { type: "push", name: "P", token: "x".repeat(43) }, ["#/token"]],
  [
    "a grace of -1",
    { type: "push", name: "P", config: { grace_seconds: -1 } },
    ["#/config/grace_seconds"],
  ],
  ["nothing", null, ["#"]],
  ["a list", [HTTP], ["#"]],
];

describe("invalid input for a new monitor", () => {
  const shared = shareSite(createMonitorApi);
  for (const [what, body, fields] of REFUSED) {
    test(what, async () => {
      using _ping = usePingProgram("exit 1");
      const api = await shared();
      const before = api.written();
      const found = broken(await api.post(body));
      if (fields.length > 1) expect(found.toSorted()).toEqual(fields.toSorted());
      // The error of an assertion points to its invalid field.
      else expect(found.map((pointer) => pointer.startsWith(fields[0] ?? "?"))).toEqual([true]);
      expect(api.written()).toEqual(before);
    });
  }

  test.skipIf(canSendEcho())(
    "a ping monitor is rejected with a reason if the program ping is not installed",
    async () => {
      await using api = await createMonitorApi();
      const body = { type: "ping", name: "Gateway", config: { host: "gateway.example.com" } };
      {
        using _none = usePingProgram(undefined);
        const before = api.written();
        const { errors } = expectProblem(await api.post(body), "validation_failed");
        expect(errors).toHaveLength(1);
        expect(errors[0].detail).toContain("needs the program ping, which is not installed");
        expect(api.written()).toEqual(before);
        expect((await api.post({ ...body, paused: true })).status).toBe(201);
      }
      using _ping = usePingProgram("exit 1");
      expect((await api.post(body)).status).toBe(201);
    },
  );
});

describe("invalid changes of a monitor", () => {
  const CHANGES: [what: string, body: unknown, fields: string[]][] = [
    ["nothing", {}, ["#"]],
    ["another type", { type: "tcp" }, ["#/type"]],
    [
      "another id or state",
      { id: "mon_1", state: "up", paused: true },
      ["#/id", "#/paused", "#/state"],
    ],
    ["an unknown field of the config", { config: { hosts: "x" } }, ["#/config/hosts"]],
    ["a config that is none", { config: null }, ["#/config"]],
    ["no URL", { config: { url: null } }, ["#/config/url"]],
    ["a file", { config: { url: "file:///etc/passwd" } }, ["#/config/url"]],
    [
      "an interval that is shorter than its retries",
      { interval_seconds: 5 },
      ["#/retry_interval_seconds"],
    ],
    ["a component that is none", { component_ids: ["cmp_1"] }, ["#/component_ids/0"]],
  ];
  for (const [what, body, fields] of CHANGES) {
    test(what, async () => {
      await using api = await createMonitorApi();
      const { id } = await api.create();
      const before = api.written();
      expect(broken(await api.patch(id, body)).toSorted()).toEqual(fields.toSorted());
      expect(api.written()).toEqual(before);
    });
  }
});

test("every request for an unknown monitor is not_found", async () => {
  await using api = await createMonitorApi();
  const before = api.written();
  const none = "mon_01kah2v9w0e0rs6x0h3ye0a1bc";
  expectProblem(await api.call(`/${none}`), "not_found");
  expectProblem(await api.call(`/${none}/checks`), "not_found");
  expectProblem(await api.patch(none, { name: "Shop" }), "not_found");
  expectProblem(await api.call(`/${none}`, { method: "DELETE" }), "not_found");
  for (const verb of ["pause", "resume", "check", "rotate-token"]) {
    expectProblem(await api.call(`/${none}/${verb}`, { method: "POST" }), "not_found");
  }
  expect(api.written()).toEqual(before);
  expect(api.checked).toEqual([]);
});
