import { describe, expect, test } from "bun:test";
import { createTestApp } from "../support/app";
import { commandLine } from "../support/command-line";
import { startRawServer } from "../support/raw-server";
import { temporaryFolder } from "../support/temporary-folder";

const READY = '{"status":"ok","writable":true,"reason":null}';
const NOT_READY = '{"type":"/docs/errors#unavailable","status":503,"code":"unavailable"}';

/** Starts a server that answers every request with this status and body, and records requested paths. */
function answering(status: number, body: string) {
  const urls: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      urls.push(`${request.method} ${new URL(request.url).pathname}`);
      return new Response(body, { status });
    },
  });
  return {
    urls,
    listen: `127.0.0.1:${server.port}`,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

describe("allclear healthcheck", () => {
  test("healthcheck exits with 0 and prints nothing if the server is ready", async () => {
    using folder = temporaryFolder();
    using server = answering(200, READY);
    const outcome = await commandLine(folder.path)(["healthcheck", "--listen", server.listen]);
    expect(outcome).toEqual({ exitCode: 0, out: [], err: [] });
    expect(server.urls).toEqual(["GET /readyz"]);
  });

  test("healthcheck exits with 1 if the server is not ready", async () => {
    using folder = temporaryFolder();
    using server = answering(503, NOT_READY);
    const { exitCode, err } = await commandLine(folder.path)(["healthcheck"], {
      ALLCLEAR_LISTEN: server.listen,
    });
    expect([exitCode, err]).toEqual([1, ["The server answered with status 503."]]);
  });

  test.each([
    ["nothing", 200, ""],
    ["a page", 200, "<!doctype html><title>It works</title>"],
    ["another status", 200, '{"status":"ok"}'],
    ["a list", 200, "[]"],
    ["null", 200, "null"],
    ["more than is read", 200, `${" ".repeat(200_000)}${READY}`],
    ["an error of a proxy", 503, "<title>503 Service Unavailable</title>"],
  ])("healthcheck exits with 1 if another program answers with %s", async (_, status, body) => {
    using folder = temporaryFolder();
    using server = answering(status, body);
    const { exitCode, err } = await commandLine(folder.path)(["healthcheck"], {
      ALLCLEAR_LISTEN: server.listen,
    });
    expect([exitCode, err]).toEqual([1, [`Another program answers at ${server.listen}.`]]);
  });

  test("healthcheck exits with 1 if another program that does not speak HTTP answers", async () => {
    using folder = temporaryFolder();
    await using server = await startRawServer((socket) => {
      socket.on("error", () => {});
      socket.write("SSH-2.0-OpenSSH_9.2\r\n");
    });
    const listen = `127.0.0.1:${server.port}`;
    const { exitCode, err } = await commandLine(folder.path)(["healthcheck", "--listen", listen]);
    expect([exitCode, err]).toEqual([1, [`Another program answers at ${listen}.`]]);
  });

  test("healthcheck knows the answers of a server that is ready, and of one that is not", async () => {
    await using app = await createTestApp();
    for (const expected of [0, 1]) {
      using folder = temporaryFolder();
      const { status, text } = await app.call("/readyz");
      using server = answering(status, text);
      const { exitCode, err } = await commandLine(folder.path)(["healthcheck"], {
        ALLCLEAR_LISTEN: server.listen,
      });
      expect(exitCode).toBe(expected);
      expect(err).toEqual(expected === 0 ? [] : ["The server answered with status 503."]);
      app.app.readiness.isDraining = true;
    }
  });

  test("healthcheck exits with 1 if no server listens", async () => {
    using folder = temporaryFolder();
    let listen: string;
    {
      using server = answering(200, READY);
      listen = server.listen;
    }
    const { exitCode, err } = await commandLine(folder.path)(["healthcheck", "--listen", listen]);
    expect(exitCode).toBe(1);
    expect(err[0]).toStartWith(`No server at ${listen}`);
  });
});
