import { describe, expect, test } from "bun:test";
import {
  CONDITIONS,
  type EndpointType,
  parseCondition,
  readConditions,
} from "../../src/imports/gatus/conditions";

const ABOUT_STATUS = "[STATUS] == 200";
const IS_200 = { source: "status", op: "eq", value: 200 };

/** Returns the assertions of a condition beside one about the status. */
function assertionsOf(condition: string) {
  const read = readConditions([ABOUT_STATUS, condition], "http");
  expect(read.disabled).toEqual([]);
  const [first, ...others] = read.assertions;
  expect(first).toMatchObject(IS_200);
  return { assertions: others, changes: read.changes.map(({ reason }) => reason) };
}

function onlyReason(condition: string, type: EndpointType = "http"): string {
  const { disabled } = readConditions([ABOUT_STATUS, condition], type);
  return disabled.find((reason) => reason.includes(condition)) ?? "";
}

const status = (op: string, value: unknown) => ({ source: "status", op, value });
const latency = (op: string, value: number) => ({ source: "latency", op, value });
const days = (op: string, value: number) => ({ source: "certificate_days", op, value });
const body = (op: string, value: string) => ({ source: "body", op, value });
const json = (property: string, op: string, value: unknown) => ({
  source: "json",
  property,
  op,
  value,
});

describe("a condition of an HTTP endpoint without a difference", () => {
  test.each([
    ["[STATUS] == 201", [status("eq", 201)]],
    ["201 == [STATUS]", [status("eq", 201)]],
    ["[status] != 500", [status("ne", 500)]],
    ["[STATUS] < 300", [status("lt", 300)]],
    ["300 > [STATUS]", [status("lt", 300)]],
    ["400 >= [STATUS]", [status("lte", 400)]],
    ["[STATUS] >= 0", [status("gte", 100)]],
    ["[STATUS] == any(200, 429)", [status("in", ["200", "429"])]],
    ["any(200, 429) == [STATUS]", [status("in", ["200", "429"])]],
    ["[STATUS] != any(500, 503)", [status("ne", 500), status("ne", 503)]],
    ["[STATUS] == pat(2*)", [status("in", ["200-299"])]],
    ["[STATUS] == pat(20[0-4])", [status("in", ["200-204"])]],
    ["[STATUS] != pat(5??)", [status("in", ["100-499"])]],
    ["[RESPONSE_TIME] < 500", [latency("lt", 500)]],
    ["[RESPONSE_TIME] <= 1.5s", [latency("lte", 1_500)]],
    ["500 > [RESPONSE_TIME]", [latency("lt", 500)]],
    ["[RESPONSE_TIME] < 1h", []],
    ["[CERTIFICATE_EXPIRATION] > 48h", [days("gte", 2)]],
    ["[CERTIFICATE_EXPIRATION] >= 240h", [days("gte", 10)]],
    ["48h < [CERTIFICATE_EXPIRATION]", [days("gte", 2)]],
    ["[BODY] == pat(*ok*)", [body("contains", "ok")]],
    ["pat(*ok*) == [BODY]", [body("contains", "ok")]],
    ["[BODY] != pat(*error*)", [body("not_contains", "error")]],
    ["[BODY] == pat(*)", []],
    ["[BODY] == pat(ok*)", [body("matches", "(?s)\\A\\s*ok.*\\s*\\z")]],
    ["[BODY] == pat(*a?[0-9]*)", [body("matches", "(?s)\\A\\s*.*a[^/][0-9].*\\s*\\z")]],
    ["[BODY] == pat(*</b>*)", [body("matches", "(?s)\\A\\s*.*</*b/*>.*\\s*\\z")]],
    ["[BODY] == UP", [body("matches", "(?s)\\A\\s*(?:UP)\\s*\\z")]],
    ["[BODY] == any(UP, OK.)", [body("matches", "(?s)\\A\\s*(?:UP|OK\\.)\\s*\\z")]],
    ["has([BODY]) == true", [body("matches", "[^\\s]")]],
    ["[BODY].status == UP", [json("$.status", "eq", "UP")]],
    ["UP == [BODY].status", [json("$.status", "eq", "UP")]],
    ["[BODY].a.b[0] == x", [json("$.a.b[0]", "eq", "x")]],
    ["[BODY][0].id == 1", [json("$[0].id", "eq", "1")]],
    ["[BODY].a[1][2].b-c == x", [json("$.a[1][2]['b-c']", "eq", "x")]],
    ["[BODY].user.name != john", [json("$.user.name", "ne", "john")]],
    ["[BODY].n >= 5", [json("$.n", "gte", 5)]],
    ["5 <= [BODY].n", [json("$.n", "gte", 5)]],
    ["[BODY].n < 0x10", [json("$.n", "lt", 16)]],
    ["[BODY].state == any(a, b)", [json("$.state", "in", ["a", "b"])]],
    ["[BODY].state != any(a, b)", [json("$.state", "ne", "a"), json("$.state", "ne", "b")]],
    ["[BODY].name == pat(*jo*)", [json("$.name", "contains", "jo")]],
    ["[BODY].name != pat(*jo*)", [json("$.name", "not_contains", "jo")]],
    ["[BODY].name == pat(jo*)", [json("$.name", "matches", "(?s)\\Ajo.*\\z")]],
    ["len([BODY].items) == 3", [json("$.items", "length_eq", 3)]],
    ["3 <= len([BODY].items)", [json("$.items", "length_gte", 3)]],
    ["len([BODY].items) != 0", [json("$.items", "length_gt", 0)]],
    ["has([BODY].errors) == false", [json("$.errors", "exists", false)]],
    ["has([BODY].errors) != true", [json("$.errors", "exists", false)]],
    ["true == has([BODY].data)", [json("$.data", "exists", true)]],
    ["[CONNECTED] == true", []],
    ["[CONNECTED] != false", []],
  ] as const)("%s becomes what it means", (condition, assertions) => {
    const read = assertionsOf(condition);
    expect(read.assertions).toEqual(assertions as never);
    expect(read.changes).toEqual([]);
  });
});

