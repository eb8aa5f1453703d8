import { type Static, Type } from "@sinclair/typebox";
import type { Socket } from "node:net";
import type WebSocket from "ws";
import { type FieldError, pointer } from "../../../base/errors";
import { Text } from "../../../base/schema";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { CheckFailure, checkServer, type Conversation } from "./conversation";
import { givenValues, Secret, SecretValues } from "../../../base/secrets";
import {
  CERTIFICATE_FIELDS,
  DEFAULT_TLS_MIN,
  DEFAULT_WARNING_DAYS,
  Url,
  urlError,
  urlTarget,
  validateHeaders,
  VerifyTls,
} from "./fields";
import { partsWithSecrets, steeringUsesOf, usesByFields } from "./secret-uses";

const SCHEMES = ["ws", "wss"] as const;
const SUBPROTOCOLS_MAX = 10;
const CLOSE_CODES_MAX = 20;
const LONGEST_MESSAGE = 64_000;

const WebSocketConfig = Type.Object(
  {
    url: Url(SCHEMES, "wss://example.com/updates"),
    subprotocols: Type.Optional(
      // A token of RFC 9110.
      Type.Array(
        Text({
          minLength: 1,
          maxLength: 100,
          pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
          mismatch: "must have no spaces and no separators such as / and :",
        }),
        {
          maxItems: SUBPROTOCOLS_MAX,
          uniqueItems: true,
          description: "Subprotocols of which the server must choose one.",
        },
      ),
    ),
    headers: Type.Optional(SecretValues({ description: "Headers of the upgrade, by name." })),
    verify_tls: Type.Optional(VerifyTls),
    send: Type.Optional(
      Secret({
        maxLength: LONGEST_MESSAGE,
        description: "Message to send. It is a secret and is never returned.",
      }),
    ),
    expected: Type.Optional(
      Text({
        minLength: 1,
        maxLength: 1_000,
        description: "Text that the first message must contain. Default: no message is awaited.",
      }),
    ),
    close_codes: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1_000, maximum: 4_999 }), {
        minItems: 1,
        maxItems: CLOSE_CODES_MAX,
        uniqueItems: true,
        description:
          "Codes of which one must be in the server's closing frame. Default: it is not awaited.",
      }),
    ),
    ...CERTIFICATE_FIELDS,
  },
  { additionalProperties: false, examples: [{ url: "wss://example.com/updates" }] },
);
type WebSocketConfig = Static<typeof WebSocketConfig>;

const completed = (config: WebSocketConfig) => ({
  ...config,
  verify_tls: config.verify_tls ?? true,
  tls_min: config.tls_min ?? DEFAULT_TLS_MIN,
  certificate_warning_days: config.certificate_warning_days ?? DEFAULT_WARNING_DAYS,
});

type CompletedWebSocketConfig = ReturnType<typeof completed>;

const fieldUsesOf = usesByFields(
  WebSocketConfig,
  ["headers", "expected", "close_codes", "certificate_warning_days"],
  completed,
);

/** Checks that a WebSocket opens, and answers. */
export const websocketProbe = {
  type: "websocket",
  label: "WebSocket",
  ...partsWithSecrets<WebSocketConfig>(WebSocketConfig, completed, (config) => [
    ...fieldUsesOf(config),
    ...steeringUsesOf(config.headers),
  ]),
  validate: validateWebSocket,
  targetOf: urlTarget,
  run: (config, context) => checkWebSocket(completed(config), context),
} satisfies Probe<"websocket", WebSocketConfig>;

/** Headers of the upgrade that the protocol sets. */
const OWN_HEADERS = /^sec-websocket-/i;

function validateWebSocket({ url, headers = {} }: WebSocketConfig): FieldError[] {
  const problem = urlError(url, SCHEMES);
  const own = Object.keys(headers).filter((name) => OWN_HEADERS.test(name));
  const hasFragment = problem === undefined && url.includes("#");
  return [
    ...(hasFragment ? [{ pointer: pointer("url"), detail: "must not contain a fragment" }] : []),
    ...(problem === undefined ? [] : [{ pointer: pointer("url"), detail: problem }]),
    ...validateHeaders(headers),
    ...own.map((name) => ({
      pointer: pointer("headers", name),
      detail: "is set by Allclear itself",
    })),
  ];
}

const MESSAGE_MAX_BYTES = 256 * 1024;

const HEAD_MAX_BYTES = 64 * 1024;

const NORMAL_CLOSURE = 1000;

/** Number of pings that are answered. A hundred thousand, which a check can read, would take half a second at once. */
const PONGS_MAX = 100;

