import { describe, expect, test } from "bun:test";
import { compileMatchers, matcherProblem } from "../../../../src/features/monitors/alerts/matchers";

const LABELS = { alertname: "Errors", service: "checkout", severity: "page", "a.b": "dotted" };

describe("matchers", () => {
  test.each([
    ['service="checkout"', true],
    ["service=checkout", true],
    ['service = "check"', false],
    ['service!="checkout"', false],
    ['missing=""', true],
    ['missing!=""', false],
    ['missing="x"', false],
    ['severity=~"critical|page"', true],
    ['severity=~"crit|pag"', false],
    ['severity=~"a|page|b"', true],
    ['severity!~"critical|page"', false],
    ['missing=~".*"', true],
    ['missing=~".+"', false],
    ['severity=~"(?i)PAGE"', true],
    ['"a.b"="dotted"', true],
    ['service="check\\"out"', false],
    ['service=~"check\\w+"', true],
    ['service=~"check\\d+"', false],
    ['"a.b"=~"dot\\\\w+"', true],
    // Not a label of the alert, although every object has it.
    ['constructor=""', true],
  ])("the matcher %s of Alertmanager holds: %p", (matcher, isFulfilled) => {
    expect(matcherProblem(matcher)).toBeUndefined();
    expect(compileMatchers([matcher])(LABELS)).toBe(isFulfilled);
  });

  test.each([
    "service",
    "=x",
    'service=="x"',
    'service="x',
    '{service="x"}',
    'service="x",severity="y"',
    "a-b=c",
    "",
  ])("the text %p is no matcher", (text) => {
    expect(matcherProblem(text)).toContain("must be a label");
  });

  test("an expression that RE2 does not know, or that is too large, is refused with the reason", () => {
    expect(matcherProblem('a=~"("')).toContain("not a valid regular expression");
    expect(matcherProblem('a=~"(?=x)"')).toContain("not a valid regular expression");
    expect(matcherProblem('a=~"(x{1,50}){1,50}"')).toBeDefined();
    expect(matcherProblem('a=~"x)|(?:y"')).toContain("not a valid regular expression");
    expect(matcherProblem('a=~"(x)|(?:y)"')).toBeUndefined();
  });

  test("all matchers must hold, and without any every alert matches", () => {
    expect(compileMatchers(['service="checkout"', 'severity="low"'])(LABELS)).toBe(false);
    expect(compileMatchers(['service="checkout"', 'severity="page"'])(LABELS)).toBe(true);
    expect(compileMatchers([])({})).toBe(true);
  });
});
