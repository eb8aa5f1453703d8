import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import tls from "node:tls";
import { createTestEgress, faultOf, patience, successOf } from "../support/egress";
import {
  type OnConnection,
  type RawServer,
  startRawServer,
  startTlsServer,
} from "../support/raw-server";

const NAMES = { "db.test": [["127.0.0.1"]], localhost: [["127.0.0.1"]] };

/** Opens a socket to a server on loopback. */
async function open({ port }: Pick<RawServer, "port">, host = "db.test") {
  const { egress } = await createTestEgress(NAMES);
  return successOf(await egress.socket({ host, port, policy: "monitor", signal: patience() }));
}

describe("a handed socket", () => {
  test("a handed socket reads and writes, and reports itself as connected whatever is dialled", async () => {
    await using server = await startRawServer((socket) => {
      socket.on("data", (chunk: Buffer) => void socket.write(`you said ${chunk.toString()}`));
    });
    const socket = (await open(server)).hand(1_000);
    const connected = once(socket, "connect");
    expect(socket.connect()).toBe(socket);
    await connected;
    const answer = once(socket, "data");
    socket.write("hello");
    expect(String(await answer)).toBe("you said hello");
    expect(socket.fault).toBeUndefined();
    expect(socket.bytesLeft).toBe(1_000 - "you said hello".length);
    socket.destroy();
    await server.allClosed();
    expect(server.connections()).toBe(1);
  });

  test("a handed socket ends at its limit", async () => {
    await using server = await startRawServer((socket) => void socket.write("x".repeat(11)));
    const socket = (await open(server)).hand(10);
    const closed = once(socket, "close");
    socket.resume();
    await closed;
    expect(socket.fault?.message).toBe("The server sent more than a check reads.");
    await server.allClosed();
  });

  test("an error that a reader throws ends the handed socket and not the process", async () => {
    await using server = await startRawServer((socket) => void socket.write("x"));
    const socket = (await open(server)).hand(10);
    const closed = once(socket, "close");
    socket.on("data", () => {
      throw new Error("unreadable s3cret");
    });
    await closed;
    expect(socket.fault?.message).toBe("The server's answer could not be read.");
  });

  test("a handed socket tells that the server has closed the connection", async () => {
    await using server = await startRawServer((socket) => void socket.end("bye"));
    const socket = (await open(server)).hand(10);
    const closed = once(socket, "close");
    socket.resume();
    await closed;
    expect(socket.fault?.message).toBe("The connection was closed.");
  });

  test("a released socket can begin TLS, whose certificate is judged and dated", async () => {
    const plain: OnConnection = (socket) => {
      socket.once("data", () => {
        socket.write("go");
        socket.removeAllListeners("data");
        const certificate = tlsContext();
        const secured = new tls.TLSSocket(socket, { isServer: true, secureContext: certificate });
        secured.on("error", () => {});
        secured.on("data", (chunk: Buffer) => void secured.write(chunk));
      });
    };
    const pem = await Bun.file(new URL("../support/certificates/good.pem", import.meta.url)).text();
    const tlsContext = () => tls.createSecureContext({ key: pem, cert: pem });
    await using server = await startRawServer(plain);
    for (const [host, isTrusted] of [
      ["localhost", true],
      ["db.test", false],
    ] as const) {
      const opened = await open(server, host);
      const socket = opened.hand(100);
      const consent = once(socket, "data");
      socket.write("tls?");
      expect(String(await consent)).toBe("go");
      socket.release();
      const secured = await opened.secure({ verify: true, signal: patience() });
      if (!isTrusted) {
        expect(faultOf(secured)).toMatchObject({ kind: "tls" });
        expect(faultOf(secured).certificate?.expiresAt).toBe(Date.parse("2099-01-01T00:00:00Z"));
        continue;
      }
      const { socket: stream, certificate } = successOf(secured);
      expect(certificate?.expiresAt).toBe(Date.parse("2099-01-01T00:00:00Z"));
      const echo = once(stream, "data");
      stream.write("secret");
      expect(String(await echo)).toBe("secret");
      stream.destroy();
    }
    await server.allClosed();
  });

  test("TLS on a handed socket ends at the deadline", async () => {
    await using server = await startRawServer(() => {});
    const opened = await open(server);
    const deadline = new AbortController();
    const securing = opened.secure({ verify: true, signal: deadline.signal });
    deadline.abort();
    expect(faultOf(await securing).message).toBe("Timed out in the TLS handshake.");
    await server.allClosed();
  });

  test("TLS that would begin after the deadline closes the connection", async () => {
    await using server = await startRawServer(() => {});
    const opened = await open(server);
    const secured = await opened.secure({ verify: true, signal: AbortSignal.abort() });
    expect(faultOf(secured).message).toBe("Timed out in the TLS handshake.");
    expect(opened.socket.destroyed).toBe(true);
    await server.allClosed();
  });

  test("TLS with a protocol that the server does not offer fails", async () => {
    await using server = await startTlsServer("good", () => {});
    const { egress } = await createTestEgress(NAMES);
    const socket = successOf(
      await egress.socket({
        host: "localhost",
        port: server.port,
        tls: { verify: true, protocols: ["h2"] },
        policy: "monitor",
        signal: patience(),
      }),
    );
    expect((socket.socket as tls.TLSSocket).alpnProtocol).not.toBe("h2");
    socket.socket.destroy();
  });
});
