import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import {
  createInstallation,
  holds,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "../support/binary";
import { createServedMonitor, repeatUntil } from "../support/served-monitor";
import { startTarget } from "../support/target";

const DESCRIPTORS = 128;
const CONNECTIONS = 200;
const RECONNECT_MS = 100;
/** Equal numbers of descriptors in a row, 20 ms apart, after which a start counts as done. */
const SETTLED_LOOKS = 30;
const HALF_A_REQUEST = "GET / HTTP/1.1\r\nHost:";

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
}, PROCESS_TEST_MS);

afterEach(async () => {
  await installation[Symbol.asyncDispose]();
});

/** Opens a connection that sends this and then nothing more. */
function openConnection({ port }: Server, sent: string, onClose: () => void): Socket {
  const socket = connect(port, "127.0.0.1", () => socket.write(sent));
  socket.on("data", () => {});
  socket.on("error", () => {});
  socket.on("close", onClose);
  return socket;
}

/** Holds connections that send this and then nothing more, and opens each again that the server closes. */
function startFlood(server: Server, sent: string) {
  const sockets = new Set<Socket>();
  let isOver = false;
  let closed = 0;
  const open = () => {
    if (isOver) return;
    const socket = openConnection(server, sent, () => {
      closed += 1;
      sockets.delete(socket);
      setTimeout(open, RECONNECT_MS);
    });
    sockets.add(socket);
  };
  for (let count = 0; count < CONNECTIONS; count++) open();
  return {
    closed: () => closed,
    end() {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

function usedDescriptors({ pid }: Server): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Waits until the number of descriptors stays the same: a server that is ready closes files of its start. */
async function settledDescriptors(server: Server): Promise<number> {
  let used = 0;
  let looks = 0;
  const isSettled = await holds(async () => {
    const now = usedDescriptors(server);
    looks = now === used ? looks + 1 : 0;
    used = now;
    return looks >= SETTLED_LOOKS;
  });
  if (!isSettled) throw new Error("the number of descriptors did not settle");
  return used;
}

describe("a server with more connections than file descriptors", () => {
  test.each([
    ["that send nothing", ""],
    ["that send half a request", HALF_A_REQUEST],
    ["that stay open after their request", "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
  ])(
    "the server closes those %s, reports no target as down and continues to answer",
    async (_, sent) => {
      using target = startTarget(Date.now);
      // It asks for checks without a pause: a lower limit would be reached on a fast machine, and its end waited for.
      const limit = ["--rate-limit", "100000"];
      const { value: key } = await installation.createKey(["manage:monitors"], ...limit);
      const server = await installation.serve({ descriptors: DESCRIPTORS });
      const monitor = await createServedMonitor(server, key, {
        type: "http",
        name: "Target",
        interval_seconds: 5,
        retry_interval_seconds: 1,
        failure_threshold: 1,
        config: {
          url: target.url,
          assertions: [{ source: "header", property: "Date", op: "matches", value: "GMT$" }],
        },
      });
      const flood = startFlood(server, sent);
      const outcomes = new Set<string>();
      const isShort = async () => outcomes.has("unknown") && flood.closed() >= CONNECTIONS;
      await repeatUntil(holds(isShort), async () => {
        // The server may close this connection as well.
        const checked = await monitor.check().catch(() => undefined);
        if (checked) outcomes.add(checked.outcome);
      });
      flood.end();
      expect(flood.closed()).toBeGreaterThanOrEqual(CONNECTIONS);
      const isAnswering = async () => (await server.fetch("/readyz").catch(() => undefined))?.ok;
      expect(await holds(async () => (await isAnswering()) === true)).toBe(true);
      // The server may close all connections once more.
      const isWell = async () => (await monitor.check().catch(() => undefined))?.outcome === "ok";
      expect(await holds(isWell)).toBe(true);
      let all: string[] = [];
      const isListed = async () => {
        all = await monitor.outcomes().catch(() => []);
        return all.length > 0;
      };
      expect(await holds(isListed)).toBe(true);
      expect(all).toContain("unknown");
      expect(all).not.toContain("failed");
      expect(await server.stop()).toBe(0);
    },
    PROCESS_TEST_MS,
  );

  test(
    "the server closes all connections even if one that was accepted early has ended",
    async () => {
      const server = await installation.serve({ descriptors: DESCRIPTORS });
      const count = DESCRIPTORS - (await settledDescriptors(server));
      let closed = 0;
      const sockets = Array.from({ length: count }, () =>
        openConnection(server, HALF_A_REQUEST, () => void (closed += 1)),
      );
      expect(await holds(async () => usedDescriptors(server) >= DESCRIPTORS)).toBe(true);
      sockets[0]?.destroy();
      // Without traffic, the runtime would end half requests by itself.
      const sendMore = () => {
        for (const socket of sockets) if (socket.writable) socket.write("x");
      };
      const sending = setInterval(sendMore, 1_000);
      expect(await holds(async () => closed === count)).toBe(true);
      clearInterval(sending);
      expect(server.stderr()).toContain("closing all connections");
      expect((await server.fetch("/readyz")).status).toBe(200);
      expect(await server.stop()).toBe(0);
    },
    PROCESS_TEST_MS,
  );

  test(
    "a push monitor is not down while its job could not connect, and is down later without a heartbeat",
    async () => {
      const { value: key } = await installation.createKey(["manage:monitors"]);
      const server = await installation.serve({ descriptors: DESCRIPTORS });
      const monitor = await createServedMonitor(server, key, {
        type: "push",
        name: "Job",
        interval_seconds: 5,
        failure_threshold: 1,
        config: { grace_seconds: 1 },
      });
      const flood = startFlood(server, HALF_A_REQUEST);
      expect(await holds(async () => flood.closed() >= CONNECTIONS)).toBe(true);
      flood.end();
      const hasOutcome = (desired: string) =>
        holds(async () => {
          const [outcome] = await monitor.outcomes().catch(() => []);
          return outcome === desired;
        });
      expect(await hasOutcome("unknown")).toBe(true);
      expect(await monitor.state()).toBe("no_data");
      expect(await hasOutcome("failed")).toBe(true);
      expect((await monitor.outcomes()).toReversed()[0]).toBe("unknown");
      expect(await server.stop()).toBe(0);
    },
    PROCESS_TEST_MS,
  );
});
