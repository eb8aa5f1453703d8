import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { ProbeContext } from "../../../../src/features/monitors/monitoring";
import { probeOf } from "../../../../src/features/monitors/probes";
import { NAMES } from "../../../support/check";
import { probe } from "../../../support/probe";
import { answering, httpAnswer, startRawServer } from "../../../support/raw-server";
import { CERTIFICATES } from "../../../support/servers/server-process";
import { startWebSocketServer } from "../../../support/servers/websocket";

function check(
  { port }: { port: number },
  config: object = {},
  { scheme = "ws", context = {} }: { scheme?: string; context?: Partial<ProbeContext> } = {},
) {
  const url = `${scheme}://localhost:${port}/updates?token=s3cret`;
  return probe("websocket", { url, ...config }, { names: NAMES, context });
}

/** Answers the request for an upgrade with status 101 and its key, unless `headers` replaces it. */
function upgrade(request: string, headers: Record<string, string>, frames = ""): string {
  const [, key = ""] = /^sec-websocket-key: (.*)\r$/im.exec(request) ?? [];
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  const sent = { "Sec-WebSocket-Accept": accept.digest("base64"), ...headers };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
  return ["HTTP/1.1 101 -", ...lines, "", frames].join("\r\n");
}

describe("WebSocket checks", () => {
  test("a WebSocket check opens the connection with its headers, and closes it with 1000", async () => {
    await using server = await startWebSocketServer(() => {});
    const headers = { Authorization: "Bearer s3cret", Origin: "https://shop.test" };
    expect(await check(server, { headers })).toEqual({
      outcome: "ok",
      latencyMs: 0,
      message: null,
    });
    const [request] = server.requests;
    expect(request?.url).toBe("/updates?token=s3cret");
    expect(request?.headers).toMatchObject({
      host: `localhost:${server.port}`,
      authorization: "Bearer s3cret",
      origin: "https://shop.test",
    });
    expect(await server.closed).toBe(1000);
  });

  test.each([
    ["a control character in a header", { "X-A": "a\u0002b" }],
    ["a header that continues on the next line", { "X-A": "a\r\n b" }],
    ["headers of 30 kB", { "X-A": "a".repeat(30_000) }],
  ])("a WebSocket check reads an upgrade with %s", async (_what, odd) => {
    const headers = { Upgrade: "websocket", Connection: "Upgrade", ...odd };
    await using server = await startRawServer((socket) => {
      socket.once("data", (chunk: Buffer) => {
        socket.write(upgrade(chunk.toString("latin1"), headers), "latin1");
      });
    });
    expect(await check(server)).toMatchObject({ outcome: "ok", message: null });
  });

  test("a WebSocket check sends a message, and the first answer must contain the expected text", async () => {
    await using server = await startWebSocketServer((socket) => {
      socket.on("message", (data) => {
        socket.send(`you said ${String(data)}`);
        socket.send("second");
      });
    });
    expect(await check(server, { send: "hällo", expected: "hällo" })).toMatchObject({
      outcome: "ok",
    });
    expect(await check(server, { send: "s3cret", expected: "second" })).toMatchObject({
      outcome: "failed",
      message: "The message is not as expected.",
    });
  });

  test("a server that closes the connection instead of sending a message fails the check", async () => {
    await using server = await startWebSocketServer((socket) => socket.close(4401, "s3cret"));
    expect(await check(server, { expected: "hello" })).toMatchObject({
      outcome: "failed",
      message: "The server closed the connection (4401).",
    });
  });

  test("a WebSocket check with close codes waits for the server's closing frame", async () => {
    await using server = await startWebSocketServer(() => {});
    expect(await check(server, { close_codes: [1000] })).toMatchObject({ outcome: "ok" });
    expect(await check(server, { close_codes: [1001] })).toMatchObject({
      outcome: "failed",
      message: "The server closed the connection (1000).",
    });
    await using strict = await startWebSocketServer((socket) => socket.close(4401));
    expect(await check(strict, { close_codes: [4401] })).toMatchObject({ outcome: "ok" });
  });

  test("a WebSocket check with subprotocols fails unless the server chooses one of them", async () => {
    await using server = await startWebSocketServer(() => {}, { protocol: "chat.v2" });
    expect(await check(server, { subprotocols: ["chat.v1", "chat.v2"] })).toMatchObject({
      outcome: "ok",
    });
    await using without = await startWebSocketServer(() => {});
    expect((await check(without, { subprotocols: ["chat.v2"] })).outcome).toBe("failed");
  });

  test("a refused upgrade is reported by its status, and a redirect is not followed", async () => {
    await using target = await startRawServer(() => {});
    const location = `ws://localhost:${target.port}/`;
    const answers: [status: number, headers: Record<string, string>][] = [
      [403, {}],
      [200, {}],
      [302, { Location: location }],
    ];
    for (const [status, headers] of answers) {
      await using server = await startRawServer(answering(httpAnswer(status, "s3cret", headers)));
      expect(await check(server)).toMatchObject({
        outcome: "failed",
        message: `The server answered the upgrade with status ${status} instead of 101.`,
      });
    }
    expect(target.connections()).toBe(0);
  });

  test("an answer with status 101 that is not the one to the request is reported by its difference", async () => {
    const named = { Connection: "Upgrade", Upgrade: "websocket" };
    const offered = { subprotocols: ["chat.v1"] };
    const answers: [headers: Record<string, string>, end: string, config?: object][] = [
      [
        { ...named, "Sec-WebSocket-Accept": "s3cret" },
        "has a header Sec-WebSocket-Accept that does not belong to the request",
      ],
      [{ Upgrade: "websocket" }, "does not name websocket in its headers Connection and Upgrade"],
      [{ ...named, Upgrade: "h2c" }, "does not name websocket in its header Upgrade"],
      [named, "chose none of the subprotocols", offered],
      [
        { ...named, "Sec-WebSocket-Protocol": "s3cret" },
        "chose a subprotocol that was not offered",
        offered,
      ],
      [
        { ...named, "Sec-WebSocket-Protocol": "s3cret" },
        "chose a subprotocol, and none was offered",
      ],
      [
        { ...named, "Sec-WebSocket-Extensions": "permessage-deflate" },
        "chose an extension, and none was offered",
      ],
    ];
    for (const [headers, end, config] of answers) {
      await using server = await startRawServer(answering((request) => upgrade(request, headers)));
      expect(await check(server, config)).toMatchObject({
        outcome: "failed",
        message: `The server answered the upgrade with status 101, but ${end}.`,
      });
    }
  });

  test("a frame that is not allowed, too long or cut short is reported as such", async () => {
    const frames: [frame: string, message: string][] = [
      ["\u008f\0", "The server sent a frame that WebSockets do not allow (WS_ERR_INVALID_OPCODE)."],
      [
        "\u0081\u0002\u00ff\u00ff",
        "The server sent a frame that WebSockets do not allow (WS_ERR_INVALID_UTF8).",
      ],
      [`\u0081\u007f\0\0\0\0${"\u007f".repeat(4)}`, "The message is longer than a check reads."],
      ["\u0081\u000aabc", "The connection was closed while waiting for a message."],
      ["", "The connection was closed while waiting for a message."],
      ["\u0088\0", "The server closed the connection (without a code)."],
    ];
    for (const [frame, message] of frames) {
      await using server = await startRawServer(
        answering((request) =>
          upgrade(request, { Connection: "Upgrade", Upgrade: "websocket" }, frame),
        ),
      );
      expect(await check(server, { expected: "x" })).toMatchObject({ outcome: "failed", message });
      await server.allClosed();
    }
  });

  test("a hundred pings of a server are answered, and further ones ignored", async () => {
    const pongs = Promise.withResolvers<number>();
    let received = 0;
    await using server = await startWebSocketServer((socket) => {
      socket.on("pong", () => void (received += 1));
      socket.on("close", () => pongs.resolve(received));
      for (let pings = 0; pings < 1_000; pings += 1) socket.ping("x");
      socket.send("hello");
    });
    expect(await check(server, { expected: "hello", close_codes: [1000] })).toMatchObject({
      outcome: "ok",
    });
    expect(await pongs.promise).toBe(100);
  });

  test("a message that is longer than a check reads fails the check", async () => {
    await using server = await startWebSocketServer((socket) => socket.send("x".repeat(300_000)));
    expect(await check(server, { expected: "x" })).toMatchObject({
      outcome: "failed",
      message: "The message is longer than a check reads.",
    });
  });

  for (const certificate of CERTIFICATES) {
    test(`a WebSocket check judges the certificate “${certificate}”, and dates it`, async () => {
      await using server = await startWebSocketServer((socket) => socket.send("hello"), {
        certificate,
      });
      const verified = await check(server, { expected: "hello" }, { scheme: "wss" });
      expect(verified.outcome).toBe(certificate === "good" ? "ok" : "failed");
      expect(verified.certificate?.expiresAt).toBeNumber();
      const any = await check(server, { verify_tls: false }, { scheme: "wss" });
      expect(any).toMatchObject({ outcome: "ok" });
    });
  }

  test("the URL of a WebSocket monitor has the scheme ws or wss, and no credentials", () => {
    const errors = (url: string, headers = {}) => probeOf("websocket").validate({ url, headers });
    expect(errors("wss://example.com/x?y")).toEqual([]);
    for (const url of [
      "https://example.com/",
      "wss://user:s3cret@example.com/",
      "wss://169.254.169.254/",
      "example.com",
    ]) {
      expect(errors(url).map(({ pointer }) => pointer)).toEqual(["#/url"]);
    }
    const own = { "Sec-WebSocket-Key": "x", Upgrade: "x" };
    expect(errors("ws://example.com/", own)).toHaveLength(2);
  });
});
