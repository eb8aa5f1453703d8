import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Assertion } from "../../../src/features/monitors/assertions/assertions";
import { AssertionEvaluator } from "../../../src/features/monitors/assertions/evaluator";
import { checkAssertions } from "../../../src/features/monitors/assertions/check";
import { holds } from "../../../src/features/monitors/assertions/evaluate";
import { parseJsonPath, valueAt } from "../../../src/features/monitors/assertions/json-path";
import { parsePattern, patternProblem } from "../../../src/features/monitors/assertions/pattern";
import { createTestClock } from "../../support/clock";
import { patience } from "../../support/egress";

const BODY = JSON.stringify({
  status: "ok",
  count: 5,
  ratio: 0.5,
  isReady: true,
  error: null,
  version: "1.10",
  checks: [
    { name: "db", up: true },
    { name: "cache", up: false },
  ],
  tags: ["blue", 7],
  "odd name": { "it's": "here" },
});

type Observed = Parameters<typeof checkAssertions>[1];

const evaluator = new AssertionEvaluator(createTestClock());

/** The message of the first assertion that does not hold; null if all do. */
async function firstFailure(assertions: readonly Assertion[], response: Observed) {
  const checked = await checkAssertions(assertions, response, {
    evaluator,
    signal: patience(),
  });
  return checked.outcome === "ok" ? null : checked.message;
}

function observed(more: Partial<Observed> = {}, body = BODY) {
  return {
    status: 200,
    headers: new Map([
      ["content-type", "application/json"],
      ["x-count", "12"],
    ]),
    latencyMs: 120,
    certificateDays: 20,
    body: async () => ({ bytes: new TextEncoder().encode(body), isTruncated: false }),
    ...more,
  };
}

const check = (assertion: Assertion, more = {}) => firstFailure([assertion], observed(more));

const json = (property: string, op: Assertion["op"], value?: Assertion["value"]) =>
  ({ source: "json", property, op, ...(value !== undefined && { value }) }) as Assertion;
const header = (property: string, op: Assertion["op"], value?: Assertion["value"]) =>
  ({ source: "header", property, op, ...(value !== undefined && { value }) }) as Assertion;
const body = (op: Assertion["op"], value: string) => ({ source: "body", op, value }) as Assertion;
const number = (
  source: "status" | "latency" | "certificate_days",
  op: Assertion["op"],
  value: Assertion["value"],
) => ({ source, op, value }) as Assertion;

describe("assertions that hold", () => {
  test.each<Assertion>([
    number("status", "eq", 200),
    number("status", "ne", 500),
    number("status", "lt", 201),
    number("status", "lte", 200),
    number("status", "gt", 199),
    number("status", "gte", 200),
    number("latency", "lte", 120),
    number("certificate_days", "gte", 20),
    header("Content-Type", "eq", "application/json"),
    header("content-type", "contains", "json"),
    header("content-type", "not_contains", "html"),
    header("content-type", "matches", "^application/(json|xml)$"),
    header("x-count", "gt", 11),
    header("x-count", "eq", 12),
    header("x-count", "exists"),
    header("x-none", "exists", false),
    header("x-none", "ne", "anything"),
    header("x-none", "not_contains", "anything"),
    body("contains", '"status":"ok"'),
    body("not_contains", "error: "),
    body("matches", '"count":\\s*[0-9]+'),
    body("ne", "x"),
    json("$.status", "eq", "ok"),
    json("$.status", "ne", "down"),
    json("$.count", "eq", 5),
    json("$.count", "eq", "5"),
    json("$.count", "gte", 5),
    json("$.ratio", "lt", 1),
    json("$.isReady", "eq", true),
    json("$.isReady", "eq", "true"),
    json("$.error", "eq", null),
    json("$.error", "exists"),
    json("$.missing", "exists", false),
    json("$.missing", "ne", "ok"),
    json("$.version", "eq", "1.10"),
    json("$.version", "ne", "1.1"),
    json("$.checks[0].up", "eq", true),
    json("$.checks[-1].name", "eq", "cache"),
    json("$.tags", "contains", "blue"),
    json("$.tags", "contains", 7 as never),
    json("$['odd name'][\"it's\"]", "eq", "here"),
    json("$", "exists"),
    number("status", "in", [404, 200]),
    number("status", "in", ["100-150", "200-299"]),
    number("status", "in", ["200"]),
    header("content-type", "in", ["text/html", "application/json"]),
    header("x-count", "in", [11, 12]),
    json("$.status", "in", ["down", "ok"]),
    json("$.count", "in", [4, "5"]),
    json("$.error", "in", [null]),
    json("$.version", "in", ["1.10"]),
    json("$.checks", "length_eq", 2),
    json("$.checks", "length_lt", 3),
    json("$.checks", "length_lte", 2),
    json("$.checks", "length_gt", 1),
    json("$.checks", "length_gte", 2),
    json("$.status", "length_eq", 2),
    json("$['odd name']", "length_eq", 1),
  ])("the assertion holds: %j", async (assertion) => {
    expect(await check(assertion)).toBeNull();
  });
});

