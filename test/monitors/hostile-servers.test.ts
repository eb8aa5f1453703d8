import { describe, expect, test } from "bun:test";
import type { ProbeContext, ProbeResult } from "../../src/features/monitors/probe";
import { probe } from "../support/probe";
import { type OnConnection, startRawServer } from "../support/raw-server";
import {
  SERVER_SECRET,
  SERVER_TYPE_NAMES,
  SERVER_TYPES,
  type ServerType,
} from "../support/server-types";

const NAMES = { "db.test": [["127.0.0.1"]] };

function check(
  type: ServerType,
  { port }: { port: number },
  context: Partial<ProbeContext> = {},
): Promise<ProbeResult> {
  return probe(type, SERVER_TYPES[type]("db.test", port), { names: NAMES, context });
}

/** Writes without a pause until the connection is closed. */
const endless: OnConnection = (socket) => {
  const chunk = Buffer.alloc(64 * 1024, "220-x\r\n");
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", write);
  write();
};

/** Beginnings of answers of each protocol, and of none. */
const GARBAGE = [
  "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
  "SSH-2.0-OpenSSH_9.2\r\n",
  "220 mail.test ESMTP\r\n",
  "-ERR unknown command\r\n",
  "R\u0000\u0000\u0000\u0008\u0000\u0000\u0000\u0000T\u0000\u0000\u0000\u0006\u0000\u0001Z\u0000\u0000\u0000\u0005I",
  "D\u0000\u0000\u0000\u0006\u0000\u0001\u007f",
  "\u0020\u0002\u0000\u0000\u0030\u0003\u0000\u0001a",
  "\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0005\u0001",
  "\u004a\u0000\u0000\u0000\u000a5.7.0\u0000\u0001\u0000\u0000\u0000abcdefgh\u0000",
  "\u0001\u0000\u0000\u0000\u0001\u0001\u0000\u0000\u0001\u00fe",
  "\u0000".repeat(5_000),
  "\u00ff".repeat(5_000),
];

describe("checks of hostile servers", () => {
  for (const type of SERVER_TYPE_NAMES) {
    test(`a ${type} check of a closed port fails`, async () => {
      const server = await startRawServer(() => {});
      await server[Symbol.asyncDispose]();
      expect(await check(type, server)).toEqual({
        outcome: "failed",
        latencyMs: null,
        message: "The connection was refused.",
      });
    });

    test(`a ${type} check of a silent server ends at its deadline and closes the connection`, async () => {
      const deadline = new AbortController();
      await using server = await startRawServer(() => deadline.abort());
      const result = await check(type, server, { signal: deadline.signal });
      expect(result).toMatchObject({ outcome: "failed", latencyMs: null });
      expect(result.message).toStartWith("Timed out ");
      await server.allClosed();
      expect(server.connections()).toBe(1);
    });

    test(`a ${type} check of a server that closes the connection fails`, async () => {
      for (const close of ["end", "destroy", "resetAndDestroy"] as const) {
        await using server = await startRawServer((socket) => void socket[close]());
        const result = await check(type, server);
        expect(result).toMatchObject({ outcome: "failed", latencyMs: null });
        expect(result.message).toMatch(/^The connection was (closed|reset)/);
      }
    });

    test(`a ${type} check of a server that sends without end reads a limited part`, async () => {
      await using server = await startRawServer(endless);
      const result = await check(type, server);
      expect(result.outcome).toBe("failed");
      await server.allClosed();
    });

    test(`a ${type} check of a server with a foreign answer fails, and the process goes on`, async () => {
      for (const text of GARBAGE.filter((each) => type !== "ssh" || !each.startsWith("SSH-"))) {
        const deadline = new AbortController();
        await using server = await startRawServer((socket) => {
          socket.on("close", () => deadline.abort());
          socket.end(text, "latin1");
        });
        const { outcome, message } = await check(type, server, { signal: deadline.signal });
        expect({ text, outcome }).toEqual({ text, outcome: "failed" });
        expect(message).not.toContain(SERVER_SECRET);
        expect(server.connections()).toBe(1);
      }
    });

    test(`a ${type} check refuses an address that no monitor may reach`, async () => {
      await using server = await startRawServer(() => {});
      for (const address of ["169.254.169.254", "fd00:ec2::254", "0.0.0.0"]) {
        const config = SERVER_TYPES[type]("db.test", server.port);
        const result = await probe(type, config, {
          names: { "db.test": [[address, "127.0.0.1"]] },
        });
        expect(result.message).toStartWith("The host's address is ");
      }
      expect(server.connections()).toBe(0);
    });
  }
});