describe("a condition of an HTTP endpoint with a difference", () => {
  test.each([
    ["[CERTIFICATE_EXPIRATION] > 36h", [days("gte", 1)], "whole days"],
    ["len([BODY]) == 2", [json("$", "length_eq", 2)], "fails for other bodies"],
    ["[BODY] != DOWN", [body("ne", "DOWN")], "White space"],
    ["[BODY].load < 0.5", [json("$.load", "lt", 0.5)], "fractions"],
    [`[BODY] == ${"long ".repeat(30)}end`, [body("eq", `${"long ".repeat(30)}end`)], "White space"],
  ] as const)("%s names it", (condition, assertions, word) => {
    const read = assertionsOf(condition);
    expect(read.assertions).toEqual(assertions as never);
    expect(read.changes.join()).toContain(word);
  });
});

describe("a condition without counterpart", () => {
  test.each([
    "[IP] == 127.0.0.1",
    "[CONTEXT].id == 1",
    "has([CONTEXT].id) == true",
    "[DNS_RCODE] == NXDOMAIN",
    "[STATUS] == 2xx",
    "[STATUS] == 0",
    "[STATUS] < 100",
    "[STATUS] == any(a, b)",
    "len([STATUS]) == 3",
    "[RESPONSE_TIME] < soon",
    "[RESPONSE_TIME] == 5s",
    "[RESPONSE_TIME] > 1h",
    "[CERTIFICATE_EXPIRATION] == 48h",
    "[DOMAIN_EXPIRATION] < 720h",
    "[BODY].a == [BODY].b",
    "[BODY].a.* == 1",
    "[BODY]..a == 1",
    "[BODY].a[*] == 1",
    "[BODY].a[-1] == 1",
    "[BODY].a == {}",
    "[BODY].list == [1 2]",
    "[BODY].n < many",
    "len([BODY].items) != 3",
    "len([BODY].items) == -1",
    "has([BODY].a) == maybe",
    "has([BODY].a) > 1",
    "[BODY] != pat(a*)",
    "[BODY] == pat([)",
    "[BODY].a == pat([z-a])",
    "[CONNECTED] == maybe",
    "len([CONNECTED]) == 4",
    "1 == 1",
    "[FOO] == 1",
    "len(foo) == 3",
    "[STATUS]==200",
    "no condition",
    "",
  ])("%p switches the monitor off and says why", (condition) => {
    expect(onlyReason(condition)).toMatch(/^The condition “.*” is not moved, since .*\.$/);
  });

  test("that is longer than any that Gatus is given is not read", () => {
    const { disabled } = readConditions([`[STATUS] == pat(${"a".repeat(1_000_000)}?)`], "http");
    expect(disabled.join()).toEndWith("since it is too long.");
  });

  test("is named on one line with at most 300 characters", () => {
    const { disabled } = readConditions([`[IP] == \n${"x".repeat(1_000)}`], "http");
    expect(disabled.join()).not.toContain("\n");
    expect(disabled.join().length).toBeLessThan(400);
  });
});

