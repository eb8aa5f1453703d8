import type MqttClient from "mqtt/lib/client";
import { MINUTE_MS } from "../../../../base/time";
import { checkAssertions } from "../../assertions/check";
import type { Evaluated } from "../../assertions/evaluator";
import type { ProbeContext, ProbeResult } from "../../monitoring";
import type { CompletedMqttConfig } from "../mqtt";
import { CheckFailure, checkServer, type Conversation, tlsOf } from "./conversation";

/*
 * The client alone: the library's other entry loads its transports, which dial. Required, since a default import
 * of a CommonJS module is the class from the sources and an object with the class in the executable.
 */
const { default: Client } = require("mqtt/lib/client") as typeof import("mqtt/lib/client");

/** DISCONNECT, the last packet of a session. */
const DISCONNECT = Buffer.from([0xe0, 0]);

/** Return codes of CONNACK (MQTT 3.1.1, 3.2.2.3). */
const REFUSALS: Readonly<Record<number, string>> = {
  1: "protocol version",
  2: "client identifier",
  3: "server unavailable",
  4: "user name or password",
  5: "not authorised",
};

/** Connects to a broker, subscribes to the topic and waits for a message that meets the conditions. */
export function checkMqtt(
  config: CompletedMqttConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const { host, port, tls, topic } = config;
  const kind = "an MQTT broker";
  const server = { kind, host, port, tls: tlsOf(tls), config };
  return checkServer(server, context, async (conversation) => {
    const client = createClient(conversation, config);
    try {
      conversation.begin("waiting for the broker's consent", "sign_in");
      await connected(client);
      if (topic !== undefined) {
        const result = await awaitMessage(client, topic, config, conversation, context);
        if (result.outcome !== "ok") return result;
      }
      await conversation.finish(DISCONNECT);
    } finally {
      client.end(true);
    }
  });
}

function createClient(
  { socket }: Conversation,
  { user, password }: CompletedMqttConfig,
): MqttClient {
  const client = new Client(() => socket, {
    clientId: `allclear${crypto.randomUUID().replaceAll("-", "").slice(0, 15)}`,
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    reconnectPeriod: 0,
    resubscribe: false,
    keepalive: 0,
    // Longer than any check, whose deadline is the only one.
    connectTimeout: 10 * MINUTE_MS,
  });
  client.on("error", () => {});
  socket.prependListener("data", foreignPacketGuard());
  return client;
}

function connected(client: MqttClient): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once("connect", () => resolve());
    client.once("error", (error) => {
      const { code } = error as { code?: unknown };
      const reason = typeof code === "number" ? (REFUSALS[code] ?? `code ${code}`) : undefined;
      reject(
        reason === undefined
          ? error
          : new CheckFailure(`The broker refused the connection (${reason}).`),
      );
    });
  });
}

/**
 * Waits for a message that meets the conditions. Others are ignored. Any other result is that of an evaluation
 * which this server could not do, or not before the deadline.
 */
async function awaitMessage(
  client: MqttClient,
  topic: string,
  { assertions = [] }: CompletedMqttConfig,
  conversation: Conversation,
  { evaluator, signal }: ProbeContext,
): Promise<Evaluated> {
  const end = AbortSignal.any([signal, conversation.ended]);
  const decided = Promise.withResolvers<Evaluated>();
  let isDecided = false;
  let evaluated = Promise.resolve();
  client.on("message", (_topic, payload) => {
    evaluated = evaluated.then(async () => {
      if (isDecided || end.aborted) return;
      const message = {
        status: 200,
        headers: new Map<string, string>(),
        latencyMs: 0,
        certificateDays: null,
        body: async () => ({ bytes: payload, isTruncated: false }),
      };
      const result = await checkAssertions(assertions, message, { evaluator, signal: end });
      isDecided = result.outcome !== "failed" || end.aborted;
      if (isDecided) decided.resolve(result);
      else conversation.begin("waiting for a message that meets the conditions");
    });
  });
  conversation.begin("waiting for a message", "message");
  await subscribe(client, topic);
  return await decided.promise;
}

function subscribe(client: MqttClient, topic: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.subscribe(topic, (error) => {
      if (!error) return resolve();
      // The error of a lost connection has no packet.
      const isRefused = (error as { packet?: unknown }).packet !== undefined;
      reject(isRefused ? new CheckFailure("The broker refused the subscription.") : error);
    });
  });
}

const CONNACK = 0x20;
/** PUBLISH with the quality of service 0, with or without the flag of a retained message. */
const PUBLISH = [0x30, 0x31];
const SUBACK = 0x90;

/** First bytes of the packets that a broker sends to a client which only subscribes, with this quality. */
const EXPECTED: ReadonlySet<number> = new Set([CONNACK, ...PUBLISH, SUBACK]);

const LENGTH_MAX_BYTES = 4;

/**
 * Returns a listener for the data of a broker that throws at other packets. The library handles packets in
 * later turns of the event loop, and its errors about some of them would end the process.
 */
export function foreignPacketGuard(): (chunk: Buffer) => void {
  let isHeader = true;
  let lengthBytes = 0;
  let payloadLeft = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (isHeader) {
        if (!EXPECTED.has(byte)) throw new Error("the broker has sent another packet");
        isHeader = false;
        lengthBytes = 0;
        payloadLeft = 0;
      } else if (lengthBytes < LENGTH_MAX_BYTES) {
        // Seven bits of the length, the lowest first; the eighth bit says that more follow.
        payloadLeft += (byte & 0x7f) * 0x80 ** lengthBytes;
        lengthBytes = (byte & 0x80) === 0 ? LENGTH_MAX_BYTES : lengthBytes + 1;
        if (lengthBytes === LENGTH_MAX_BYTES) isHeader = payloadLeft === 0;
      } else {
        const skipped = Math.min(payloadLeft, chunk.length - at);
        payloadLeft -= skipped;
        at += skipped - 1;
        isHeader = payloadLeft === 0;
      }
    }
  };
}
