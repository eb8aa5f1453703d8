import { describe, expect, test } from "bun:test";
import type { Egress } from "../../../../src/egress";
import { DAY_MS } from "../../../../src/kernel/time";
import { createTestClock, TEST_START } from "../../../support/clock";
import { probe } from "../../../support/probing";
import { startTlsServer } from "../../../support/raw-server";

/** A way out to a server whose certificate ends then. */
function shows(expiresAt: number): Egress {
  const certificate = { expiresAt, subject: "shop.test", issuer: "Test", problem: null };
  const refuse = () => Promise.reject(new Error("not asked for"));
  return {
    connect: async () => ({ address: "127.0.0.1", certificate, close() {} }),
    resolve: refuse,
    request: refuse,
    query: refuse,
  };
}

const check = (expiresAt: number, config: object) =>
  probe(
    "tls",
    { host: "shop.test", ...config },
    { means: { egress: shows(expiresAt), clock: createTestClock() } },
  );

describe("a tls check", () => {
  test("is well while the certificate lasts for the days that are asked for, to the millisecond", async () => {
    const expiresAt = TEST_START + 30 * DAY_MS;
    expect(await check(expiresAt, { days: 30 })).toEqual({
      outcome: "ok",
      latencyMs: 0,
      message: null,
      certificateExpiresAt: expiresAt,
    });
    const late = await check(expiresAt - 1, { days: 30 });
    expect(late.outcome).toBe("failed");
    expect(late.message).toBe("The certificate ends in 29 days.");
    expect(late.certificateExpiresAt).toBe(expiresAt - 1);
  });

  test("asks for 14 days where nothing is said, and for none where it is told 0", async () => {
    const soon = TEST_START + 13 * DAY_MS;
    expect((await check(soon, {})).message).toBe("The certificate ends in 13 days.");
    expect((await check(soon + DAY_MS, {})).outcome).toBe("ok");
    expect((await check(TEST_START, { days: 0 })).outcome).toBe("ok");
  });

  for (const certificate of ["expired", "other", "self"] as const) {
    test(`fails where the certificate is ${certificate === "other" ? "for another name" : certificate}, and tells when it ends`, async () => {
      await using server = await startTlsServer(certificate, () => {});
      const result = await probe("tls", { host: "localhost", port: server.port });
      expect(result.outcome).toBe("failed");
      expect(result.message).toBeString();
      expect(result.certificateExpiresAt).toBeNumber();
    });
  }

  test("is well where the certificate is for the name and signed by who is trusted", async () => {
    await using server = await startTlsServer("good", () => {});
    const result = await probe("tls", { host: "localhost", port: server.port, days: 0 });
    expect(result).toMatchObject({ outcome: "ok", message: null });
  });
});