test("the side of the placeholder makes no difference", () => {
  const turned = { "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" };
  const placeholders = ["[STATUS]", "[RESPONSE_TIME]", "[BODY]", "[BODY].a[0]", "len([BODY].a)"];
  const values = ["200", "3s", "ok", "pat(*a*)", "any(1, 2)", "0x1F", "1.5", "true"];
  for (const placeholder of placeholders) {
    for (const value of values) {
      for (const [comparator, other] of Object.entries(turned)) {
        const left = parseCondition(`${placeholder} ${comparator} ${value}`);
        expect(parseCondition(`${value} ${other} ${placeholder}`)).toEqual(left);
      }
    }
  }
});

test("without a condition about the status every answer counts", () => {
  const { assertions } = readConditions(["[CONNECTED] == true"], "http");
  expect(assertions).toEqual([{ source: "status", op: "gte", value: 100 }]);
});

describe("a condition that the check must fail", () => {
  test("alone inverts the monitor", () => {
    const read = readConditions(["[CONNECTED] == false", "[CONNECTED] != true"], "http");
    expect(read).toMatchObject({ isInverted: true, disabled: [] });
    expect(read.assertions).toEqual([{ source: "status", op: "gte", value: 100 }]);
  });

  test("beside another one switches the monitor off", () => {
    const { disabled } = readConditions(["[CONNECTED] == false", "[STATUS] == 500"], "http");
    expect(disabled).toEqual(["It must fail to connect, and has other conditions."]);
  });
});

describe("conditions of other types", () => {
  const types = ["tcp", "tls", "ping", "dns", "websocket", "grpc", "ssh", "smtp"] as const;

  test.each(types)("of %s on the response time become the time limit of a check", (type) => {
    const conditions = ["[CONNECTED] == true", "[RESPONSE_TIME] < 800", "[RESPONSE_TIME] <= 2s"];
    const read = readConditions(conditions, type);
    expect(read).toMatchObject({ timeoutMs: 800, disabled: [], assertions: [] });
    expect(read.changes.map(({ to }) => to)).toEqual(["timeout_ms 800", "timeout_ms 2000"]);
    expect(readConditions(["[RESPONSE_TIME] < 10"], type).timeoutMs).toBe(100);
  });

  test.each(types)("of %s on the status are met by 0 alone", (type) => {
    expect(readConditions(["[STATUS] == 0"], type).disabled).toEqual([]);
    expect(readConditions(["[STATUS] == 200"], type).disabled).toHaveLength(1);
  });

  test("of a TLS endpoint on the certificate become its days", () => {
    const read = readConditions(["[CERTIFICATE_EXPIRATION] > 240h"], "tls");
    expect(read).toMatchObject({ certificateDays: 10, changes: [], disabled: [] });
  });

  test("of a mail server on the certificate become a warning, which is named", () => {
    const read = readConditions(["[CERTIFICATE_EXPIRATION] > 240h"], "smtp");
    expect(read).toMatchObject({ certificateDays: 10, disabled: [] });
    expect(read.changes.map(({ reason }) => reason).join()).toContain("warns");
  });

  test("of a DNS endpoint become records that the answer must have", () => {
    const conditions = ["[DNS_RCODE] == NOERROR", "[BODY] == 192.0.2.1"];
    const read = readConditions(conditions, "dns");
    expect(read).toMatchObject({ expected: ["192.0.2.1"], changes: [], disabled: [] });
    expect(readConditions(["[BODY] == pat(*.*)"], "dns").disabled).toHaveLength(1);
  });

  test("of a web socket become a text in the first message", () => {
    expect(readConditions(["[BODY] == pat(*pong*)"], "websocket")).toMatchObject({
      expected: ["pong"],
      changes: [],
    });
    const exact = readConditions(["[BODY] == pong"], "websocket");
    expect(exact.expected).toEqual(["pong"]);
    expect(exact.changes).toHaveLength(1);
  });

  test("of a gRPC service are met by SERVING", () => {
    expect(readConditions(["[BODY].status == SERVING"], "grpc").disabled).toEqual([]);
    expect(readConditions(["[BODY].status == UNKNOWN"], "grpc").disabled).toHaveLength(1);
  });

  test("about the registration of a domain name its days", () => {
    for (const type of ["http", ...types] as const) {
      expect(readConditions(["[DOMAIN_EXPIRATION] > 720h"], type).domainDays).toBe(30);
    }
  });
});

test("every example of the table is read by its row and has a counterpart unless the row says so", () => {
  for (const [source, row] of Object.entries(CONDITIONS)) {
    for (const condition of row.conditions) {
      const parsed = parseCondition(condition);
      expect("subject" in parsed && parsed.subject.source).toBe(source as never);
      const type = source === "rcode" ? "dns" : "http";
      const { disabled } = readConditions([condition], type);
      expect({ condition, isOff: disabled.length > 0 }).toEqual({
        condition,
        isOff: row.becomes === "Switched off.",
      });
    }
  }
});
