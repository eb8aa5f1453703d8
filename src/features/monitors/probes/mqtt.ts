import { setImmediate } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { LineText } from "../../../base/texts";
import { type Assertion, AssertionBody, validateAssertions } from "../assertions/assertions";
import { checkAssertions } from "../assertions/check";
import type { Evaluated } from "../assertions/evaluator";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { CheckFailure, checkServer, type Conversation, tlsOf } from "./conversation";
import {
  HostText,
  Password,
  portField,
  serverTarget,
  SIGN_IN_FIELDS,
  TlsField,
  UserName,
  validateHostField,
  validatePlainPassword,
  withPasswordDefaults,
  withPlainPassword,
} from "./fields";
import { partsWithSecrets, usesByFields } from "./secret-uses";

const DEFAULT_PORT = 1883;
const ASSERTIONS_MAX = 30;

const MqttConfig = Type.Object(
  {
    host: HostText,
    port: portField(DEFAULT_PORT),
    tls: TlsField,
    user: Type.Optional(UserName),
    password: Type.Optional(Password),
    topic: Type.Optional(
      LineText({
        minLength: 1,
        maxLength: 1_000,
        description:
          "Topic of a message, retained or sent within the timeout. Default: only the connection is checked.",
        examples: ["sensors/kitchen/temperature"],
      }),
    ),
    assertions: Type.Optional(
      Type.Array(AssertionBody, {
        maxItems: ASSERTIONS_MAX,
        description:
          "Conditions with the sources body and json that a message must all meet. Messages that do not are ignored until the timeout.",
      }),
    ),
    ...SIGN_IN_FIELDS,
  },
  {
    additionalProperties: false,
    examples: [{ host: "broker.example.com", topic: "sensors/kitchen/temperature" }],
  },
);
type MqttConfig = Static<typeof MqttConfig>;

const completed = (config: MqttConfig) =>
  withPasswordDefaults(withPlainPassword(config), DEFAULT_PORT);

type CompletedMqttConfig = ReturnType<typeof completed>;

const PARTS = partsWithSecrets<MqttConfig>(
  MqttConfig,
  completed,
  usesByFields(MqttConfig, ["password", "assertions", "certificate_warning_days"], completed),
);

/** Checks that an MQTT broker accepts a connection and delivers a message. */
export const mqttProbe = {
  type: "mqtt",
  label: "MQTT broker",
  ...PARTS,
  validate: (config) => [
    ...validateHostField(config),
    ...validateSession(config),
    ...validatePlainPassword(config),
  ],
  merge: (before, change) => PARTS.merge(withPlainPassword(before), change),
  targetOf: ({ topic, ...config }) =>
    [serverTarget(config, DEFAULT_PORT), ...(topic === undefined ? [] : [topic])].join(" "),
  run: (config, context) => checkMqtt(completed(config), context),
} satisfies Probe<"mqtt", MqttConfig>;

/** Returns errors of the credentials, the topic and the conditions on its messages. */
function validateSession({ topic, user, password, assertions = [] }: MqttConfig): FieldError[] {
  const errors = validateAssertions(assertions, false, "assertions");
  // A level is a wildcard or contains none (MQTT 3.1.1, 4.7).
  if (topic !== undefined && !/^(?:(?:\+|[^+#/]*)\/)*(?:#|\+|[^+#/]*)$/.test(topic)) {
    errors.push({ pointer: pointer("topic"), detail: "has a wildcard in the middle of a level" });
  }
  if (user === undefined && password !== undefined) {
    errors.push({ pointer: pointer("user"), detail: "is missing for the password" });
  }
  if (topic === undefined && assertions.length > 0) {
    errors.push({ pointer: pointer("assertions"), detail: "need a topic" });
  }
  const foreign = assertions.findIndex(({ source }) => !ofMessage(source));
  if (foreign >= 0) {
    const at = pointer("assertions", foreign, "source");
    errors.push({ pointer: at, detail: "must be body or json for a message" });
  }
  return errors;
}

function ofMessage(source: Assertion["source"]): boolean {
  return source === "body" || source === "json";
}

/** Connects to a broker (MQTT 3.1.1), subscribes to the topic and waits for a message that meets the conditions. */
function checkMqtt(config: CompletedMqttConfig, context: ProbeContext): Promise<ProbeResult> {
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
