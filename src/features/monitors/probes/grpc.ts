import { type Static, Type } from "@sinclair/typebox";
import { formatHost } from "../../../base/config/parse";
import { type FieldError, pointer } from "../../../base/errors";
import { LineText } from "../../../base/texts";
import { foreignStreamGuard } from "../../../egress/http2";
import { headerError } from "../../../egress/http-headers";
import { VERSION } from "../../../version";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { CheckFailure, checkServer, type Conversation } from "./conversation";
import { givenValues, SecretValues } from "../../../base/secrets";
import {
  CERTIFICATE_FIELDS,
  HostText,
  PortNumber,
  serverTarget,
  TlsField,
  validateHostField,
  withServerDefaults,
} from "./fields";
import { partsWithSecrets, usesByFields } from "./secret-uses";

/** Used where a port is required, so that it never applies. */
const NO_PORT = 0;

const GrpcConfig = Type.Object(
  {
    host: HostText,
    port: PortNumber,
    tls: TlsField,
    service: Type.Optional(
      LineText({
        minLength: 1,
        maxLength: 255,
        description: "Name of the service. Default: the server as a whole.",
        examples: ["acme.orders.v1.Orders"],
      }),
    ),
    metadata: Type.Optional(SecretValues({ description: "Metadata of each call, by name." })),
    ...CERTIFICATE_FIELDS,
  },
  { additionalProperties: false, examples: [{ host: "orders.example.com", port: 50051 }] },
);
type GrpcConfig = Static<typeof GrpcConfig>;

const completed = (config: GrpcConfig) => withServerDefaults(config, NO_PORT);

type CompletedGrpcConfig = ReturnType<typeof completed>;

/** Checks that a service is `SERVING`, by the health protocol of gRPC. */
export const grpcProbe = {
  type: "grpc",
  label: "gRPC service",
  ...partsWithSecrets<GrpcConfig>(
    GrpcConfig,
    completed,
    usesByFields(GrpcConfig, ["metadata", "certificate_warning_days"], completed),
  ),
  validate: (config) => [...validateHostField(config), ...validateMetadata(config.metadata ?? {})],
  targetOf: ({ service, ...config }) =>
    [serverTarget(config, NO_PORT), ...(service === undefined ? [] : [service])].join(" "),
  run: (config, context) => checkGrpc(completed(config), context),
} satisfies Probe<"grpc", GrpcConfig>;

/** Returns errors of metadata. Names of the protocol itself cannot be set. */
function validateMetadata(metadata: Readonly<Record<string, string | null>>): FieldError[] {
  return Object.entries(metadata).flatMap(([name, value]) => {
    const isOwn = /^(?:grpc-|content-type$)/i.test(name);
    const problem = isOwn ? "is set by Allclear itself" : headerError(name, value ?? "");
    return problem === undefined ? [] : [{ pointer: pointer("metadata", name), detail: problem }];
  });
}

const ALPN = "h2";
const PATH = "/grpc.health.v1.Health/Check";

/** Statuses of `HealthCheckResponse` by number. */
const SERVING_STATUSES = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

/** Status codes of gRPC by number. */
const STATUS_CODES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
];

/** Causes of statuses that the health protocol uses in its own way, as ends of sentences. */
const CAUSES: Readonly<Record<string, string>> = {
  NOT_FOUND: "does not know the service",
  UNIMPLEMENTED: "has no health service",
};

/** Limit of the answer, which has a few bytes. */
const MESSAGE_MAX_BYTES = 64 * 1024;

/** Calls `grpc.health.v1.Health/Check` and requires `SERVING`. */
async function checkGrpc(config: CompletedGrpcConfig, context: ProbeContext): Promise<ProbeResult> {
  const { host, port, tls: mode } = config;
  const tls = mode === "off" ? undefined : { verify: mode === "verify", protocols: [ALPN] };
  const kind = "a gRPC server";
  const { connect } = await import("node:http2");
  const server = { kind, host, port, tls, config, headers: config.metadata };
  return checkServer(server, context, async (conversation) => {
    if (tls && conversation.protocol !== ALPN) {
      throw new CheckFailure("The server does not speak HTTP/2.");
    }
    conversation.begin("waiting for the answer", "request");
    const { httpStatus, grpcStatus, message } = await call(connect, conversation, config);
    if (httpStatus !== 200)
      throw new CheckFailure(`The server answered with HTTP status ${httpStatus}.`);
    if (grpcStatus !== 0) {
      const name = nameIn(STATUS_CODES, grpcStatus);
      const cause = CAUSES[name];
      throw new CheckFailure(
        cause === undefined
          ? `The server answered with ${name}.`
          : `The server ${cause} (${name}).`,
      );
    }
    const status = readStatus(message);
    if (status !== 1) {
      throw new CheckFailure(`The service is ${nameIn(SERVING_STATUSES, status)}.`);
    }
  });
}

