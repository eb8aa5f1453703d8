import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { zstdCompressSync } from "node:zlib";
import { createInstallation, type Installation, PROCESS_TEST_MS } from "../support/binary";
import { startDocker } from "../support/docker";
import { answering, startRawServer } from "../support/raw-server";
import { politeRelay, startScriptedRelay } from "../support/relay";
import { createServedMonitor } from "../support/served-monitor";
import { startGrpc } from "../support/servers/grpc";
import { startWebSocketServer } from "../support/servers/websocket";

/** ErrorResponse of PostgreSQL, ERR packet of MySQL, and CONNACK of MQTT. */
const POSTGRES_ERROR = Buffer.from("E\u0000\u0000\u0000\u0017SFATAL\0C28000\0Mno\0\0", "latin1");
const MYSQL_ERROR = Buffer.concat([
  Buffer.from([23, 0, 0, 0, 0xff, 0x10, 0x04]),
  Buffer.from("#08004too many users"),
]);
const CONNACK = Buffer.from([0x20, 2, 0, 0]);

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation();
}, PROCESS_TEST_MS);

afterAll(async () => {
  await installation[Symbol.asyncDispose]();
});

test(
  "the executable runs checks of all types that connect to a server",
  async () => {
    await using servers = new AsyncDisposableStack();
    const start = async <Server extends AsyncDisposable>(starting: Promise<Server>) =>
      servers.use(await starting);
    using docker = startDocker(() => Response.json({ State: { Status: "running" } }));
    const answering = (bytes: Uint8Array | string) =>
      start(
        startRawServer((socket) => {
          socket.once("data", () => void socket.write(bytes));
        }),
      );
    const greeting = (bytes: Uint8Array | string) =>
      start(startRawServer((socket) => void socket.write(bytes)));

    const { value: key } = await installation.createKey(["manage:monitors"]);
    const server = await installation.serve({
      env: { ALLCLEAR_DOCKER_HOSTS: `local=unix://${docker.path}` },
    });
    const check = async (type: string, config: object) => {
      const input = { type, name: type, interval_seconds: 3_600, config };
      const { outcome, message } = await (await createServedMonitor(server, key, input)).check();
      return { outcome, message };
    };
    const at = ({ port }: { port: number }) => ({ host: "127.0.0.1", port });
    const OK = { outcome: "ok", message: null };

    const redis = await answering("+PONG\r\n");
    expect(await check("redis", at(redis))).toEqual(OK);
    const relay = await start(startScriptedRelay(politeRelay()));
    expect(await check("smtp", { ...at(relay), tls: "off" })).toEqual(OK);
    expect(await check("ssh", at(await greeting("SSH-2.0-test\r\n")))).toEqual(OK);
    expect(await check("mqtt", at(await answering(CONNACK)))).toEqual(OK);
    expect(await check("grpc", at(await start(startGrpc({ "": 1 }))))).toEqual(OK);
    expect(await check("docker", { host: "local", container: "web" })).toEqual(OK);
    const { port } = await start(startWebSocketServer((socket) => socket.send("hello")));
    const url = `ws://127.0.0.1:${port}/`;
    expect(await check("websocket", { url, expected: "hello" })).toEqual(OK);

    const postgres = { ...at(await answering(POSTGRES_ERROR)), user: "monitor" };
    expect(await check("postgres", postgres)).toEqual({
      outcome: "failed",
      message: "The server refused the sign-in (28000: user, address or method not allowed).",
    });
    const mysql = { ...at(await greeting(MYSQL_ERROR)), user: "monitor" };
    expect(await check("mysql", mysql)).toEqual({
      outcome: "failed",
      message: "The server refused the sign-in (ER_CON_COUNT_ERROR).",
    });
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).not.toMatch(/warn|error/i);
  },
  2 * PROCESS_TEST_MS,
);

test(
  "the executable follows cookies, signs in, and reads character sets, codings and HTTP/2",
  async () => {
    const well = "\xd0\xe0\xe1\xee\xf2\xe0\xe5\xf2";
    const ok = (lines: string, body: string) =>
      `HTTP/1.1 200 OK\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`;
    await using target = await startRawServer(
      answering((request) => {
        const [, path] = request.split(" ");
        if (path === "/charset") {
          return ok("Content-Type: text/html\r\n", `<meta charset="windows-1251">${well}`);
        }
        if (path === "/coding") {
          return ok("Content-Encoding: zstd\r\n", zstdCompressSync("well").toString("latin1"));
        }
        if (path === "/digest" && !request.includes('Authorization: Digest username="monitor"')) {
          const ask = 'Digest realm="a", nonce="b", qop="auth", algorithm=SHA-256';
          return `HTTP/1.1 401 -\r\nWWW-Authenticate: ${ask}\r\nContent-Length: 0\r\n\r\n`;
        }
        if (path === "/cookie" && !request.includes("Cookie: a=1")) {
          const lines = "Set-Cookie: a=1; Path=/\r\nLocation: /cookie\r\n";
          return `HTTP/1.1 302 -\r\n${lines}Content-Length: 0\r\n\r\n`;
        }
        return ok("", "well");
      }),
    );
    const http2 = createServer((_request, response) => response.end("well"));
    await new Promise<void>((resolve) => http2.listen(0, "127.0.0.1", resolve));
    const { value: key } = await installation.createKey(["manage:monitors"]);
    const server = await installation.serve();
    const check = async (path: string, value = "well", more: object = {}) => {
      const url = URL.parse(path, `http://127.0.0.1:${target.port}`)?.href;
      const assertions = [{ source: "body", op: "contains", value }];
      const config = { url, assertions, ...more };
      const input = { type: "http", name: path.slice(0, 30), interval_seconds: 3_600, config };
      const { outcome, message } = await (await createServedMonitor(server, key, input)).check();
      return { outcome, message };
    };
    const OK = { outcome: "ok", message: null };
    try {
      expect(await check("/charset", "Работает")).toEqual(OK);
      expect(await check("/coding")).toEqual(OK);
      expect(await check("/cookie")).toEqual(OK);
      const digest = { username: "monitor", password: "s3cret" };
      expect(await check("/digest", "well", { digest })).toEqual(OK);
      const { port } = http2.address() as AddressInfo;
      expect(await check(`http://127.0.0.1:${port}/`)).toEqual(OK);
      expect(await server.stop()).toBe(0);
      expect(server.stderr()).not.toMatch(/warn|error/i);
    } finally {
      http2.close();
    }
  },
  2 * PROCESS_TEST_MS,
);
