import type { Socket } from "node:net";
import WebSocket from "ws";
import type { ProbeContext, ProbeResult } from "../../probe";
import type { CompletedWebSocketConfig } from "../websocket";
import { givenValues } from "../secrets";
import { CheckFailure, checkServer, type Conversation } from "./conversation";

const MESSAGE_MAX_BYTES = 256 * 1024;

const NORMAL_CLOSURE = 1000;

/** Opens a WebSocket, compares the first message, and closes it. */
export function checkWebSocket(
  config: CompletedWebSocketConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const { url: text, verify_tls: verify } = config;
  const url = new URL(text);
  const isTls = url.protocol === "wss:";
  const server = {
    host: url.hostname,
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    tls: isTls ? { verify, protocols: ["http/1.1"] } : undefined,
    warningDays: config.certificate_warning_days,
  };
  return checkServer(server, context, (conversation) => talk(conversation, config));
}

async function talk(conversation: Conversation, config: CompletedWebSocketConfig): Promise<void> {
  const { subprotocols = [], send, expected, close_codes: codes } = config;
  const socket = open(conversation, config);
  const closed = Promise.withResolvers<number>();
  const message = Promise.withResolvers<string>();
  socket.once("close", (code: number) => closed.resolve(code));
  socket.once("message", (data: Buffer) => message.resolve(data.toString()));
  conversation.begin("waiting for the upgrade");
  await opened(socket);
  if (subprotocols.length > 0 && socket.protocol === "") {
    throw new CheckFailure("The server chose none of the subprotocols.");
  }
  if (send !== undefined) socket.send(send);
  if (expected !== undefined) {
    conversation.begin("waiting for a message");
    const first = await Promise.race([message.promise, closed.promise]);
    if (typeof first === "number") throw new CheckFailure(closedBy(first));
    if (!first.includes(expected)) throw new CheckFailure("The message is not as expected.");
  }
  if (codes === undefined) return socket.close(NORMAL_CLOSURE);
  conversation.begin("waiting for the closing frame");
  socket.close(NORMAL_CLOSURE);
  const code = await closed.promise;
  if (!codes.includes(code)) throw new CheckFailure(closedBy(code));
}

function open(
  { socket }: Conversation,
  { url, headers = {}, subprotocols = [] }: CompletedWebSocketConfig,
): WebSocket {
  return new WebSocket(url, subprotocols, {
    // TLS, if any, has begun.
    createConnection: () => socket as unknown as Socket,
    headers: givenValues(headers),
    followRedirects: false,
    maxPayload: MESSAGE_MAX_BYTES,
    perMessageDeflate: false,
  });
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("unexpected-response", (_request, { statusCode }) =>
      reject(new CheckFailure(`The server answered the upgrade with status ${statusCode}.`)),
    );
    // Never removed: an error without a listener would end the process.
    socket.on("error", reject);
  });
}

function closedBy(code: number): string {
  return `The server closed the connection (${code}).`;
}