interface Answer {
  httpStatus: number;
  /** NaN without one. */
  grpcStatus: number;
  message: Buffer;
}

/** Sends the call over the socket and closes the HTTP/2 session in any case. */
async function call(
  connect: typeof import("node:http2").connect,
  { socket }: Conversation,
  { host, port, tls, service = "", metadata = {} }: CompletedGrpcConfig,
): Promise<Answer> {
  const authority = `${formatHost(host)}:${port}`;
  // TLS, if any, has begun, so the session itself needs none.
  const session = connect(`http://${authority}`, {
    createConnection: () => socket,
    settings: { enablePush: false },
  });
  socket.prependListener("data", foreignStreamGuard());
  try {
    return await new Promise<Answer>((resolve, reject) => {
      session.on("error", reject);
      const stream = session.request({
        ...lowerCase(metadata),
        ":method": "POST",
        ":scheme": tls === "off" ? "http" : "https",
        ":authority": authority,
        ":path": PATH,
        "content-type": "application/grpc",
        te: "trailers",
        "user-agent": `Allclear/${VERSION}`,
      });
      const answer = { httpStatus: Number.NaN, grpcStatus: Number.NaN };
      const chunks: Buffer[] = [];
      let length = 0;
      const readHeaders = (headers: Readonly<Record<string, unknown>>) => {
        const status = headers["grpc-status"];
        if (typeof status === "string" && /^\d{1,3}$/.test(status))
          answer.grpcStatus = Number(status);
      };
      stream.on("error", reject);
      stream.on("response", (headers) => {
        answer.httpStatus = Number(headers[":status"]);
        readHeaders(headers);
      });
      stream.on("trailers", readHeaders);
      stream.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > MESSAGE_MAX_BYTES) {
          reject(new CheckFailure("The server's message is longer than a check reads.", true));
        }
      });
      stream.on("end", () => {
        // The end of the connection looks like that of an answer.
        if (Number.isNaN(answer.httpStatus)) reject(new Error("the connection was closed"));
        else resolve({ ...answer, message: Buffer.concat(chunks) });
      });
      stream.end(frameOf(service));
    });
  } finally {
    session.destroy();
  }
}

/** Returns metadata with names as HTTP/2 requires them. */
function lowerCase(metadata: Readonly<Record<string, string | null>>): Record<string, string> {
  const entries = Object.entries(givenValues(metadata));
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

/** Returns the framed `HealthCheckRequest`, whose field 1 is the name of the service. */
function frameOf(service: string): Buffer {
  const name = Buffer.from(service);
  const field = name.length === 0 ? [] : [0x0a, ...varint(name.length), ...name];
  const header = Buffer.alloc(5);
  header.writeUInt32BE(field.length, 1);
  return Buffer.concat([header, Buffer.from(field)]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/** Returns the status in a framed `HealthCheckResponse`: field 1, 0 if absent. */
function readStatus(frame: Buffer): number {
  if (frame.length < 5 || frame[0] !== 0 || frame.readUInt32BE(1) !== frame.length - 5) {
    throw unreadable();
  }
  const message = frame.subarray(5);
  if (message.length === 0) return 0;
  if (message[0] !== 0x08 || message.length !== 2) throw unreadable();
  return message[1] ?? 0;
}

function nameIn(names: readonly string[], number: number): string {
  if (Number.isNaN(number)) return "no status";
  return names[number] ?? `the unknown status ${number}`;
}

function unreadable(): CheckFailure {
  return new CheckFailure("The server does not speak the health protocol of gRPC.");
}
