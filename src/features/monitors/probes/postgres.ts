import type { EventEmitter } from "node:events";
import type { Client } from "pg";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { CheckFailure, checkServer, type Conversation } from "./conversation";
import {
  CLEAR_TEXT_REFUSED,
  compareValue,
  type CompletedDatabaseConfig,
  type DatabaseConfig,
  databaseParts,
  DEFAULT_QUERY,
} from "./databases";

const { completed, parts } = databaseParts(5432);

/** Checks that a PostgreSQL database answers a query. */
export const postgresProbe = {
  type: "postgres",
  label: "PostgreSQL database",
  ...parts,
  run: (config, context) => checkPostgres(completed(config), context),
} satisfies Probe<"postgres", DatabaseConfig>;

/** SSLRequest, and Terminate, of the frontend protocol. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);

/** Signs in to a database and runs a query, in transactions that can only read. */
async function checkPostgres(
  config: CompletedDatabaseConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const { host, port, tls, query = DEFAULT_QUERY, expected } = config;
  const kind = "a PostgreSQL server";
  const server = { kind, host, port, tls: undefined, config };
  const library = await import("pg");
  return checkServer(server, context, async (conversation) => {
    if (tls !== "off") await requestTls(conversation, tls === "verify");
    const client = createClient(library, conversation, config);
    try {
      conversation.begin("signing in", "sign_in");
      await client.connect().catch((error: unknown) => {
        throw failureOf(error, "The server refused the sign-in");
      });
      conversation.begin("waiting for the result of the query", "query");
      // The extended protocol takes a single statement.
      const statement = { text: query, rowMode: "array" as const, queryMode: "extended" };
      const { rows } = await client.query<unknown[]>(statement).catch((error: unknown) => {
        throw failureOf(error, "The query failed");
      });
      compareValue(conversation, rows[0], expected);
      await conversation.finish(TERMINATE);
    } finally {
      client.removeAllListeners();
      client.on("error", () => {});
    }
  });
}

/** Parts of the library that its types do not name. */
interface Internals {
  connection: EventEmitter;
  /** Sends the password in clear text, which any server could ask for that is not verified. */
  _handleAuthCleartextPassword(): void;
}

/** Asks for TLS before the protocol begins. */
async function requestTls(conversation: Conversation, verify: boolean): Promise<void> {
  conversation.begin("asking for TLS", "starttls");
  conversation.write(SSL_REQUEST);
  const answer = await conversation.reader.take(1);
  if (answer.toString() !== "S") throw new CheckFailure("The server does not offer TLS.");
  await conversation.secure(verify);
}

function createClient(
  library: typeof import("pg"),
  conversation: Conversation,
  {
    host,
    port,
    user,
    password = "",
    database = user,
    tls,
    allow_plain_password,
  }: CompletedDatabaseConfig,
): Client {
  const client = new library.Client({
    // The library calls `connect` of the socket, which is open.
    stream: () => conversation.socket,
    // All that the library would otherwise read from the environment or from files.
    host,
    port,
    user,
    database,
    password: () => password,
    ssl: false,
    options: "-c default_transaction_read_only=on",
    application_name: "allclear",
    types: { getTypeParser: () => (text: unknown) => text },
  });
  client.on("error", () => {});
  conversation.socket.prependListener("data", foreignMessageGuard());
  if (tls !== "verify" && !allow_plain_password) {
    const internals = client as unknown as Internals;
    // Bound by `connect`.
    internals._handleAuthCleartextPassword = () => {
      internals.connection.emit("error", new CheckFailure(CLEAR_TEXT_REFUSED));
    };
  }
  return client;
}

/** Causes of common failures by the code of the server. */
const STATES: Readonly<Record<string, string>> = {
  "25006": "only reading is allowed",
  "28000": "user, address or method not allowed",
  "28P01": "wrong user or password",
  "3D000": "no such database",
  "42501": "the user lacks the right",
  "42601": "syntax error",
  "42703": "no such column",
  "42P01": "no such table",
  "53300": "too many connections",
  "57014": "cancelled by the server",
  "57P01": "the server is shutting down",
  "57P03": "the server is starting or shutting down",
};

/** Returns a failure with the code of the server (SQLSTATE) and its cause; other errors as they are. */
function failureOf(error: unknown, what: string): unknown {
  const { code, message = "" } = error as { code?: unknown; message?: string };
  if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code)) {
    const cause = code in STATES ? `: ${STATES[code]}` : "";
    return new CheckFailure(`${what} (${code}${cause}).`);
  }
  if (message.endsWith("must be a non-empty string")) {
    return new CheckFailure("The server asks for a password, and this monitor has none.");
  }
  return message.startsWith("SASL")
    ? new CheckFailure("The server and this monitor could not agree on the password.")
    : error;
}

const DATA_ROW = 0x44;
const ERROR = 0x45;
const NOTICE = 0x4e;
const ROW_DESCRIPTION = 0x54;

/** Types of the messages that a server sends to a client which signs in and runs one query. */
const EXPECTED: ReadonlySet<number> = new Set([
  DATA_ROW,
  ERROR,
  NOTICE,
  ROW_DESCRIPTION,
  // ParseComplete, BindComplete, CommandComplete, EmptyQueryResponse, BackendKeyData, NoData.
  ...Buffer.from("12CIKn"),
  // Authentication, ParameterStatus, ReadyForQuery.
  ...Buffer.from("RSZ"),
]);

const LENGTH_BYTES = 4;

/** Steps that each take the next byte of what a server sends. */
type Steps<Result = void> = Generator<undefined, Result, number>;

/**
 * Returns a listener for the data of a server that throws at a message which the library must not read: it
 * would never end with an error without its end, and reads values outside of their row, again and again.
 */
export function foreignMessageGuard(): (chunk: Buffer) => void {
  const steps = readMessages();
  steps.next();
  return (chunk) => {
    for (const byte of chunk) steps.next(byte);
  };
}

function* readMessages(): Steps<never> {
  let descriptions = 0;
  for (;;) {
    const type = yield;
    const length = (yield* readInt(LENGTH_BYTES)) - LENGTH_BYTES;
    if (type === ROW_DESCRIPTION) descriptions += 1;
    if (!EXPECTED.has(type) || length < 0 || descriptions > 1) throw foreign();
    if (type === DATA_ROW) yield* readRow(length);
    else if (type === ERROR || type === NOTICE) yield* readFields(length);
    else yield* skip(length);
  }
}

/** Reads texts of which each ends with a zero byte. Another one is their end. */
function* readFields(length: number): Steps {
  yield* skip(length - 2);
  if (length < 2 || (yield* readInt(2)) !== 0) throw foreign();
}

/** Reads the number of values, and each with its length; -1 stands for no value. */
function* readRow(length: number): Steps {
  let left = length - 2;
  for (let values = yield* readInt(2); values > 0; values -= 1) {
    const size = yield* readInt(LENGTH_BYTES);
    left -= LENGTH_BYTES + Math.max(size, 0);
    if (size < -1 || left < 0) throw foreign();
    yield* skip(size);
  }
  if (left !== 0) throw foreign();
}

/** Reads a number of 16 bits without a sign, or of 32 bits with one. */
function* readInt(bytes: 2 | typeof LENGTH_BYTES): Steps<number> {
  let value = 0;
  for (let left = bytes as number; left > 0; left -= 1) value = (value << 8) | (yield);
  return value;
}

function* skip(bytes: number): Steps {
  for (let left = bytes; left > 0; left -= 1) yield;
}

function foreign(): Error {
  return new Error("the server has sent a message that is not expected");
}