/** Opens a WebSocket, compares the first message, and closes it. */
async function checkWebSocket(
  config: CompletedWebSocketConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const { url: text, verify_tls: verify } = config;
  const url = new URL(text);
  const isTls = url.protocol === "wss:";
  const server = {
    kind: "a WebSocket server",
    host: url.hostname,
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    tls: isTls ? { verify, protocols: ["http/1.1"] } : undefined,
    config,
    headers: config.headers,
  };
  const library = await import("ws");
  return checkServer(server, context, async (conversation) => {
    const socket = open(library.default, conversation, config);
    await talk(conversation, socket, config);
  });
}

async function talk(
  conversation: Conversation,
  socket: WebSocket,
  { send, expected, close_codes: codes }: CompletedWebSocketConfig,
): Promise<void> {
  const until = untilFailure(socket);
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  const message = new Promise<Buffer>((resolve) => socket.once("message", resolve));
  conversation.begin("waiting for the upgrade", "upgrade");
  await until(new Promise<void>((resolve) => socket.once("open", resolve)));
  if (send !== undefined) socket.send(send);
  if (expected !== undefined) {
    conversation.begin("waiting for a message", "message");
    const first = await until(Promise.race([message, closed]));
    if (typeof first === "number") throw closedBy(first);
    if (!first.toString().includes(expected)) {
      throw new CheckFailure("The message is not as expected.");
    }
  }
  if (codes === undefined) return socket.close(NORMAL_CLOSURE);
  conversation.begin("waiting for the closing frame", "close");
  socket.close(NORMAL_CLOSURE);
  const code = await until(closed);
  if (!codes.includes(code)) throw closedBy(code);
}

function open(
  Client: typeof WebSocket,
  { socket }: Conversation,
  { url, headers = {}, subprotocols = [] }: CompletedWebSocketConfig,
): WebSocket {
  const opened = new Client(url, subprotocols, {
    // TLS, if any, has begun.
    createConnection: () => socket as unknown as Socket,
    headers: givenValues(headers),
    // Reads answers with small deviations from HTTP, as browsers do.
    insecureHTTPParser: true,
    maxHeaderSize: HEAD_MAX_BYTES,
    followRedirects: false,
    maxPayload: MESSAGE_MAX_BYTES,
    perMessageDeflate: false,
    autoPong: false,
  });
  let pongsLeft = PONGS_MAX;
  opened.on("ping", (data) => {
    pongsLeft -= 1;
    if (pongsLeft >= 0) opened.pong(data);
  });
  return opened;
}

/** Returns a function that waits for a result, and rejects once the socket has failed. */
function untilFailure(socket: WebSocket): <T>(result: Promise<T>) => Promise<T> {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  // Never removed: an error without a listener would end the process.
  socket.on("error", (error) => failed.reject(failureOf(error)));
  socket.once("unexpected-response", (_request, { statusCode }) =>
    failed.reject(
      new CheckFailure(
        statusCode === 101
          ? wrongUpgrade("does not name websocket in its headers Connection and Upgrade")
          : `The server answered the upgrade with status ${statusCode} instead of 101.`,
      ),
    ),
  );
  return (result) => Promise.race([result, failed.promise]);
}

/** Ends of sentences by the library's messages about answers with status 101. */
const WRONG_UPGRADES: Readonly<Record<string, string>> = {
  "Invalid Upgrade header": "does not name websocket in its header Upgrade",
  "Invalid Sec-WebSocket-Accept header":
    "has a header Sec-WebSocket-Accept that does not belong to the request",
  "Server sent a subprotocol but none was requested": "chose a subprotocol, and none was offered",
  "Server sent an invalid subprotocol": "chose a subprotocol that was not offered",
  "Server sent no subprotocol": "chose none of the subprotocols",
  "Server sent a Sec-WebSocket-Extensions header but no extension was requested":
    "chose an extension, and none was offered",
};

function wrongUpgrade(end: string): string {
  return `The server answered the upgrade with status 101, but ${end}.`;
}

/** Returns the failure that an error of the library stands for; other errors as they are. */
function failureOf(error: Error & { code?: unknown }): Error {
  const end = WRONG_UPGRADES[error.message];
  if (end !== undefined) return new CheckFailure(wrongUpgrade(end));
  const code = String(error.code);
  if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") {
    return new CheckFailure("The message is longer than a check reads.", true);
  }
  return code.startsWith("WS_ERR_")
    ? new CheckFailure(`The server sent a frame that WebSockets do not allow (${code}).`)
    : error;
}

/** Codes that no closing frame holds (RFC 6455, 7.4.1): one without a code, and none. */
const NO_CODE = 1005;
const NO_FRAME = 1006;

/** Returns the failure of a connection that was closed with this code. */
function closedBy(code: number): Error {
  // The reason is that of the connection.
  if (code === NO_FRAME) return new Error("the connection was closed");
  return new CheckFailure(
    `The server closed the connection (${code === NO_CODE ? "without a code" : code}).`,
  );
}
