import { describe, expect, test } from "bun:test";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { status as Codes } from "@grpc/grpc-js";
import { probeOf } from "../../../../src/features/monitors/probes";
import { foreignStreamGuard } from "../../../../src/egress/http2";
import { checkOf } from "../../../support/check";
import { answering, httpAnswer, startRawServer, startTlsServer } from "../../../support/raw-server";
import { startGrpc } from "../../../support/servers/grpc";
import { stepsOf } from "../../../support/steps";
import { CERTIFICATES } from "../../../support/servers/server-process";

const check = checkOf("grpc");

/** Returns a frame of HTTP/2 that ends its headers. */
function frame(type: number, stream: number, payload: number[]): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = type === 1 ? 4 : 0;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, Buffer.from(payload)]);
}

describe("gRPC checks", () => {
  test("a gRPC check shows its request as a step, which fails for another status", async () => {
    await using server = await startGrpc({ "": 1, down: 2 });
    const config = { host: "localhost", port: server.port };
    const until = ["look_up | localhost: 127.0.0.1", "connect | 127.0.0.1:PORT"];
    expect(await stepsOf("grpc", config)).toEqual([...until, "request"]);
    expect(await stepsOf("grpc", { ...config, service: "down" })).toEqual([
      ...until,
      "request | failed | The service is NOT_SERVING.",
    ]);
  });

  test("a gRPC check succeeds if the server, or a service, is SERVING", async () => {
    await using server = await startGrpc({ "": 1, "acme.orders.v1.Orders": 1 });
    expect(await check(server)).toEqual({ outcome: "ok", latencyMs: 0, message: null });
    const metadata = { Authorization: "Bearer s3cret" };
    const config = { service: "acme.orders.v1.Orders", metadata };
    expect(await check(server, config)).toMatchObject({ outcome: "ok" });
    expect(server.calls).toEqual([
      { service: "", authorization: undefined },
      { service: "acme.orders.v1.Orders", authorization: "Bearer s3cret" },
    ]);
  });

  test("a gRPC check fails for another status, and tells it by its name", async () => {
    await using server = await startGrpc({
      a: 0,
      b: 2,
      c: 3,
      d: 99,
      e: { code: Codes.UNIMPLEMENTED },
      f: { code: Codes.UNAUTHENTICATED },
    });
    const messages = {
      a: "The service is UNKNOWN.",
      b: "The service is NOT_SERVING.",
      c: "The service is SERVICE_UNKNOWN.",
      d: "The service is the unknown status 99.",
      e: "The server has no health service (UNIMPLEMENTED).",
      f: "The server answered with UNAUTHENTICATED.",
      g: "The server does not know the service (NOT_FOUND).",
    };
    for (const [service, message] of Object.entries(messages)) {
      expect(await check(server, { service })).toMatchObject({ outcome: "failed", message });
    }
  });

  for (const certificate of CERTIFICATES) {
    test(`a gRPC check judges the certificate “${certificate}”, and dates it`, async () => {
      await using server = await startGrpc({ "": 1 }, certificate);
      const verified = await check(server, { tls: "verify" });
      expect(verified.outcome).toBe(certificate === "good" ? "ok" : "failed");
      expect(verified.certificate?.expiresAt).toBeNumber();
      expect(await check(server, { tls: "require" })).toMatchObject({ outcome: "ok" });
    });
  }

  test("a server that does not speak HTTP/2 or gRPC fails the check", async () => {
    await using web = await startRawServer(answering(httpAnswer(200, "hello")));
    expect((await check(web)).outcome).toBe("failed");
    await using tls = await startTlsServer("good", () => {});
    expect(await check(tls, { tls: "verify" })).toMatchObject({
      outcome: "failed",
      message: "The server does not speak HTTP/2.",
    });
  });

  test("a server that begins a stream of its own fails the check, and the process goes on", async () => {
    const settings = frame(4, 0, []);
    for (const foreign of [frame(1, 32, [0x88]), frame(5, 1, [0, 0, 0, 2, 0x88])]) {
      await using server = await startRawServer((socket) => {
        socket.once("data", () => void socket.write(Buffer.concat([settings, foreign])));
      });
      expect(await check(server)).toMatchObject({
        outcome: "failed",
        message: "The server did not answer as a gRPC server does.",
      });
    }
  });

  test("streams that a server begins are recognised in pieces of any size", () => {
    const own = [frame(4, 0, []), frame(1, 1, [0x88]), frame(0, 1, Array(300).fill(1))];
    const bytes = Buffer.concat([...own, ...own]);
    for (const size of [1, 2, 8, 9, 10, 299, bytes.length]) {
      const guard = foreignStreamGuard();
      for (let at = 0; at < bytes.length; at += size) guard(bytes.subarray(at, at + size));
      expect(() => guard(frame(1, 2, []))).toThrow();
    }
  });

  test("a message that is longer than what is read decides nothing", async () => {
    const http2 = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/grpc" });
      response.write(Buffer.alloc(100_000));
    });
    http2.on("sessionError", () => {});
    await new Promise<void>((resolve) => http2.listen(0, "127.0.0.1", resolve));
    const result = await check({ port: (http2.address() as AddressInfo).port });
    http2.close();
    expect(result).toMatchObject({
      outcome: "failed",
      isUndecided: true,
      message: "The server's message is longer than a check reads.",
    });
  });

  test("the guard reports the last frame of the own stream, and refuses frames without end", () => {
    let ends = 0;
    const guard = foreignStreamGuard(() => (ends += 1));
    guard(frame(0, 1, [1]));
    guard(Buffer.from("000000040100000000", "hex"));
    expect(ends).toBe(0);
    guard(Buffer.from("000000000100000001", "hex"));
    expect(ends).toBe(1);
    expect(() => guard(Buffer.concat(Array(20_000).fill(frame(0, 1, [1]))))).toThrow();
  });

  test("metadata of a gRPC monitor cannot set what the protocol sets", () => {
    const errors = (metadata: object) =>
      probeOf("grpc").validate({ host: "a.test", port: 1, metadata } as never);
    expect(errors({ authorization: "x", "X-Trace-Bin": "AAE=" })).toEqual([]);
    for (const name of ["grpc-timeout", "Content-Type", "te", "host", ":path", "a b", ""]) {
      expect(errors({ [name]: "x" })).toHaveLength(1);
    }
  });
});
