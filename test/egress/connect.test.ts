import { describe, expect, test } from "bun:test";
import type { TLSSocket } from "node:tls";
import { createEgress } from "../../src/egress/egress";
import { createTestClock } from "../support/clock";
import type { OnConnection, RawServer } from "../support/raw-server";
import { startRawServer, startTlsServer } from "../support/raw-server";
import { createTestEgress, faultOf, patience, successOf } from "../support/egress";

const NAMES = {
  "shop.test": [["127.0.0.1"]],
  "other.test": [["127.0.0.1"]],
  localhost: [["127.0.0.1"]],
};

const silent: OnConnection = () => {};

async function connectTo(
  { port }: Pick<RawServer, "port">,
  { host = "localhost", verify = true, isTls = true, signal = patience() } = {},
) {
  const { egress } = await createTestEgress(NAMES);
  const tls = isTls ? { verify } : undefined;
  return egress.connect({ host, port, tls, policy: "monitor", signal });
}

/** Returns a port on which no server listens. */
async function closedPort(): Promise<number> {
  const server = await startRawServer(silent);
  await server[Symbol.asyncDispose]();
  return server.port;
}

describe("a TCP connection", () => {
  test("a TCP connection is opened to the given address and closed by the caller", async () => {
    await using server = await startRawServer(silent);
    const connection = successOf(await connectTo(server, { isTls: false }));
    expect(connection).toMatchObject({ address: "127.0.0.1", certificate: null });
    connection.close();
    await server.allClosed();
  });

  test("a refused TCP connection is a fault", async () => {
    const fault = faultOf(await connectTo({ port: await closedPort() }, { isTls: false }));
    expect(fault).toMatchObject({ kind: "connect", message: "The connection was refused." });
  });

  test("a TCP connection is tried to the next address if one refuses", async () => {
    await using server = await startRawServer(silent);
    const { egress } = await createTestEgress({ "two.test": [["127.0.0.2", "127.0.0.1"]] });
    const connection = successOf(
      await egress.connect({
        host: "two.test",
        port: server.port,
        policy: "monitor",
        signal: patience(),
      }),
    );
    expect(connection.address).toBe("127.0.0.1");
    connection.close();
  });

  test("a TCP connection is not begun after the deadline", async () => {
    await using server = await startRawServer(silent);
    const fault = faultOf(
      await connectTo(server, { host: "127.0.0.1", isTls: false, signal: AbortSignal.abort() }),
    );
    expect(fault).toMatchObject({ kind: "timeout", message: "Timed out connecting." });
    expect(server.connections()).toBe(0);
  });
});

describe("the certificate of a TLS connection", () => {
  test("a certificate is verified for the name without a trailing dot", async () => {
    const serverName = Promise.withResolvers<unknown>();
    await using server = await startTlsServer("good", (socket) => {
      serverName.resolve((socket as TLSSocket).servername);
    });
    const { egress } = await createTestEgress({ "shop.test.": [["127.0.0.1"]] });
    const connection = successOf(
      await egress.connect({
        host: "shop.test.",
        port: server.port,
        tls: { verify: true },
        policy: "monitor",
        signal: patience(),
      }),
    );
    expect(connection.certificate?.problem).toBeNull();
    expect(await serverName.promise).toBe("shop.test");
    connection.close();
  });

  test("a certificate of a trusted authority for the name is accepted and returned", async () => {
    await using server = await startTlsServer("good", silent);
    for (const host of ["localhost", "shop.test", "127.0.0.1"]) {
      const connection = successOf(await connectTo(server, { host }));
      connection.close();
      expect(connection.certificate).toEqual({
        host,
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        expiresAt: Date.UTC(2099, 0),
        intermediate: null,
        subject: "localhost",
        issuer: "Allclear test root",
        problem: null,
      });
    }
  });

  test.each([
    ["expired", "localhost", "The certificate expired on 2021-01-01."],
    ["self", "localhost", "The certificate is self-signed."],
    ["other", "localhost", "The certificate is for another name."],
    ["good", "other.test", "The certificate is for another name."],
    ["other", "127.0.0.1", "The certificate is for another name."],
  ] as const)(
    "a wrong certificate is a fault with its reason: %s for %s",
    async (name, host, message) => {
      await using server = await startTlsServer(name, silent);
      const fault = faultOf(await connectTo(server, { host }));
      expect(fault).toMatchObject({ kind: "tls", message, certificate: { problem: message } });
      await server.allClosed();
      const connection = successOf(await connectTo(server, { host, verify: false }));
      expect(connection.certificate?.problem).toBe(message);
      connection.close();
    },
  );

  test("a certificate of an unknown authority is a fault", async () => {
    await using server = await startTlsServer("good", silent);
    const distrusting = createEgress({ clock: createTestClock(), allowedNetworks: [] });
    const target = { host: "127.0.0.1", port: server.port, tls: { verify: true } };
    const fault = faultOf(
      await distrusting.connect({ ...target, policy: "monitor", signal: patience() }),
    );
    expect(fault.kind).toBe("tls");
    expect(fault.message).toContain("issuer is not known");
  });
});

describe("a TLS handshake", () => {
  test.each<[string, OnConnection, string]>([
    ["is closed at once", (socket) => socket.destroy(), "closed in the TLS handshake"],
    [
      "is reset after the hello",
      (socket) => socket.on("data", () => socket.resetAndDestroy()),
      "closed in the TLS handshake",
    ],
    [
      "meets plain text",
      (socket) => socket.on("data", () => socket.end("HTTP/1.1 400 Bad\r\n\r\n")),
      "does not speak TLS",
    ],
    ["meets nonsense", (socket) => socket.on("data", () => socket.end(Buffer.alloc(64, 7))), "."],
  ])("that %s is a fault", async (_what, onConnection, message) => {
    await using server = await startRawServer(onConnection);
    const fault = faultOf(await connectTo(server));
    expect(fault.kind).toBe("tls");
    expect(fault.message).toContain(message);
    await server.allClosed();
  });

  test("a TLS handshake without an answer ends with the deadline", async () => {
    const deadline = new AbortController();
    await using server = await startRawServer((socket) =>
      socket.on("data", () => deadline.abort()),
    );
    const fault = faultOf(await connectTo(server, { signal: deadline.signal }));
    expect(fault).toMatchObject({ kind: "timeout", message: "Timed out in the TLS handshake." });
    await server.allClosed();
  });
});
