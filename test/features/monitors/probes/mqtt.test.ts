import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { AssertionEvaluator } from "../../../../src/features/monitors/assertions/evaluator";
import { probeOf } from "../../../../src/features/monitors/probes";
import { createFakeThreads } from "../../../support/assertion-threads";
import { checkOf } from "../../../support/check";
import { createTestClock } from "../../../support/clock";
import { startRawServer } from "../../../support/raw-server";
import {
  MOSQUITTO_PROGRAMS,
  MQTT_PASSWORD,
  publish,
  startMosquitto,
} from "../../../support/servers/mosquitto";
import { stepsOf } from "../../../support/steps";
import { CERTIFICATES, describeWithServer } from "../../../support/servers/server-process";

const check = checkOf("mqtt", {
  user: "monitor",
  password: MQTT_PASSWORD,
  allow_plain_password: true,
});

const MOSQUITTO = { programs: MOSQUITTO_PROGRAMS, start: () => startMosquitto() };

describeWithServer("MQTT checks of Mosquitto", MOSQUITTO, (broker) => {
  test("an MQTT check shows its sign-in and the message as steps", async () => {
    const { port } = broker();
    const config = { host: "localhost", port, user: "monitor", password: MQTT_PASSWORD };
    const until = ["look_up | localhost: 127.0.0.1", "connect | 127.0.0.1:PORT", "sign_in"];
    expect(await stepsOf("mqtt", config)).toEqual(until);
    await publish(broker(), "jobs/steps", "ready", true);
    expect(await stepsOf("mqtt", { ...config, topic: "jobs/steps" })).toEqual([
      ...until,
      "message",
    ]);
  });

  test("an MQTT check without a topic succeeds once the broker accepts the connection", async () => {
    expect(await check(broker())).toEqual({ outcome: "ok", latencyMs: 0, message: null });
  });

  test("an MQTT check fails with a wrong password, by the broker's code alone", async () => {
    const wrong = await check(broker(), { password: "wr0ng-s3cret" });
    expect(wrong).toEqual({
      outcome: "failed",
      latencyMs: 0,
      message: "The broker refused the connection (not authorised).",
    });
  });

  test("an MQTT check succeeds with a retained message that meets the conditions", async () => {
    await publish(broker(), "public/kitchen", '{"value": 21.5}', true);
    const topic = "public/+";
    expect(await check(broker(), { topic })).toMatchObject({ outcome: "ok", message: null });
    const below = (value: number) => ({
      topic,
      assertions: [{ source: "json", property: "$.value", op: "lt", value }],
    });
    expect(await check(broker(), below(30))).toMatchObject({ outcome: "ok" });
    const body = [{ source: "body", op: "contains", value: "21.5" }];
    expect(await check(broker(), { topic, assertions: body })).toMatchObject({ outcome: "ok" });
  });
});

for (const certificate of CERTIFICATES) {
  const start = { programs: MOSQUITTO_PROGRAMS, start: () => startMosquitto(certificate) };
  describeWithServer(`MQTT checks with the certificate “${certificate}”`, start, (broker) => {
    test(`an MQTT check judges the certificate “${certificate}”, and dates it`, async () => {
      const verified = await check(broker(), { tls: "verify" });
      expect(verified.outcome).toBe(certificate === "good" ? "ok" : "failed");
      expect(verified.certificate?.expiresAt).toBeNumber();
      expect((await check(broker(), { tls: "require" })).outcome).toBe("ok");
    });
  });
}

/** Starts a broker that accepts everything, and calls `onSubscribed` with a function that sends a message. */
async function startBroker(onSubscribed: (send: (letter: string) => void, socket: Socket) => void) {
  const subscribed = Promise.withResolvers<void>();
  const broker = await startRawServer((socket) => {
    socket.once("data", () => void socket.write(Buffer.from([0x20, 2, 0, 0])));
    socket.on("data", (bytes: Buffer) => {
      if (bytes[0] !== 0x82) return;
      socket.write(Buffer.from([0x90, 3, bytes[2] ?? 0, bytes[3] ?? 0, 0]));
      onSubscribed(
        (letter) => void socket.write(Buffer.from(`\u0030\u0004\u0000\u0001a${letter}`)),
        socket,
      );
      subscribed.resolve();
    });
  });
  return Object.assign(broker, { subscribed: subscribed.promise });
}

