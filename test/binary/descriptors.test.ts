import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import {
  createInstallation,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "../support/binary";
import { startTarget } from "../support/target";

const DESCRIPTORS = 128;
const CONNECTIONS = 200;

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
}, PROCESS_TEST_MS);

afterEach(async () => {
  await installation[Symbol.asyncDispose]();
});

/** Opens connections that send this and then nothing more. Resolves once the server closed them all. */
async function holdUntilClosed({ port }: Server, sent: string): Promise<void> {
  const closed = Array.from({ length: CONNECTIONS }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket: Socket = connect(port, "127.0.0.1", () => socket.write(sent));
    socket.on("data", () => {});
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    return promise;
  });
  await Promise.all(closed);
}

describe("a server whose connections are more than its file descriptors", () => {
  test.each([
    ["that send nothing", ""],
    ["that send half a request", "GET / HTTP/1.1\r\nHost:"],
    ["that stay open after their request", "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
  ])(
    "closes those %s, calls no target down and goes on answering",
    async (_, sent) => {
      using target = startTarget(Date.now);
      const { value: key } = await installation.createKey(["manage:monitors"]);
      const server = await installation.serve({ descriptors: DESCRIPTORS });
      const created = await server.fetch("/api/v1/monitors", {
        method: "POST",
        key,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          type: "http",
          name: "Target",
          interval_seconds: 5,
          retry_interval_seconds: 1,
          failure_threshold: 1,
          config: {
            url: target.url,
            assertions: [{ source: "header", property: "Date", op: "matches", value: "GMT$" }],
          },
        }),
      });
      const { id } = (await created.json()) as { id: string };
      await holdUntilClosed(server, sent);
      expect((await server.fetch("/readyz")).status).toBe(200);
      const path = `/api/v1/monitors/${id}`;
      const checked = await server.fetch(`${path}/check`, { method: "POST", key });
      expect(await checked.json()).toMatchObject({ outcome: "ok", message: null });
      const checks = await (await server.fetch(`${path}/checks`, { key })).json();
      const outcomes = (checks as { data: { outcome: string }[] }).data.map((one) => one.outcome);
      expect(outcomes).not.toContain("failed");
      expect(await server.stop()).toBe(0);
    },
    PROCESS_TEST_MS,
  );
});
