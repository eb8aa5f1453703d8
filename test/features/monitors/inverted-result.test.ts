import { describe, expect, test } from "bun:test";
import { invertResult, type ProbeResult } from "../../../src/features/monitors/monitoring";

describe("the result of an inverted monitor", () => {
  const result = (outcome: ProbeResult["outcome"], message: string | null): ProbeResult => ({
    outcome,
    latencyMs: 7,
    message,
  });

  test("success and failure change places, and the message says so", () => {
    expect(invertResult(result("ok", "Expires soon."))).toEqual({
      ...result("failed", "Inverted: the check itself succeeded. Expires soon."),
      publicMessage: "The check succeeded unexpectedly.",
    });
    expect(invertResult(result("failed", "Refused."))).toEqual(
      result("ok", "Inverted: the check itself failed. Refused."),
    );
  });

  test("an unknown result is unchanged", () => {
    expect(invertResult(result("unknown", "No network."))).toEqual(
      result("unknown", "No network."),
    );
  });

  test("a failure that may be none stays a failure", () => {
    const failure = { ...result("failed", "Only a part was read."), isUndecided: true };
    expect(invertResult(failure)).toEqual(failure);
  });

  test("a failure from which nothing is known of the target is unknown", () => {
    const failure = { ...result("failed", "The proxy refused."), isOwnFault: true };
    expect(invertResult(failure)).toMatchObject({
      outcome: "unknown",
      message: "The proxy refused.",
    });
  });
});
