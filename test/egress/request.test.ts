import { describe, expect, spyOn, test } from "bun:test";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { DEFAULT_BODY_MAX_BYTES } from "../../src/egress/model";
import { readBody } from "../../src/egress/body";
import { createTestEgress, faultOf, successOf } from "../support/egress";
import {
  answering,
  httpAnswer,
  type OnConnection,
  startRawServer,
  startTlsServer,
} from "../support/raw-server";

const quickBrotli = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } });

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Sends `first`, then `again` for as long as the client reads. */
function withoutEnd(first: string, again: string): OnConnection {
  return (socket) =>
    socket.once("data", () => {
      const pour = () => {
        while (!socket.destroyed && socket.write(again)) {
          /* until the buffer is full */
        }
      };
      socket.on("drain", pour);
      socket.write(first);
      pour();
    });
}

async function send(
  onConnection: OnConnection,
  more: Parameters<Awaited<ReturnType<typeof createTestEgress>>["request"]>[1] = {},
) {
  await using server = await startRawServer(onConnection);
  const { request } = await createTestEgress();
  const outcome = await request(`http://127.0.0.1:${server.port}/`, more);
  // Whatever came of it, no connection is left open.
  await server.allClosed();
  return outcome;
}

describe("an HTTP response", () => {
  test("a response is read with status, headers and body", async () => {
    const sent = "HTTP/1.1 404 Nope\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 5\r\n\r\nhello";
    const answer = successOf(await send(answering(sent)));
    expect(answer).toMatchObject({ status: 404, isTruncated: false, address: "127.0.0.1" });
    expect(answer.headers.get("x-a")).toBe("1, 2");
    expect(text(answer.sentBody)).toBe("hello");
  });

  test.each([
    [
      "in chunks",
      "HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
    ],
    ["until the connection is closed", "HTTP/1.1 200 -\r\n\r\nhello"],
    ["of HTTP/1.0", "HTTP/1.0 200 -\r\n\r\nhello"],
    [
      "after interim ones",
      `HTTP/1.1 100 -\r\n\r\nHTTP/1.1 103 -\r\n\r\n${httpAnswer(200, "hello")}`,
    ],
  ])("a response %s is read completely", async (_how, sent) => {
    expect(text(successOf(await send(answering(sent))).sentBody)).toBe("hello");
  });

  test("a response over TLS includes the certificate", async () => {
    await using server = await startTlsServer("good", answering(httpAnswer(200, "hello")));
    const { request } = await createTestEgress({ "shop.test": [["127.0.0.1"]] });
    const answer = successOf(await request(`https://shop.test:${server.port}/`));
    expect(text(answer.sentBody)).toBe("hello");
    expect(answer.certificate?.expiresAt).toBe(Date.UTC(2099, 0));
  });

  test("a response to HEAD has no body, even with a Content-Length", async () => {
    const head = "HTTP/1.1 200 -\r\nContent-Length: 5000\r\n\r\n";
    expect(successOf(await send(answering(head), { method: "HEAD" })).sentBody.length).toBe(0);
  });
});

