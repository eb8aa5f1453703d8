import { createEgress } from "../../src/egress/egress";
import { Fault, type HttpAnswer, type HttpRequest } from "../../src/egress/model";
import { parseNetworks } from "../../src/base/config/parse";
import { testConfig } from "./app";
import { createTestClock, type TestClock } from "./clock";
import { certificateText } from "./raw-server";

/** Time limit of all requests of a test, in milliseconds. */
const PATIENCE_MS = 4 * 60_000;

/**
 * Creates an egress that resolves the given names only. Each name has a list of answers; the last
 * one is repeated. Trusts the tests' certificate authority.
 */
export async function createTestEgress(
  names: Record<string, string[][]> = {},
  {
    clock = createTestClock(),
    outboundAllow = "",
    env,
  }: {
    clock?: TestClock;
    outboundAllow?: string;
    /** Variables that decide which relays mail may reach. */
    env?: Record<string, string | undefined>;
  } = {},
) {
  const lookedUp: string[] = [];
  const egress = createEgress({
    clock,
    allowedNetworks: parseNetworks(outboundAllow),
    ...(env && { config: testConfig(env) }),
    // Tests replace the program, which is used only without the permission.
    echo: async () => ({ outcome: "unsupported" }),
    trust: [await certificateText("root")],
    async lookup(name) {
      const answers = names[name];
      const nth = lookedUp.filter((earlier) => earlier === name).length;
      lookedUp.push(name);
      const answer = answers?.[Math.min(nth, answers.length - 1)];
      if (!answer) throw Object.assign(new Error("not there"), { code: "ENOTFOUND" });
      return answer;
    },
  });
  return {
    egress,
    clock,
    /** Names that were resolved, in order. */
    lookedUp,
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

/** Returns a deadline that no test reaches. */
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
