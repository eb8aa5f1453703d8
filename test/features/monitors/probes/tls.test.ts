import { describe, expect, test } from "bun:test";
import type { Egress } from "../../../../src/egress/egress";
import { DAY_MS } from "../../../../src/base/time";
import { createTestClock, TEST_START } from "../../../support/clock";
import { probe } from "../../../support/probe";
import { startTlsServer } from "../../../support/raw-server";

const SEEN = { host: "shop.test", fingerprint: "5e".repeat(32), intermediate: null };

/** A way out to a server whose certificate ends then. */
function shows(expiresAt: number): Egress {
  const certificate = { ...SEEN, expiresAt, subject: "shop.test", issuer: "Test", problem: null };
  const unexpected = () => Promise.reject(new Error("unexpected query"));
  return {
    connect: async () => ({ address: "127.0.0.1", certificate, close() {} }),
    resolve: unexpected,
    ping: unexpected,
    socket: unexpected,
    request: unexpected,
    askDocker: unexpected,
    query: unexpected,
  };
}

const check = (expiresAt: number, config: object) =>
  probe(
    "tls",
    { host: "shop.test", ...config },
    { context: { egress: shows(expiresAt), clock: createTestClock() } },
  );

describe("TLS checks", () => {
  test("a TLS check succeeds if the certificate lasts exactly the configured days", async () => {
    const expiresAt = TEST_START + 30 * DAY_MS;
    expect(await check(expiresAt, { days: 30 })).toEqual({
      outcome: "ok",
      latencyMs: 0,
      message: null,
      certificate: { ...SEEN, expiresAt },
    });
    const late = await check(expiresAt - 1, { days: 30 });
    expect(late.outcome).toBe("failed");
    expect(late.message).toBe("The certificate expires in 29 days.");
    expect(late.certificate?.expiresAt).toBe(expiresAt - 1);
  });

  test("a TLS check requires 14 days by default and none with days: 0", async () => {
    const soon = TEST_START + 13 * DAY_MS;
    expect((await check(soon, {})).message).toBe("The certificate expires in 13 days.");
    expect((await check(soon + DAY_MS, {})).outcome).toBe("ok");
    expect((await check(TEST_START, { days: 0 })).outcome).toBe("ok");
  });

  for (const certificate of ["expired", "other", "self"] as const) {
    test(`a TLS check fails for a certificate that is ${certificate === "other" ? "for another name" : certificate} and stores its end`, async () => {
      await using server = await startTlsServer(certificate, () => {});
      const result = await probe("tls", { host: "localhost", port: server.port });
      expect(result.outcome).toBe("failed");
      expect(result.message).toBeString();
      expect(result.certificate?.expiresAt).toBeNumber();
    });
  }

  test("a TLS check succeeds with a trusted certificate for the name", async () => {
    await using server = await startTlsServer("good", () => {});
    const result = await probe("tls", { host: "localhost", port: server.port, days: 0 });
    expect(result).toMatchObject({ outcome: "ok", message: null });
  });
});