describe("an HTTP request", () => {
  test("a request sends the given method, headers and body", async () => {
    let sent = "";
    const onConnection = answering((request) => {
      sent = request;
      return httpAnswer(200);
    });
    const headers = { "X-Token": "s3cret", "user-agent": "mine" };
    successOf(await send(onConnection, { method: "POST", headers, body: "{}" }));
    expect(sent).toStartWith("POST / HTTP/1.1\r\n");
    expect(sent).toContain("X-Token: s3cret\r\n");
    expect(sent).toMatch(/user-agent: mine\r\n/i);
    expect(sent).not.toContain("Allclear");
    expect(sent).toContain("Content-Length: 2\r\n");
    expect(sent).toEndWith("\r\n\r\n{}");
  });

  test.each([
    ["file:///etc/passwd"],
    ["data:text/plain,hi"],
    ["ftp://127.0.0.1/"],
    ["s3://bucket/key"],
    ["http://user:secret@127.0.0.1/"],
    ["http://user@127.0.0.1/"],
  ])("a request to %s is rejected", async (url) => {
    const { request, lookedUp } = await createTestEgress();
    const fault = faultOf(await request(url));
    expect(fault.kind).toBe("refused");
    expect(fault.message).not.toContain("secret");
    expect(lookedUp).toEqual([]);
  });

  test.each([
    ["Host", "evil.test"],
    ["content-length", "0"],
    ["Transfer-Encoding", "chunked"],
    ["Connection", "keep-alive"],
    ["Upgrade", "h2c"],
    ["X-A", "1\r\nX-B: s3cret"],
    ["X A", "1"],
    ["X-A\r\nX-B", "1"],
    ["X-A", "s3cret\u0000"],
    ["X-A", "s3cret\u2028"],
  ])(
    "a request with the header %p: %p is rejected without repeating the value",
    async (name, value) => {
      await using server = await startRawServer(answering(httpAnswer(200)));
      const { request } = await createTestEgress();
      const fault = faultOf(
        await request(`http://127.0.0.1:${server.port}/`, { headers: { [name]: value } }),
      );
      expect(fault.kind).toBe("refused");
      expect(fault.message).not.toContain("s3cret");
      expect(server.connections()).toBe(0);
    },
  );
});

describe("a hostile server", () => {
  test.each<[string, OnConnection, string, string]>([
    ["closes at once", (socket) => socket.destroy(), "connect", "closed without an answer"],
    [
      "closes after the request",
      (socket) => socket.on("data", () => socket.end()),
      "connect",
      "closed without an answer",
    ],
    [
      "resets",
      (socket) => socket.on("data", () => socket.resetAndDestroy()),
      "connect",
      "closed without an answer",
    ],
    [
      "closes in the middle of the body",
      answering("HTTP/1.1 200 -\r\nContent-Length: 9\r\n\r\nhi"),
      "connect",
      "in the middle",
    ],
    [
      "closes in the middle of a chunk",
      answering("HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhi"),
      "connect",
      "in the middle",
    ],
    [
      "speaks another protocol",
      (socket) => socket.write("220 smtp ready\r\n"),
      "protocol",
      "is not HTTP",
    ],
    ["speaks HTTP/0.9", answering("<html>hi</html>"), "protocol", "is not HTTP"],
    [
      "names two lengths",
      answering("HTTP/1.1 200 -\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi"),
      "protocol",
      "is not HTTP",
    ],
    [
      "sends a header of 1 MB",
      answering(`HTTP/1.1 200 -\r\nX-A: ${"a".repeat(1 << 20)}\r\n\r\n`),
      "protocol",
      "headers of the answer are too large",
    ],
    [
      "sends headers without end",
      withoutEnd("HTTP/1.1 200 -\r\n", `X-A: ${"a".repeat(1000)}\r\n`),
      "protocol",
      "headers of the answer are too large",
    ],
    [
      "sends interim answers without end",
      withoutEnd("", "HTTP/1.1 100 -\r\n\r\n"),
      "protocol",
      "interim answers",
    ],
    [
      "switches protocols",
      answering("HTTP/1.1 101 -\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"),
      "protocol",
      "switched",
    ],
  ])("that %s is a fault", async (_what, onConnection, kind, message) => {
    const fault = faultOf(await send(onConnection));
    expect(fault.message).toContain(message);
    expect(fault.kind).toBe(kind as typeof fault.kind);
  });

  test("a server that never ends its body is read up to 256 KiB", async () => {
    const endless = withoutEnd("HTTP/1.1 200 -\r\n\r\n", "b".repeat(10_000));
    const answer = successOf(await send(endless));
    expect(answer).toMatchObject({ status: 200, isTruncated: true });
    expect(answer.sentBody.length).toBe(DEFAULT_BODY_MAX_BYTES);
  });

  test("a server that sends endless pieces of one byte does not cost more with each", async () => {
    const pieces = "1\r\nb\r\n".repeat(5_000);
    const endless = withoutEnd("HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n", pieces);
    const copied = spyOn(Buffer.prototype, "copy");
    try {
      const answer = successOf(await send(endless, { maxBodyBytes: 1_000 }));
      expect(answer).toMatchObject({ status: 200, isTruncated: true });
      expect(answer.sentBody.length).toBe(1_000);
      // One for each byte, and some for the buffer that grows.
      expect(copied.mock.calls.length).toBeLessThan(1_020);
    } finally {
      copied.mockRestore();
    }
  });

  test("a server that sends slowly is read until the deadline", async () => {
    const deadline = new AbortController();
    const dripping: OnConnection = (socket) =>
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 -\r\nContent-Length: 1000\r\n\r\n");
        let dripped = 0;
        const drip = setInterval(() => {
          socket.write("b");
          dripped += 1;
          if (dripped === 5) deadline.abort();
        }, 1);
        socket.on("close", () => clearInterval(drip));
      });
    const fault = faultOf(await send(dripping, { signal: deadline.signal }));
    expect(fault).toMatchObject({ kind: "timeout", message: "Timed out reading the answer." });
  });

  test("a server that sends nothing is waited for until the deadline", async () => {
    const deadline = new AbortController();
    const silent: OnConnection = (socket) => socket.on("data", () => deadline.abort());
    const fault = faultOf(await send(silent, { signal: deadline.signal }));
    expect(fault).toMatchObject({ kind: "timeout", message: "Timed out waiting for the answer." });
  });
});

