import { createEgress, Fault, type HttpAnswer, type HttpRequest } from "../../src/egress";
import { parseNetworks } from "../../src/config/parse";
import { createTestClock, type TestClock } from "./clock";
import { certificateText } from "./raw-server";

/** Nothing that a test asks for takes longer; what does is a fault, not a test that hangs. */
const PATIENCE_MS = 10_000;

/**
 * A way out whose names are the test's: each has its answers, the first for the first question and so
 * on, the last for all that follow. Another name is not there. Trusts the authority of the tests.
 */
export async function createTestEgress(
  names: Record<string, string[][]> = {},
  {
    clock = createTestClock(),
    outboundAllow = "",
  }: { clock?: TestClock; outboundAllow?: string } = {},
) {
  const asked: string[] = [];
  const egress = createEgress({
    clock,
    config: { outboundAllow: parseNetworks(outboundAllow) },
    trust: [await certificateText("root")],
    async lookup(name) {
      const answers = names[name];
      const nth = asked.filter((earlier) => earlier === name).length;
      asked.push(name);
      const answer = answers?.[Math.min(nth, answers.length - 1)];
      if (!answer) throw Object.assign(new Error("not there"), { code: "ENOTFOUND" });
      return answer;
    },
  });
  return {
    egress,
    clock,
    /** The names whose addresses were asked for. */
    asked,
    request: (url: string, more: Partial<HttpRequest> = {}): Promise<HttpAnswer | Fault> =>
      egress.request({
        url: new URL(url),
        method: "GET",
        policy: "monitor",
        signal: patience(),
        ...more,
      }),
  };
}

/** A deadline that no test reaches. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(PATIENCE_MS);
}

/** Returns the fault of an outcome. Throws if the outcome is a success. */
export function faultOf(outcome: unknown): Fault {
  if (outcome instanceof Fault) return outcome;
  throw new Error(`nothing went wrong: ${JSON.stringify(outcome)}`);
}

/** Returns the value of a successful outcome. Throws if the outcome is a fault. */
export function successOf<T>(outcome: T | Fault): T {
  if (outcome instanceof Fault) throw new Error(`${outcome.kind}: ${outcome.message}`);
  return outcome;
}
