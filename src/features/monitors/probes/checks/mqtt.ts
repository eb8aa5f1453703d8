import { setImmediate } from "node:timers/promises";
import { checkAssertions } from "../../assertions/check";
import type { Evaluated } from "../../assertions/evaluator";
import type { ProbeContext, ProbeResult } from "../../monitoring";
import type { CompletedMqttConfig } from "../mqtt";
import { CheckFailure, checkServer, type Conversation, tlsOf } from "../conversation";

/** Connects to a broker (MQTT 3.1.1), subscribes to the topic and waits for a message that meets the conditions. */
export function checkMqtt(
  config: CompletedMqttConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const { host, port, tls, topic } = config;
  const kind = "an MQTT broker";
  const server = { kind, host, port, tls: tlsOf(tls), config };
  return checkServer(server, context, async (conversation) => {
    conversation.begin("waiting for the broker's consent", "sign_in");
    await connect(conversation, config);
    if (topic !== undefined) {
      const result = await awaitMessage(topic, config, conversation, context);
      if (result.outcome !== "ok") return result;
    }
    await conversation.finish(packetOf(DISCONNECT));
  });
}

/** First bytes of packets (MQTT 3.1.1, 2.2), with the flags that those of this check have. */
const CONNECT = 0x10;
const CONNACK = 0x20;
/** Messages with the quality of service 0. */
const PUBLISH = 0x30;
const RETAINED = 0x31;
const SUBSCRIBE = 0x82;
const SUBACK = 0x90;
const DISCONNECT = 0xe0;

/** Flags of CONNECT. */
const CLEAN_SESSION = 0x02;
const HAS_PASSWORD = 0x40;
const HAS_USER = 0x80;

/** Return codes of CONNACK (3.2.2.3). */
const REFUSALS: Readonly<Record<number, string>> = {
  1: "protocol version",
  2: "client identifier",
  3: "server unavailable",
  4: "user name or password",
  5: "not authorised",
};

/** Begins a session without a keep-alive, which the broker then ends with the connection. */
async function connect(
  conversation: Conversation,
  { user, password }: CompletedMqttConfig,
): Promise<void> {
  const clientId = `allclear${crypto.randomUUID().replaceAll("-", "").slice(0, 15)}`;
  const credentials = [user, password].filter((text) => text !== undefined);
  const flags =
    CLEAN_SESSION |
    (user === undefined ? 0 : HAS_USER) |
    (password === undefined ? 0 : HAS_PASSWORD);
  conversation.write(
    packetOf(
      CONNECT,
      stringOf("MQTT"),
      Buffer.from([PROTOCOL_LEVEL, flags, 0, 0]),
      ...[clientId, ...credentials].map(stringOf),
    ),
  );
  const { rest } = await readPacket(conversation.reader, [CONNACK]);
  const [sessionFlags = 0, code = 0] = rest;
  if (rest.length !== 2 || sessionFlags > 1) throw notMqtt();
  if (code === 0) return;
  throw new CheckFailure(
    `The broker refused the connection (${REFUSALS[code] ?? `code ${code}`}).`,
  );
}

/** Level of version 3.1.1. */
const PROTOCOL_LEVEL = 4;

/**
 * Waits for the subscription and a message that meets the conditions. Others are ignored. Any other result is that
 * of an evaluation which this server could not do, or not before the deadline.
 */
async function awaitMessage(
  topic: string,
  { assertions = [] }: CompletedMqttConfig,
  conversation: Conversation,
  { evaluator, signal }: ProbeContext,
): Promise<Evaluated> {
  const end = AbortSignal.any([signal, conversation.ended]);
  conversation.begin("waiting for a message", "message");
  conversation.write(
    packetOf(SUBSCRIBE, Buffer.from(SUBSCRIPTION_ID), stringOf(topic), Buffer.from([0])),
  );
  let isSubscribed = false;
  let decided: Evaluated | undefined;
  // A retained message may come before the consent to the subscription.
  while (!isSubscribed || !decided) {
    const { first, rest } = await readPacket(conversation.reader, [SUBACK, PUBLISH, RETAINED]);
    if (first === SUBACK) {
      requireSubscribed(rest);
      isSubscribed = true;
      continue;
    }
    const bytes = messageIn(rest);
    if (decided || end.aborted) continue;
    const message = {
      status: 200,
      headers: new Map<string, string>(),
      latencyMs: 0,
      certificateDays: null,
      body: async () => ({ bytes, isTruncated: false }),
    };
    const result = await checkAssertions(assertions, message, { evaluator, signal: end });
    if (result.outcome !== "failed" || end.aborted) {
      decided = result;
      continue;
    }
    conversation.begin("waiting for a message that meets the conditions");
    // A broker can send thousands of messages at once. Other work goes on between them.
    await setImmediate();
  }
  return decided;
}

const SUBSCRIPTION_ID = [0, 1];

/** Codes of SUBACK (3.9.3): a refusal, and the highest quality of service. */
const REFUSED = 0x80;
const QUALITY_MAX = 2;

/** Throws unless the rest of a SUBACK grants the subscription. */
function requireSubscribed(rest: Buffer): void {
  const [high, low, code = 0] = rest;
  const isOwn = rest.length === 3 && high === SUBSCRIPTION_ID[0] && low === SUBSCRIPTION_ID[1];
  if (isOwn && code === REFUSED) throw new CheckFailure("The broker refused the subscription.");
  if (!isOwn || code > QUALITY_MAX) throw notMqtt();
}

/** Returns the message in the rest of a PUBLISH, which begins with its topic. */
function messageIn(rest: Buffer): Buffer {
  if (rest.length < 2 || rest.length < 2 + rest.readUInt16BE(0)) throw notMqtt();
  return rest.subarray(2 + rest.readUInt16BE(0));
}

/** Bytes of the length of a packet at most, with seven bits each, the lowest first. */
const LENGTH_MAX_BYTES = 4;

/**
 * Reads a packet: its first byte, and what follows its length. Throws at once at another first byte than `expected`,
 * since the length of what is no packet could be any.
 */
async function readPacket(
  reader: Conversation["reader"],
  expected: readonly number[],
): Promise<{ first: number; rest: Buffer }> {
  const [first = 0] = await reader.take(1);
  if (!expected.includes(first)) throw notMqtt();
  let length = 0;
  for (let at = 0; at < LENGTH_MAX_BYTES; at += 1) {
    const [byte = 0] = await reader.take(1);
    length += (byte & 0x7f) << (7 * at);
    if ((byte & 0x80) === 0) return { first, rest: await reader.take(length) };
  }
  throw notMqtt();
}

function packetOf(first: number, ...rest: readonly Buffer[]): Buffer {
  const header = [first];
  let length = rest.reduce((sum, { byteLength }) => sum + byteLength, 0);
  for (; length > 0x7f; length >>= 7) header.push((length & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...header, length]), ...rest]);
}

/** Returns a text with its length before it, as packets contain it. */
function stringOf(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

function notMqtt(): Error {
  return new Error("the server has sent what a broker does not");
}