describe("assertions that fail", () => {
  test.each<[Assertion, string]>([
    [number("status", "eq", 201), "The status is 200; it should be 201."],
    [number("status", "ne", 200), "The status is 200; it should not be 200."],
    [number("status", "lt", 200), "The status is 200; it should be below 200."],
    [number("status", "gt", 200), "The status is 200; it should be above 200."],
    [number("latency", "lt", 120), "The latency is 120 ms; it should be below 120 ms."],
    [header("x-none", "exists"), "There is no header x-none."],
    [header("x-none", "eq", "a"), "There is no header x-none."],
    [header("x-count", "exists", false), "There is a header x-count, and there should be none."],
    [header("content-type", "eq", "text/html"), "The header content-type should be “text/html”."],
    [header("content-type", "lt", 5), "The header content-type should be below 5."],
    [body("contains", "well"), "The body should contain “well”."],
    [body("not_contains", "status"), "The body should not contain “status”."],
    [body("matches", "^x"), "The body should match /^x/."],
    [json("$.status", "eq", "down"), "The value at $.status should be “down”."],
    [json("$.count", "gt", 5), "The value at $.count is 5; it should be above 5."],
    [json("$.error", "ne", null), "The value at $.error is null; it should not be null."],
    [json("$.status", "gt", 1), "The value at $.status should be above 1."],
    [json("$.missing", "eq", "ok"), "There is no value at $.missing."],
    [json("$.checks[2]", "exists"), "There is no value at $.checks[2]."],
    [json("$.constructor", "exists"), "There is no value at $.constructor."],
    [json("$.checks.length", "eq", 2), "There is no value at $.checks.length."],
    [
      json("$.checks", "eq", "[object Object],[object Object]"),
      "The value at $.checks should be “[object Object],[object Object]”.",
    ],
    [
      number("status", "in", ["201-299", 304]),
      "The status is 200; it should be one of 201-299, 304.",
    ],
    [number("status", "in", [404]), "The status is 200; it should be one of 404."],
    [
      header("content-type", "in", ["text/html", 5]),
      "The header content-type should be one of “text/html”, 5.",
    ],
    [header("x-none", "in", ["a"]), "There is no header x-none."],
    [
      json("$.version", "in", ["1.1", "200-299"]),
      "The value at $.version should be one of “1.1”, “200-299”.",
    ],
    [json("$.count", "in", ["1-9"]), "The value at $.count is 5; it should be one of “1-9”."],
    [json("$.tags", "in", ["blue"]), "The value at $.tags should be one of “blue”."],
    [
      json("$.checks", "length_gt", 2),
      "The length of the value at $.checks is 2; it should be above 2.",
    ],
    [json("$.status", "length_eq", 3), "The length of the value at $.status is 2; it should be 3."],
    [json("$.count", "length_eq", 1), "The value at $.count has no length."],
    [json("$.error", "length_lt", 9), "The value at $.error has no length."],
    [json("$.missing", "length_eq", 0), "There is no value at $.missing."],
    [json("$.version", "eq", "1.1"), "The value at $.version should be “1.1”."],
  ])("the assertion fails with its message: %j", async (assertion, message) => {
    expect(await check(assertion)).toBe(message);
  });

  test("an assertion about the certificate fails without one", async () => {
    const assertion = number("certificate_days", "gte", 1);
    expect(await check(assertion, { certificateDays: null })).toBe("There is no certificate.");
  });

  test("a JSON assertion fails for a body that is not JSON, too long or nested too deeply", async () => {
    const assertion = json("$.status", "eq", "ok");
    const failure = (text: string, isTruncated = false) =>
      firstFailure(
        [assertion],
        observed({ body: async () => ({ bytes: new TextEncoder().encode(text), isTruncated }) }),
      );
    expect(await failure("<html>")).toBe("The body is not JSON.");
    expect(await failure("")).toBe("The body is not JSON.");
    expect(await failure(BODY, true)).toBe(
      "The body is too long to be read as JSON: only its first 190 bytes were read.",
    );
    expect(await failure("[".repeat(200_000))).toBe("The body is not JSON.");
  });

  test("the message of a failed assertion contains no text of the response", async () => {
    const secret = "hunter2";
    const answer = observed({ headers: new Map([["x-a", secret]]) }, JSON.stringify({ a: secret }));
    for (const assertion of [json("$.a", "eq", "b"), header("x-a", "eq", "b"), body("eq", "b")]) {
      const failure = await firstFailure([assertion], answer);
      expect(failure).toBeString();
      expect(failure).not.toContain(secret);
    }
  });

  test("the message of a failed assertion has at most 300 characters", async () => {
    const long = "x".repeat(255);
    expect((await check(json(`$.${long}`, "eq", long)))?.length).toBeLessThan(300);
    expect((await check(header("content-type", "eq", "x".repeat(1_000))))?.length).toBeLessThan(
      300,
    );
    const many = Array.from({ length: 50 }, (_, index) => `${index}${"x".repeat(900)}`);
    expect((await check(header("content-type", "in", many)))?.length).toBeLessThan(300);
  });
});

