import { describe, expect, test } from "bun:test";
import { probeOf } from "../../../../src/features/monitors/probes";
import { probe } from "../../../support/probe";
import { startRawServer } from "../../../support/raw-server";

describe("TCP checks", () => {
  test("a TCP check succeeds if the connection is accepted, and closes it", async () => {
    await using server = await startRawServer(() => {});
    const result = await probe("tcp", { host: "localhost", port: server.port });
    expect(result).toEqual({ outcome: "ok", latencyMs: 0, message: null });
    expect(server.connections()).toBe(1);
    await server.allClosed();
  });

  test("a TCP check fails if the connection is refused", async () => {
    const server = await startRawServer(() => {});
    await server[Symbol.asyncDispose]();
    const result = await probe("tcp", { host: "127.0.0.1", port: server.port });
    expect(result).toMatchObject({ outcome: "failed", latencyMs: null });
    expect(result.message).toBe("The connection was refused.");
  });

  test("a TCP check fails if the name resolves to a blocked address", async () => {
    const names = { "metadata.test": [["169.254.169.254"]] };
    const result = await probe("tcp", { host: "metadata.test", port: 80 }, { names });
    expect(result.outcome).toBe("failed");
    expect(result.message).toContain("link-local");
  });

  test("the target of a TCP monitor is host and port, with IPv6 addresses in brackets", () => {
    const { targetOf } = probeOf("tcp");
    expect(targetOf({ host: "db.example.com", port: 5432 })).toBe("db.example.com:5432");
    expect(targetOf({ host: "2001:db8::1", port: 5432 })).toBe("[2001:db8::1]:5432");
  });
});