/** Sends bytes in pieces of `size`, each in a turn of the event loop. */
async function sendInPieces(socket: Socket, bytes: Buffer, size: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += size) {
    socket.write(bytes.subarray(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("MQTT checks", () => {
  test("a refused MQTT connection is reported by its return code", async () => {
    const messages = [
      [1, "protocol version"],
      [2, "client identifier"],
      [3, "server unavailable"],
      [4, "user name or password"],
      [5, "not authorised"],
    ] as const;
    for (const [code, reason] of messages) {
      await using broker = await startRawServer((socket) => {
        socket.once("data", () => void socket.write(Buffer.from([0x20, 2, 0, code])));
      });
      const message = `The broker refused the connection (${reason}).`;
      expect(await check(broker)).toMatchObject({ outcome: "failed", message });
    }
  });

  test("a refused MQTT subscription fails the check", async () => {
    await using broker = await startRawServer((socket) => {
      socket.once("data", () => void socket.write(Buffer.from([0x20, 2, 0, 0])));
      socket.on("data", (bytes: Buffer) => {
        if (bytes[0] === 0x82) {
          socket.write(Buffer.from([0x90, 3, bytes[2] ?? 0, bytes[3] ?? 0, 0x80]));
        }
      });
    });
    expect(await check(broker, { topic: "a" })).toMatchObject({
      outcome: "failed",
      message: "The broker refused the subscription.",
    });
  });

  test("messages that do not meet the conditions are ignored until the deadline", async () => {
    const assertions = [{ source: "body", op: "eq", value: "y" }];
    const config = { topic: "a", assertions };
    await using first = await startBroker((send) => {
      send("x");
      send("y");
    });
    expect(await check(first, config)).toMatchObject({ outcome: "ok" });
    const deadline = new AbortController();
    await using second = await startBroker((send) => send("x"));
    const waiting = check(second, config, { signal: deadline.signal });
    await second.subscribed;
    deadline.abort();
    expect((await waiting).message).toMatch(/^Timed out waiting for a message/);
  });

  test("other work goes on between thousands of messages that do not meet the conditions", async () => {
    const messages = 2_000;
    await using broker = await startBroker((send, socket) => {
      socket.cork();
      for (let sent = 0; sent < messages; sent += 1) send("x");
      send("y");
      socket.uncork();
    });
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const assertions = [{ source: "body", op: "eq", value: "y" }];
    expect(await check(broker, { topic: "a", assertions })).toMatchObject({ outcome: "ok" });
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(messages);
  });

  /** Conditions that a thread evaluates, which the test answers for or cannot be started. */
  const inThread = {
    topic: "a",
    assertions: [{ source: "body", op: "matches", value: "x" }],
  };

  test("a message that this server cannot evaluate gives no data", async () => {
    await using broker = await startBroker((send) => send("x"));
    const evaluator = new AssertionEvaluator(createTestClock(), () => {
      throw new Error("no thread");
    });
    expect(await check(broker, inThread, { evaluator })).toMatchObject({
      outcome: "unknown",
      message: "This server could not evaluate the assertions.",
    });
    await broker.allClosed();
  });

  test("a message that waits for its evaluation at the deadline gives no data", async () => {
    await using broker = await startBroker((send) => send("x"));
    const { start } = createFakeThreads();
    const deadline = new AbortController();
    const evaluator = new AssertionEvaluator(createTestClock(), () => {
      setImmediate(() => deadline.abort());
      return start();
    });
    expect(await check(broker, inThread, { evaluator, signal: deadline.signal })).toMatchObject({
      outcome: "unknown",
      message: "This server was too busy to evaluate the assertions.",
    });
    await broker.allClosed();
  });

  test("no message is evaluated after the end of an MQTT check", async () => {
    await using broker = await startBroker((send) => {
      send("x");
      send("y");
    });
    const { threads, start } = createFakeThreads();
    const evaluator = new AssertionEvaluator(createTestClock(), () => {
      setImmediate(() => {
        threads[0]?.answer("ready");
        threads[0]?.answer({ failure: null, tookMs: 0 });
      });
      return start();
    });
    expect(await check(broker, inThread, { evaluator })).toMatchObject({ outcome: "ok" });
    await broker.allClosed();
    expect(threads[0]?.slices).toHaveLength(1);
  });

  test("an evaluation under way ends when the broker closes the connection", async () => {
    const evaluating = Promise.withResolvers<void>();
    await using broker = await startBroker((send, socket) => {
      send("x");
      void evaluating.promise.then(() => socket.destroy());
    });
    const { threads, start } = createFakeThreads();
    const evaluator = new AssertionEvaluator(createTestClock(), () => {
      setImmediate(() => {
        threads[0]?.answer("ready");
        evaluating.resolve();
      });
      return start();
    });
    expect(await check(broker, inThread, { evaluator })).toMatchObject({
      outcome: "failed",
      message: "The connection was closed while waiting for a message.",
    });
    expect(threads[0]?.isEnded).toBe(true);
  });

  test("a broker that sends a packet which was not asked for fails the check, and the process goes on", async () => {
    const packets = [
      // PUBREL without an id, PUBLISH with an acknowledgement, SUBSCRIBE.
      [0x62, 0],
      [0x32, 6, 0, 1, 0x61, 0, 1, 0x62],
      [0x82, 6, 0, 1, 0, 1, 0x61, 0],
    ];
    for (const packet of packets) {
      await using broker = await startRawServer((socket) => {
        socket.once("data", () => void socket.write(Buffer.from([0x20, 2, 0, 0, ...packet])));
      });
      expect(await check(broker, { topic: "a" })).toMatchObject({
        outcome: "failed",
        message: "The server did not answer as an MQTT broker does.",
      });
    }
  });

  test("packets of a broker are recognised in pieces of any size", async () => {
    const long = Buffer.concat([
      Buffer.from([0x31, 0xac, 0x02, 0, 1, 0x61]),
      Buffer.alloc(297, 98),
    ]);
    const bytes = Buffer.concat([
      Buffer.from([0x20, 2, 0, 0]),
      long,
      Buffer.from([0x90, 3, 0, 1, 0]),
      Buffer.from([0x30, 4, 0, 1, 0x61, 0x79]),
    ]);
    const assertions = [{ source: "body", op: "eq", value: "y" }];
    for (const size of [1, 2, 3, 7, 299, bytes.length]) {
      await using broker = await startRawServer((socket) => {
        socket.setNoDelay();
        socket.once("data", () => void sendInPieces(socket, bytes, size));
      });
      expect(await check(broker, { topic: "a", assertions })).toMatchObject({ outcome: "ok" });
    }
  });

  test("a packet of a broker that is longer or shorter than its kind fails the check", async () => {
    const packets = [
      // CONNACK without a code, SUBACK of another subscription, without and with two codes, PUBLISH without
      // its topic, a length of five bytes.
      [0x20, 1, 0],
      [0x20, 2, 0, 0, 0x90, 3, 0, 2, 0],
      [0x20, 2, 0, 0, 0x90, 2, 0, 1],
      [0x20, 2, 0, 0, 0x90, 4, 0, 1, 0, 0],
      [0x20, 2, 0, 0, 0x30, 1, 0],
      [0x20, 2, 0, 0, 0x30, 3, 0, 2, 0x61],
      [0x20, 2, 0, 0, 0x30, 0x80, 0x80, 0x80, 0x80, 1],
    ];
    for (const packet of packets) {
      await using broker = await startRawServer((socket) => {
        socket.once("data", () => void socket.write(Buffer.from(packet)));
      });
      expect(await check(broker, { topic: "a" })).toMatchObject({
        outcome: "failed",
        message: "The server did not answer as an MQTT broker does.",
      });
    }
  });

  test("a topic, a name and a password of any length reach the broker", async () => {
    const received = Promise.withResolvers<Buffer>();
    await using broker = await startRawServer((socket) => {
      let bytes = Buffer.alloc(0);
      socket.once("data", () => void socket.write(Buffer.from([0x20, 2, 0, 0])));
      socket.on("data", (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk]);
        if (bytes.includes("t".repeat(1_000))) received.resolve(bytes);
      });
    });
    const deadline = new AbortController();
    const config = { user: "ü".repeat(200), password: "p".repeat(100), topic: "t".repeat(1_000) };
    const waiting = check(broker, config, { signal: deadline.signal });
    const bytes = await received.promise;
    deadline.abort();
    await waiting;
    const text = (value: string) => {
      const { length } = Buffer.from(value);
      return Buffer.concat([Buffer.from([length >> 8, length & 0xff]), Buffer.from(value)]);
    };
    expect(bytes.subarray(0, 13).toString("hex")).toBe("109b0400044d51545404c20000");
    // The client's id is random.
    expect(bytes.subarray(bytes.indexOf("allclear") + 23)).toEqual(
      Buffer.concat([
        text(config.user),
        text(config.password),
        Buffer.from([0x82, 0xed, 0x07, 0, 1]),
        text(config.topic),
        Buffer.from([0]),
      ]),
    );
  });

  test("an MQTT topic may have wildcards that are whole levels, and conditions need a topic", () => {
    const errors = (config: object) =>
      probeOf("mqtt")
        .validate({ host: "broker.example.com", ...config })
        .map(({ pointer }) => pointer);
    for (const topic of ["a", "a/b", "+/b", "a/#", "#", "/", "a//b", "$SYS/#"]) {
      expect(errors({ topic })).toEqual([]);
    }
    for (const topic of ["a+/b", "a/b#", "#/a", "a/#/b", "++"]) {
      expect(errors({ topic })).toEqual(["#/topic"]);
    }
    const assertions = [{ source: "body", op: "eq", value: "x" }];
    expect(errors({ assertions })).toEqual(["#/assertions"]);
    expect(errors({ topic: "a", assertions })).toEqual([]);
    const status = [{ source: "status", op: "eq", value: 200 }];
    expect(errors({ topic: "a", assertions: status })).toEqual(["#/assertions/0/source"]);
  });
});