describe("properties of assertions", () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));

  test("a value is in a list exactly if it equals an entry", () => {
    fc.assert(
      fc.property(scalar, fc.array(scalar, { minLength: 1, maxLength: 50 }), (actual, list) => {
        expect(holds(actual, "in", list)).toBe(list.some((entry) => holds(actual, "eq", entry)));
      }),
    );
  });

  test("a status is in a range exactly if it is between its ends", async () => {
    const status = fc.integer({ min: 100, max: 599 });
    await fc.assert(
      fc.asyncProperty(status, status, status, async (actual, from, to) => {
        fc.pre(from <= to);
        const failure = await check(number("status", "in", [`${from}-${to}`]), { status: actual });
        expect(failure === null).toBe(from <= actual && actual <= to);
      }),
    );
  });

  test("a length compares as the number of entries, fields or characters does", () => {
    const measured = fc.oneof(
      fc.array(scalar).map((list) => [list, list.length] as const),
      fc.dictionary(fc.string(), scalar).map((map) => [map, Object.keys(map).length] as const),
      fc.string({ unit: "grapheme" }).map((text) => [text, Array.from(text).length] as const),
    );
    const ops = fc.constantFrom("eq", "lt", "lte", "gt", "gte");
    fc.assert(
      fc.property(measured, ops, fc.nat({ max: 12 }), ([value, length], op, expected) => {
        expect(holds(value, `length_${op}` as Assertion["op"], expected)).toBe(
          holds(length, op as Assertion["op"], expected),
        );
      }),
    );
  });
});

describe("several assertions", () => {
  test("several assertions must all hold, and the message names the first that fails", async () => {
    const assertions = [
      json("$.status", "eq", "ok"),
      json("$.count", "eq", 6),
      body("contains", "no"),
    ];
    expect(await firstFailure(assertions, observed())).toBe(
      "The value at $.count is 5; it should be 6.",
    );
  });

  test("the status must be 2xx unless an assertion is about it", async () => {
    const down = observed({ status: 503 });
    expect(await firstFailure([], down)).toBe("The status is 503; it should be 2xx.");
    expect(await firstFailure([body("contains", "ok")], down)).toBe(
      "The status is 503; it should be 2xx.",
    );
    expect(await firstFailure([number("status", "eq", 503)], down)).toBeNull();
  });

  test("several assertions read the body once, and not at all if none needs it", async () => {
    let reads = 0;
    const counting = observed({
      body: async () => {
        reads += 1;
        return { bytes: new TextEncoder().encode(BODY), isTruncated: false };
      },
    });
    await firstFailure([number("status", "eq", 200)], counting);
    expect(reads).toBe(0);
    await firstFailure(
      [json("$.status", "eq", "ok"), json("$.count", "eq", 5), body("contains", "ok")],
      counting,
    );
    expect(reads).toBe(1);
  });
});

