import { afterEach, describe, expect, mock, spyOn, test } from "bun:test";
import { Socket } from "node:net";
import { PlainSockets, type RequestSocket } from "../../src/egress/plain-socket";
import { faultOf, patience, successOf, createTestEgress } from "../support/egress";
import { httpAnswer, type OnConnection, startRawServer } from "../support/raw-server";

/** Sends a request without TLS to a server. */
async function ask(onConnection: OnConnection, { body = "", host = "127.0.0.1" } = {}) {
  await using server = await startRawServer(onConnection);
  const { egress } = await createTestEgress({});
  const url = new URL(`http://${host}:${server.port}/`);
  const request = { url, method: "POST", body, policy: "monitor", signal: patience() } as const;
  const outcome = await egress.request(request);
  await server.allClosed();
  return outcome;
}

describe("a request without TLS", () => {
  test("a body that the system does not take at once is sent whole", async () => {
    const body = "b".repeat(16 * 1024 * 1024);
    let received = 0;
    const answer = await ask(
      (socket) => {
        socket.pause();
        setImmediate(() => socket.resume());
        socket.on("data", (chunk) => {
          received += chunk.length;
          if (chunk.at(-1) === 0x62 && received > body.length) socket.end(httpAnswer(200, "read"));
        });
      },
      { body },
    );
    expect(Buffer.from(successOf(answer).sentBody).toString()).toBe("read");
    expect(received).toBeGreaterThan(body.length);
  });

  test("an answer that begins before the request is read", async () => {
    for (let times = 0; times < 50; times += 1) {
      const answer = await ask((socket) => void socket.write(httpAnswer(200, "early")));
      expect(Buffer.from(successOf(answer).sentBody).toString()).toBe("early");
    }
  });

  test("a body without a length that a reset ends is not taken for a whole one", async () => {
    const answer = await ask((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\nhalf");
        setImmediate(() => socket.resetAndDestroy());
      });
    });
    expect(faultOf(answer)).toMatchObject({ kind: "connect", isUndecided: true });
  });

  test("a body without a length ends with the connection", async () => {
    const answer = await ask((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\n\r\nwhole"));
    });
    expect(Buffer.from(successOf(answer).sentBody).toString()).toBe("whole");
  });

  test("a connection that is closed before an answer is a fault", async () => {
    const answer = await ask((socket) => void socket.end());
    expect(faultOf(answer).message).toBe("The connection was closed without an answer.");
  });
});

describe("plain sockets that are given up before they open", () => {
  afterEach(() => mock.restore());

  /** Sockets of `Bun.connect` that never open by themselves. */
  function watchDials() {
    const dials: { options: { socket: Bun.SocketHandler }; fail: (error: Error) => void }[] = [];
    spyOn(Bun, "connect").mockImplementation(((options: never) => {
      const { promise, reject } = Promise.withResolvers();
      dials.push({ options, fail: reject });
      return promise;
    }) as never);
    return dials;
  }

  function giveUp(sockets: PlainSockets): RequestSocket {
    const socket = sockets.connect("127.0.0.1", 1);
    socket.on("error", () => {});
    socket.destroy();
    return socket;
  }

  test("a connection that opens later is closed without an event", () => {
    const dials = watchDials();
    const socket = giveUp(new PlainSockets());
    const onConnect = mock();
    socket.once("connect", onConnect);
    const end = mock();
    dials[0]?.options.socket.open?.({ end } as never);
    expect(end).toHaveBeenCalledTimes(1);
    expect(onConnect).not.toHaveBeenCalled();
  });

  test("sockets of node:net are used while 64 have not opened, also before they are given up", async () => {
    const dials = watchDials();
    const sockets = new PlainSockets();
    const dial = () => {
      const socket = sockets.connect("127.0.0.1", 1);
      socket.on("error", () => {});
      return socket;
    };
    const dialled = Array.from({ length: 65 }, dial);
    expect(dialled.map((socket) => socket instanceof Socket)).toEqual([
      ...Array.from({ length: 64 }, () => false),
      true,
    ]);
    for (const socket of dialled) socket.destroy();
    // The system still holds those that were given up.
    expect(giveUp(sockets)).toBeInstanceOf(Socket);
    expect(dials).toHaveLength(64);
    dials[0]?.fail(new Error("timed out"));
    await Promise.resolve();
    expect(giveUp(sockets)).not.toBeInstanceOf(Socket);
  });
});
