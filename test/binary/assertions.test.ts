import { afterAll, beforeAll, expect, test } from "bun:test";
import { createInstallation, type Installation, PROCESS_TEST_MS } from "../support/binary";
import { createServedMonitor, repeatUntil } from "../support/served-monitor";

const LENGTH = 65_536;

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation();
}, PROCESS_TEST_MS);

afterAll(async () => {
  await installation[Symbol.asyncDispose]();
});

test(
  "regular expressions of assertions end within the check's timeout, and the server answers meanwhile",
  async () => {
    using target = startRandomTarget();
    const { value: key } = await installation.createKey(["manage:monitors", "read:status"]);
    const server = await installation.serve({
      env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" },
    });
    const check = async (patterns: string[], timeoutMs: number) => {
      const monitor = await createServedMonitor(server, key, {
        type: "http",
        name: "Text",
        interval_seconds: 3_600,
        timeout_ms: timeoutMs,
        config: {
          url: target.url,
          assertions: patterns.map((value) => ({ source: "body", op: "matches", value })),
        },
      });
      return monitor.check();
    };

    expect(await check(["^[ab]{9}", "[ab]c$"], 10_000)).toMatchObject({ outcome: "ok" });
    expect(await check(["^[ab]{9}", "d"], 10_000)).toMatchObject({
      outcome: "failed",
      message: "The body should match /d/.",
    });
    const hostile = Array.from({ length: 30 }, (_, n) => {
      const count = 15 + n;
      return `(?:a[ab]{${count}}|b[ab]{${count}})[^ab]`;
    });
    const overrun = check(hostile, 2_000);
    const reads = await repeatUntil(overrun, async () => {
      expect((await server.fetch("/")).status).toBe(200);
    });
    expect(await overrun).toMatchObject({
      outcome: "failed",
      message: "Evaluating the assertions took longer than the check's timeout allows.",
    });
    // In one block they would have let a single one pass.
    expect(reads).toBeGreaterThan(20);
    expect(await server.stop()).toBe(0);
  },
  PROCESS_TEST_MS,
);

/** Answers with another text each time, of the letters a and b and a c at its end. */
function startRandomTarget() {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      new Response(
        `${Array.from(crypto.getRandomValues(new Uint8Array(LENGTH - 1)), (byte) =>
          byte % 2 === 0 ? "a" : "b",
        ).join("")}c`,
      ),
  });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    [Symbol.dispose]: () => void server.stop(true),
  };
}