describe("a compressed response body", () => {
  const compressed = (coding: string, body: Buffer) =>
    answering(httpAnswer(200, body.toString("latin1"), { "Content-Encoding": coding }));

  test.each([
    ["gzip", gzipSync("hello")],
    ["deflate", deflateSync("hello")],
    ["br", brotliCompressSync("hello")],
    ["identity", Buffer.from("hello")],
  ])("a compressed body is decompressed: %s", async (coding, body) => {
    const answer = successOf(await send(compressed(coding, body)));
    const { bytes, isTruncated } = successOf(await readBody(answer));
    expect(text(bytes)).toBe("hello");
    expect(isTruncated).toBe(false);
  });

  test.each([
    ["gzip", gzipSync],
    ["br", quickBrotli],
  ] as const)(
    "a body of 64 MB sent in a few KB is decompressed up to 256 KiB: %s",
    async (coding, compress) => {
      const bomb = compress(Buffer.alloc(64 << 20));
      const answer = successOf(await send(compressed(coding, bomb)));
      const { bytes, isTruncated } = successOf(await readBody(answer));
      expect(bytes.length).toBe(DEFAULT_BODY_MAX_BYTES);
      expect(isTruncated).toBe(true);
    },
  );

  test("a truncated compressed body is decompressed as far as possible", async () => {
    // Random, so that it stays longer than what is read.
    const body = gzipSync(crypto.getRandomValues(Buffer.alloc(60_000)).toString("hex").repeat(6));
    const answer = successOf(await send(compressed("gzip", body), { maxBodyBytes: 1_000 }));
    const { bytes, isTruncated } = successOf(await readBody(answer));
    expect(isTruncated).toBe(true);
    expect(bytes.length).toBeGreaterThan(100);
  });

  test.each([
    ["gzip", "this is not gzip", "not compressed as its header says"],
    ["zip-of-my-own", "abc", "compressed in a way that is not read"],
    ["gzip, zip-of-my-own", "abc", "compressed in a way that is not read"],
    ["gzip, gzip", "abc", "not compressed as its header says"],
    ["gzip, gzip, gzip, gzip, gzip, gzip", "abc", "compressed in a way that is not read"],
  ])("an invalid compressed body is a fault: %s", async (coding, body, message) => {
    const answer = successOf(await send(compressed(coding, Buffer.from(body))));
    const fault = faultOf(await readBody(answer));
    expect(fault.kind).toBe("protocol");
    expect(fault.message).toContain(message);
  });
});