describe("a JSON path", () => {
  test.each([
    "status",
    "",
    "$.",
    "$..a",
    "$.*",
    "$[*]",
    "$[?@.a]",
    "$[0:2]",
    "$[0,1]",
    "$['a]",
    "$[a]",
    "$[01]",
    "$[-0]",
    "$.a b",
    "$ .a",
    "$.a.",
    "$[1e3]",
    "$.1a",
    "$['\\x']",
    "@.a",
  ])("a path that does not select a single value is rejected: %p", (text) => {
    expect(parseJsonPath(text)).toBeUndefined();
  });

  test("a JSON path accepts names and indexes in every notation", () => {
    expect(parseJsonPath("$.a['b c'][\"d\"][0][-12].ü")).toEqual(["a", "b c", "d", 0, -12, "ü"]);
    expect(parseJsonPath("$['it\\'s']")).toEqual(["it's"]);
    expect(parseJsonPath("$")).toEqual([]);
  });

  test("a JSON path finds inherited property names only if the document contains them", () => {
    const path = parseJsonPath("$.__proto__") ?? [];
    expect(typeof valueAt({}, path)).toBe("symbol");
    expect(valueAt(JSON.parse('{"__proto__":1}'), path)).toBe(1);
  });
});

describe("a regular expression", () => {
  test.each([
    "(a+)+$",
    "(a|a)*$",
    "(a|aa)+$",
    "(.*a){10}$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(x+x+)+y",
    "[ab]*a[ab]{20}c",
  ])("a pattern with exponential backtracking elsewhere runs in linear time: %s", (source) => {
    const pattern = parsePattern(source);
    if (typeof pattern === "string") throw new Error(pattern);
    // Eight times the text takes eight times the processor time, and backtracking would not end.
    const short = leastCpuMs(() => pattern(`${"a".repeat(8_000)}!`));
    const long = leastCpuMs(() => pattern(`${"a".repeat(64_000)}!`));
    expect(long).toBeLessThan(24 * Math.max(short, 0.02));
  });

  test("a pattern matches anywhere in the first 65,536 characters", () => {
    const pattern = parsePattern("(?i)version: [0-9]+\\.[0-9]+");
    if (typeof pattern === "string") throw new Error(pattern);
    expect(pattern("x Version: 1.22 y")).toBe(true);
    expect(pattern("x Version: one y")).toBe(false);
    expect(pattern(`${" ".repeat(65_000)}version: 1.2`)).toBe(true);
    expect(pattern(`${" ".repeat(65_536)}version: 1.2`)).toBe(false);
  });

  test.each([
    "(",
    "[a",
    "a{2000}",
    "(?=a)",
    "(a)\\1",
    "*",
    "(?:a{0,90}b){9}",
    "\\p{L}{200}",
    "a".repeat(501),
  ])("an invalid or too large pattern is rejected with a reason: %s", (source) => {
    expect(parsePattern(source)).toBeString();
    expect(patternProblem(source)).toBeString();
  });

  test.each([
    "\\pL".repeat(6),
    "(?i)[A-\\x{1E942}]",
    "(?i)[A-\u{1E942}]",
    "(?is)[\\x{41}-\\x{1000}]",
    "(?i)[a-\\x{500}]x[a-\\x{500}]",
  ])("a pattern that is slow to compile is rejected without compiling it: %s", (source) => {
    expect(patternProblem(source)).toMatch(/Unicode classes|ignores case/);
    // Monitors that have such a pattern already keep it.
    expect(parsePattern(source)).toBeFunction();
  });

  test.each(["(?i)[а-яё]+", "[\\p{L}\\p{N}_-]{1,20}", "[A-\\x{1E942}]", "(?i)straße-größe"])(
    "a moderate pattern is accepted: %s",
    (source) => {
      expect(patternProblem(source)).toBeUndefined();
    },
  );
});

/** Returns the least processor time in ms that a call of five took. Other processes lengthen some, not all. */
function leastCpuMs(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    for (let call = 0; call < 20; call++) work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 20_000;
  });
  return Math.min(...times);
}
