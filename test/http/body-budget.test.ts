import { expect, test } from "bun:test";
import { type BodyLimits, createBodyBudget } from "../../src/http/body";
import { RequestContext } from "../../src/http/request-context";
import { createTestClock } from "../support/clock";

const BODY = {};

function contextOf(headers: Record<string, string>): RequestContext {
  const request = new Request("http://status.test/", { method: "POST", headers });
  const address = { ip: "203.0.113.7", network: "203.0.113.7" };
  return new RequestContext(request, "req_1", 0, () => address.ip, {
    addressOf: () => address,
    hstsOf: () => undefined,
    confirm: () => {},
  });
}

test("a body without a certain length gets no room, and later bodies are counted as before", () => {
  const budget = createBodyBudget(createTestClock());
  const chunked = () => budget.reserve(contextOf({ "transfer-encoding": "chunked" }), BODY);
  expect([chunked(), chunked()]).toEqual([undefined, undefined]);
  for (const length of ["5, 5", "five"]) {
    const context = contextOf({ "content-length": length });
    expect(() => budget.reserve(context, BODY)).toThrow("length");
    expect(context.body).toBeUndefined();
  }
  expect(chunked()?.code).toBe("rate_limited");
});

test("a link from a mail without room gets 503, which its sender repeats", () => {
  const budget = createBodyBudget(createTestClock());
  const reserve = () => {
    const context = contextOf({ "content-length": "4096" });
    context.caller = { kind: "link", bucket: "token" };
    return budget.reserve(context, BODY);
  };
  const problems = Array.from({ length: 1_025 }, reserve);
  expect(problems.slice(0, -1).every((problem) => problem === undefined)).toBe(true);
  expect(problems.at(-1)?.code).toBe("unavailable");
  expect(problems.at(-1)?.headers["Retry-After"]).toBe("1");
});

test("a body of alerts without room gets 503, which its sender repeats", () => {
  const budget = createBodyBudget(createTestClock());
  const reserve = (body: BodyLimits) =>
    budget.reserve(contextOf({ "transfer-encoding": "chunked" }), body);
  expect([reserve(BODY), reserve(BODY)]).toEqual([undefined, undefined]);
  expect(reserve({ isForeign: true })?.code).toBe("unavailable");
  expect(reserve(BODY)?.code).toBe("rate_limited");
});
