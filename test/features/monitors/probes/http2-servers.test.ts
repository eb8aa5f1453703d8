import { afterAll, describe, expect, spyOn, test } from "bun:test";
import {
  createSecureServer,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import type { AddressInfo } from "node:net";
import type { HttpConfig } from "../../../../src/features/monitors/probes/http-config";
import { createTestEgress, successOf } from "../../../support/egress";
import { createHttpChecks } from "../../../support/http-check";
import { certificateText, startRawServer } from "../../../support/raw-server";
import { stepsOf } from "../../../support/steps";

const pem = await certificateText("good");
const requests: { method: string; headers: Http2ServerRequest["headers"]; body: string }[] = [];

/** Answers by path. */
function answer(request: Http2ServerRequest, response: Http2ServerResponse): void {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    const path = request.url;
    requests.push({ method: request.method, headers: request.headers, body });
    if (path === "/from") response.writeHead(302, { location: "/to", "set-cookie": "a=1" }).end();
    else if (path === "/endless") {
      response.writeHead(200);
      response.write("x".repeat(100));
    } else if (path === "/large") response.end("x".repeat(300_000));
    else response.end(`${request.method} well`);
  });
}

const clear = createServer(answer);
const secure = createSecureServer({ key: pem, cert: pem, allowHTTP1: false }, answer);
for (const server of [clear, secure]) {
  for (const event of ["sessionError", "tlsClientError", "clientError"]) server.on(event, () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

const BASES = [
  ["with TLS", `https://shop.test:${portOf(secure)}`],
  ["without TLS", `http://shop.test:${portOf(clear)}`],
] as const;

afterAll(() => {
  clear.close();
  secure.close();
});

const contains = (value: string): HttpConfig["assertions"] => [
  { source: "body", op: "contains", value },
];

describe.each(BASES)("a server that speaks only HTTP/2, %s", (_how, base) => {
  test("the server is checked by HTTP/2, with method, headers and body", async () => {
    const check = await createHttpChecks();
    const config: HttpConfig = {
      url: `${base}/?a=b`,
      method: "POST",
      headers: { "X-Key": "1" },
      body: "all",
      assertions: contains("POST well"),
    };
    expect(await check(config)).toMatchObject({ outcome: "ok", message: null });
    expect(requests.at(-1)).toMatchObject({
      method: "POST",
      body: "all",
      headers: { ":path": "/?a=b", ":authority": new URL(base).host, "x-key": "1", accept: "*/*" },
    });
  });

  test("redirects are followed with their cookies", async () => {
    const check = await createHttpChecks();
    const result = await check({ url: `${base}/from`, assertions: contains("GET well") });
    expect(result).toMatchObject({ outcome: "ok" });
    expect(requests.at(-1)?.headers["cookie"]).toBe("a=1");
  });

  test("a body has the limit that it has by HTTP/1.1, and one without end is not waited for", async () => {
    const check = await createHttpChecks();
    const url = `${base}/large`;
    expect((await check({ url, assertions: contains("y") })).message).toContain("first 256 KiB");
    const whole = { url, max_body_kb: 300, assertions: contains("y") };
    expect((await check(whole)).message).toBe("The body should contain “y”.");
    expect(await check({ url: `${base}/endless` })).toMatchObject({ outcome: "ok" });
  });

  test("the steps show both attempts", async () => {
    const steps = (await stepsOf("http", { url: `${base}/` })).join("\n");
    expect(steps).toMatch(/failed \| The server (does not speak HTTP\/1.1|speaks only HTTP\/2)\./);
    expect(steps).toContain("request | HTTP status 200, by HTTP/2");
  });
});

/** Frames of a server: its settings, a status of 200, and data with or without the end of the answer. */
const SETTINGS = Buffer.from("000000040000000000", "hex");
const STATUS_200 = Buffer.from("00000101040000000188", "hex");
const data = (text: string, flags: "00" | "01") =>
  Buffer.concat([Buffer.from(`00000400${flags}00000001`, "hex"), Buffer.from(text)]);

test.each([
  ["the last frame", data("half", "01"), { outcome: "ok" }],
  ["the end of the connection", data("half", "00"), { outcome: "failed", isUndecided: true }],
  [
    "the end of the connection within the last frame",
    data("half", "01").subarray(0, -2),
    { outcome: "failed", isUndecided: true },
  ],
] as const)("an answer ends with its last frame alone: %s", async (_end, frame, expected) => {
  await using server = await startRawServer((socket) => {
    socket.write(SETTINGS);
    socket.once("data", () => socket.end(Buffer.concat([STATUS_200, frame])));
  });
  const check = await createHttpChecks();
  const assertions: HttpConfig["assertions"] = [
    { source: "body", op: "not_contains", value: "error" },
  ];
  const url = `http://shop.test:${server.port}/`;
  expect(await check({ url, assertions })).toMatchObject(expected);
});

test("a request by HTTP/2 leaves no listener at the signal of its check", async () => {
  const { signal } = new AbortController();
  const added = spyOn(signal, "addEventListener");
  const removed = spyOn(signal, "removeEventListener");
  const { request } = await createTestEgress();
  const answer = successOf(await request(`http://127.0.0.1:${portOf(clear)}/`, { signal }));
  expect(answer.status).toBe(200);
  const abortListeners = ({ mock }: typeof added | typeof removed) =>
    mock.calls.map(([, listener]) => listener);
  expect(abortListeners(added).filter((each) => !abortListeners(removed).includes(each))).toEqual(
    [],
  );
});

test("a body in frames of one byte without end is not read", async () => {
  const frame = Buffer.from("00000100000000000178", "hex");
  const frames = Buffer.concat(Array.from({ length: 20_000 }, () => frame));
  await using server = await startRawServer((socket) => {
    socket.write(SETTINGS);
    socket.once("data", () => {
      socket.write(STATUS_200);
      const pour = () => {
        while (!socket.destroyed && socket.write(frames));
      };
      socket.on("drain", pour);
      pour();
    });
  });
  const check = await createHttpChecks();
  const url = `http://shop.test:${server.port}/`;
  const config = { url, max_body_kb: 4_096, assertions: contains("y") };
  expect(await check(config)).toMatchObject({ outcome: "failed", isUndecided: true });
  await server.allClosed();
});

test("a server that begins as HTTP/2 does and sends nonsense fails the check, and the process goes on", async () => {
  const frames = [
    Buffer.from("0000040500000000030000000000", "hex"),
    Buffer.from("00000001050000000300", "hex"),
    Buffer.alloc(5_000, 0xff),
  ];
  for (const frame of frames) {
    await using server = await startRawServer((socket) => {
      socket.write(SETTINGS);
      socket.once("data", () => socket.end(frame));
    });
    const check = await createHttpChecks();
    const result = await check({ url: `http://shop.test:${server.port}/` });
    expect(result).toMatchObject({ outcome: "failed", latencyMs: null });
    await server.allClosed();
  }
});
