import { describe, expect, test } from "bun:test";
import { type OnConnection, startRawServer } from "../../../support/raw-server";
import {
  CHECKED_TYPES,
  checkServerOf,
  type CheckedType,
  SERVER_SECRET,
} from "../../../support/server-types";

/** Types whose server speaks first. */
const GREETED: ReadonlySet<CheckedType> = new Set(["mysql", "smtp", "ssh"]);

/** A part of an answer that could be a right one: its beginning, and what may follow for long. */
const UNFINISHED: Record<CheckedType, [beginning: string, rest: string]> = {
  postgres: ["R\u007f\u00ff\u00ff\u00ff", "\0"],
  mysql: ["\u00ff\u00ff\u00ff\0\u000a8.0.36", "x"],
  redis: ["$999999999\r\n", "x"],
  mqtt: ["\u0020\u0002\0\0\u0030\u00ff\u00ff\u00ff\u007f\0\u0001a", "x"],
  smtp: ["220-mail", "x"],
  ssh: ["welcome", "x"],
  grpc: ["\0\u003f\u00fc\u0004\0\0\0\0\0", "\0"],
  websocket: ["HTTP/1.1 101 Switching Protocols\r\nX: ", "x"],
  docker: ["HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n{", " "],
  domain: ["HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n{", " "],
};

/** Messages about an answer without end, where they are not that of most types. */
const ENDLESS: Partial<Record<CheckedType, string>> = {
  // Its frames are of limited length, and what follows the first one is none.
  grpc: "The server did not answer as a gRPC server does.",
  // The headers of an answer have a limit of their own.
  websocket: "The server did not answer as a WebSocket server does.",
  docker: "Docker's answer is longer than a check reads.",
  domain: "The registry's answer is longer than a check reads.",
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

/** Number of single bytes of a slow answer. */
const DRIPS = 50;

/** Answers by `answer` when a server of the type would. */
function answeringAs(type: CheckedType, answer: OnConnection): OnConnection {
  return (socket) => {
    if (GREETED.has(type)) answer(socket);
    else socket.once("data", () => answer(socket));
  };
}

describe("checks of hostile servers", () => {
  for (const type of CHECKED_TYPES) {
    // A registry that does not answer says nothing about the domain.
    const outcome = type === "domain" ? "unknown" : "failed";
    const [beginning, rest] = UNFINISHED[type];

    test(`a ${type} check of a closed port fails`, async () => {
      const server = await startRawServer(() => {});
      await server[Symbol.asyncDispose]();
      const result = await checkServerOf(type, server);
      expect(result).toMatchObject({ outcome, latencyMs: null });
      expect(result.message).toEndWith("The connection was refused.");
    });

    test(`a ${type} check of a silent server ends at its deadline and closes the connection`, async () => {
      const deadline = new AbortController();
      await using server = await startRawServer(() => deadline.abort());
      const context = { signal: deadline.signal };
      const result = await checkServerOf(type, server, { context });
      expect(result).toMatchObject({ outcome, latencyMs: null });
      expect(result.message).toContain("Timed out ");
      await server.allClosed();
      expect(server.connections()).toBe(1);
    });

    test(`a ${type} check of a server that closes the connection fails`, async () => {
      for (const close of ["end", "destroy", "resetAndDestroy"] as const) {
        await using server = await startRawServer((socket) => void socket[close]());
        const result = await checkServerOf(type, server);
        expect(result).toMatchObject({ outcome, latencyMs: null });
        expect(result.message).toMatch(/The connection was (closed|reset)/);
      }
    });

    test(`a ${type} check of a server that stops in the middle of an answer fails`, async () => {
      for (const stop of ["end", "resetAndDestroy"] as const) {
        await using server = await startRawServer(
          answeringAs(type, (socket) => {
            socket.write(beginning + rest, "latin1", () => void socket[stop]());
          }),
        );
        const result = await checkServerOf(type, server);
        expect(result).toMatchObject({ outcome, latencyMs: null });
        expect(result.message).toMatch(/The connection (was closed|was reset|broke) (while|in) /);
        await server.allClosed();
        expect(server.connections()).toBe(1);
      }
    });

    test(`a ${type} check of a server that sends without end reads a limited part`, async () => {
      const chunk = Buffer.alloc(64 * 1024, rest);
      await using server = await startRawServer(
        answeringAs(type, (socket) => {
          const write = () => {
            while (!socket.destroyed && socket.write(chunk));
          };
          socket.on("drain", write);
          socket.write(beginning, "latin1");
          write();
        }),
      );
      expect(await checkServerOf(type, server)).toMatchObject({
        outcome,
        message: ENDLESS[type] ?? "The server sent more than a check reads.",
      });
      await server.allClosed();
    });

    test(`a ${type} check of a server that sends byte by byte ends at its deadline`, async () => {
      const deadline = new AbortController();
      await using server = await startRawServer(
        answeringAs(type, (socket) => {
          let left = DRIPS;
          const drip = () => {
            left -= 1;
            if (left < 0) deadline.abort();
            else socket.write(rest, "latin1", () => setImmediate(drip));
          };
          socket.write(beginning, "latin1", drip);
        }),
      );
      const context = { signal: deadline.signal };
      const result = await checkServerOf(type, server, { context });
      expect(result).toMatchObject({ outcome, latencyMs: null });
      expect(result.message).toContain("Timed out ");
      await server.allClosed();
    });

    test(`a ${type} check of a server with a foreign answer fails, and the process goes on`, async () => {
      for (const text of GARBAGE.filter((each) => type !== "ssh" || !each.startsWith("SSH-"))) {
        const deadline = new AbortController();
        await using server = await startRawServer((socket) => {
          socket.on("close", () => deadline.abort());
          socket.end(text, "latin1");
        });
        const context = { signal: deadline.signal };
        const { outcome: found, message } = await checkServerOf(type, server, { context });
        expect({ text, outcome: found }).toEqual({ text, outcome });
        expect(message).not.toContain(SERVER_SECRET);
        expect(server.connections()).toBe(1);
      }
    });

    test(`a ${type} check refuses an address that no monitor may reach`, async () => {
      await using server = await startRawServer(() => {});
      for (const address of ["169.254.169.254", "fd00:ec2::254", "0.0.0.0"]) {
        const addresses = [address, "127.0.0.1"];
        const result = await checkServerOf(type, server, { addresses });
        expect(result.message).toContain("The host's address is ");
      }
      expect(server.connections()).toBe(0);
    });
  }
});
