import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { createTestClock } from "../../support/clock";
import { checkHttp } from "../../support/http-check";
import { answering, httpAnswer, startRawServer, startTlsServer } from "../../support/raw-server";

const DAY_MS = 86_400_000;

describe("HTTP checks", () => {
  test.each([200, 204, 299])("an HTTP check succeeds with status %d", async (status) => {
    await using server = await startRawServer(answering(httpAnswer(status)));
    const result = await checkHttp({ url: `http://127.0.0.1:${server.port}/` });
    expect(result).toEqual({ outcome: "ok", latencyMs: 0, message: null });
  });

  test.each([301, 404, 500, 599])("an HTTP check fails with status %d", async (status) => {
    await using server = await startRawServer(answering(httpAnswer(status)));
    const result = await checkHttp({ url: `http://127.0.0.1:${server.port}/` });
    expect(result).toEqual({
      outcome: "failed",
      latencyMs: 0,
      message: `The status is ${status}; it should be 2xx.`,
      publicMessage: `The status is ${status}.`,
    });
  });

  test("an HTTP check fails without a latency if the connection is refused", async () => {
    const server = await startRawServer(() => {});
    await server[Symbol.asyncDispose]();
    const result = await checkHttp({ url: `http://127.0.0.1:${server.port}/` });
    expect(result).toEqual({
      outcome: "failed",
      latencyMs: null,
      message: "The connection was refused.",
    });
  });

  test("each HTTP check opens a new connection", async () => {
    await using server = await startRawServer(answering(httpAnswer(200)));
    const url = `http://127.0.0.1:${server.port}/`;
    for (let nth = 0; nth < 3; nth += 1) expect((await checkHttp({ url })).outcome).toBe("ok");
    expect(server.connections()).toBe(3);
    await server.allClosed();
  });

  test("an HTTP check measures latency by the monotonic clock", async () => {
    const clock = createTestClock();
    await using server = await startRawServer((socket) =>
      socket.once("data", async () => {
        await clock.advance(700);
        clock.setWallClock(0);
        socket.end(httpAnswer(200));
      }),
    );
    const url = `http://127.0.0.1:${server.port}/`;
    const below = (value: number) => [{ source: "latency" as const, op: "lt" as const, value }];
    expect(await checkHttp({ url, assertions: below(701) }, { clock })).toMatchObject({
      outcome: "ok",
      latencyMs: 700,
    });
    expect(await checkHttp({ url, assertions: below(700) }, { clock })).toMatchObject({
      outcome: "failed",
      latencyMs: 700,
      message: "The latency is 700 ms; it should be below 700 ms.",
    });
  });

  test("an HTTP check decompresses a body up to a limit", async () => {
    const gzip = { "Content-Encoding": "gzip" };
    const bodies = {
      "/well": gzipSync('{"status":"ok"}'),
      "/bomb": gzipSync(Buffer.alloc(32 << 20, "x")),
    };
    await using server = await startRawServer(
      answering((request) =>
        httpAnswer(
          200,
          bodies[request.startsWith("GET /bomb") ? "/bomb" : "/well"].toString("latin1"),
          gzip,
        ),
      ),
    );
    const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
    const json = [
      { source: "json" as const, property: "$.status", op: "eq" as const, value: "ok" },
    ];
    expect((await checkHttp({ url: at("/well"), assertions: json })).outcome).toBe("ok");
    expect(await checkHttp({ url: at("/bomb"), assertions: json })).toMatchObject({
      outcome: "failed",
      message: "The body is too long to be read as JSON: only its first 256 KiB were read.",
    });
    const body = [{ source: "body" as const, op: "contains" as const, value: "xxxx" }];
    expect((await checkHttp({ url: at("/bomb"), assertions: body })).outcome).toBe("ok");
  });
});

describe("certificates in HTTP checks", () => {
  const AT_THE_END = Date.UTC(2099, 0);

  test("a successful check stores the certificate's end and warns of it", async () => {
    await using server = await startTlsServer("good", answering(httpAnswer(200)));
    const url = `https://shop.test:${server.port}/`;
    const daysBefore = (days: number) => ({ clock: createTestClock(AT_THE_END - days * DAY_MS) });
    const certificate = {
      host: "shop.test",
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      expiresAt: AT_THE_END,
      intermediate: null,
    };
    const well = { outcome: "ok" as const, latencyMs: 0, message: null, certificate };
    expect(await checkHttp({ url }, daysBefore(14))).toEqual(well);
    expect(await checkHttp({ url }, daysBefore(13))).toEqual({
      ...well,
      message: "The certificate expires in 13 days.",
    });
    expect(await checkHttp({ url, certificate_warning_days: 10 }, daysBefore(13))).toEqual(well);
    expect(await checkHttp({ url, certificate_warning_days: 0 }, daysBefore(1))).toEqual(well);
  });

  test("a certificate with too few days left fails an assertion about it", async () => {
    await using server = await startTlsServer("good", answering(httpAnswer(200)));
    const config = {
      url: `https://shop.test:${server.port}/`,
      assertions: [{ source: "certificate_days" as const, op: "gte" as const, value: 30 }],
    };
    const daysBefore = (days: number) => ({ clock: createTestClock(AT_THE_END - days * DAY_MS) });
    expect((await checkHttp(config, daysBefore(30))).outcome).toBe("ok");
    expect(await checkHttp(config, daysBefore(29.5))).toMatchObject({
      outcome: "failed",
      message: "The certificate's time left is 29 days; it should be at least 30 days.",
    });
  });

  test.each([
    ["expired", "The certificate expired on 2021-01-01.", Date.UTC(2021, 0)],
    ["self", "The certificate is self-signed.", AT_THE_END],
    ["other", "The certificate is for another name.", AT_THE_END],
  ] as const)(
    "an invalid certificate fails the check unless verify_tls is false: %s",
    async (name, message, expiresAt) => {
      await using server = await startTlsServer(name, answering(httpAnswer(200)));
      const url = `https://shop.test:${server.port}/`;
      expect(await checkHttp({ url })).toMatchObject({
        outcome: "failed",
        latencyMs: null,
        certificate: { expiresAt },
        message,
      });
      expect((await checkHttp({ url, verify_tls: false })).outcome).toBe("ok");
    },
  );
});
