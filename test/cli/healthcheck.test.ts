import { describe, expect, test } from "bun:test";
import { commandLine } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

/** Starts a server that answers every request with this status and records requested paths. */
function answering(status: number) {
  const urls: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      urls.push(`${request.method} ${new URL(request.url).pathname}`);
      return new Response(null, { status });
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
    using server = answering(200);
    const outcome = await commandLine(folder.path)(["healthcheck", "--listen", server.listen]);
    expect(outcome).toEqual({ exitCode: 0, out: [], err: [] });
    expect(server.urls).toEqual(["GET /readyz"]);
  });

  test("healthcheck exits with 1 if the server is not ready", async () => {
    using folder = temporaryFolder();
    using server = answering(503);
    const { exitCode, err } = await commandLine(folder.path)(["healthcheck"], {
      ALLCLEAR_LISTEN: server.listen,
    });
    expect([exitCode, err]).toEqual([1, ["The server answered with status 503."]]);
  });

  test("healthcheck exits with 1 if no server listens", async () => {
    using folder = temporaryFolder();
    let listen: string;
    {
      using server = answering(200);
      listen = server.listen;
    }
    const { exitCode, err } = await commandLine(folder.path)(["healthcheck", "--listen", listen]);
    expect(exitCode).toBe(1);
    expect(err[0]).toStartWith(`No server at ${listen}`);
  });
});
