import type { AuthPlugin, Connection } from "mysql2";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { CheckFailure, checkServer, type Conversation, EARLY_DATA } from "./conversation";
import {
  CLEAR_TEXT_REFUSED,
  compareValue,
  type CompletedDatabaseConfig,
  type DatabaseConfig,
  databaseParts,
  DEFAULT_QUERY,
} from "./databases";
import type { TlsMode } from "./fields";

const { completed, parts } = databaseParts(3306);

/** Checks that a MySQL or MariaDB database answers a query. */
export const mysqlProbe = {
  type: "mysql",
  label: "MySQL or MariaDB",
  ...parts,
  run: (config, context) => checkMysql(completed(config), context),
} satisfies Probe<"mysql", DatabaseConfig>;

/** The library, loaded with the first check. */
type Library = typeof import("mysql2");

/** COM_QUIT, the end of a session. */
const QUIT = Buffer.from([1, 0, 0, 0, 1]);

/** Packet of the library. Its bytes are a part of the buffer. */
interface Packet {
  sequenceId: number;
  buffer: Buffer;
  start: number;
  offset: number;
  end: number;
}

/** Parts of the library that its types do not name. */
interface Internals {
  stream: Conversation["socket"];
  packetParser: { execute(chunk: Buffer): void; executeStart: unknown };
  sequenceId: number;
  handlePacket(packet: Packet | undefined): void;
  startTLS(onSecure: (error?: Error) => void): void;
}

/** Signs in to a database and runs a query, in transactions that can only read. */
async function checkMysql(
  config: CompletedDatabaseConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const { host, port, query = DEFAULT_QUERY, expected } = config;
  const kind = "a MySQL or MariaDB server";
  const server = { kind, host, port, tls: undefined, config };
  const library = await import("mysql2");
  return checkServer(server, context, async (conversation) => {
    conversation.begin("signing in", config.tls === "off" ? "sign_in" : "starttls");
    const lost = Promise.withResolvers<never>();
    const connection = connect(library, conversation, config, lost.reject);
    const run = (sql: string) => Promise.race([lost.promise, rowsOf(connection, sql)]);
    await run("SET SESSION TRANSACTION READ ONLY").catch((error: unknown) => {
      throw failureOf(error, "The server refused the sign-in");
    });
    conversation.begin("waiting for the result of the query", "query");
    const rows = await run(query).catch((error: unknown) => {
      throw failureOf(error, "The query failed");
    });
    compareValue(conversation, rows[0], expected);
    await conversation.finish(QUIT);
  });
}

function connect(
  { authPlugins, createConnection }: Library,
  conversation: Conversation,
  {
    host,
    user,
    password,
    database,
    tls,
    allow_plain_password: isPlainAllowed,
  }: CompletedDatabaseConfig,
  onError: (error: unknown) => void,
): Connection {
  const connection = createConnection({
    stream: conversation.socket,
    host,
    user,
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ...(tls !== "off" && { ssl: {} }),
    authPlugins: safePlugins(authPlugins, tls, isPlainAllowed),
    flags: ["-LOCAL_FILES"],
    multipleStatements: false,
    rowsAsArray: true,
    // Texts of JSON columns would print a warning with the column's name, which is the text of a query.
    typeCast: (field) => field.buffer()?.toString() ?? null,
    // The library would compile a parser for each set of columns and keep it.
    disableEval: true,
    // The deadline of the check is the only one.
    connectTimeout: 0,
  });
  connection.on("error", onError);
  const internals = connection as unknown as Internals;
  confinePackets(internals);
  if (tls !== "off") upgradeByConversation(internals, conversation, tls === "verify", onError);
  return connection;
}

/**
 * Has each packet read by itself, in any order. The library would read values of one packet out of all that
 * follow, again and again, and print warnings about a wrong order and stack traces about wrong lengths.
 */
function confinePackets(internals: Internals): void {
  const handlePacket = internals.handlePacket.bind(internals);
  internals.handlePacket = (packet) => {
    if (packet) {
      const { buffer, start, offset, end } = packet;
      internals.sequenceId = packet.sequenceId;
      Object.assign(packet, {
        buffer: buffer.subarray(start, end),
        start: 0,
        offset: offset - start,
        end: end - start,
      });
    }
    const { trace } = console;
    console.trace = () => {};
    try {
      handlePacket(packet);
    } finally {
      console.trace = trace;
    }
  };
}

/** Has TLS begun like that of other checks, so that its certificate is judged and dated in the same way. */
function upgradeByConversation(
  internals: Internals,
  conversation: Conversation,
  verify: boolean,
  onError: (error: unknown) => void,
): void {
  const { packetParser } = internals;
  const handlePacket = internals.handlePacket.bind(internals);
  let isUpgrading = false;
  // Packets behind the server's greeting came without TLS, from anyone. The library would answer them.
  internals.handlePacket = (packet) => {
    if (isUpgrading && packet) onError(new CheckFailure(EARLY_DATA));
    else handlePacket(packet);
  };
  internals.startTLS = (onSecure) => {
    isUpgrading = true;
    internals.stream.removeAllListeners("data");
    conversation
      .secure(verify)
      .then(() => {
        // A part of a packet is left in the parser.
        if (packetParser.execute !== packetParser.executeStart) throw new CheckFailure(EARLY_DATA);
        internals.stream = conversation.socket;
        internals.stream.on("data", (chunk: Buffer) => packetParser.execute(chunk));
        isUpgrading = false;
        conversation.begin("signing in", "sign_in");
        onSecure();
      })
      .catch(onError);
  };
}

/** Request of `caching_sha2_password` for the password itself. */
const FULL_AUTHENTICATION = Buffer.from([4]);

/**
 * Returns the plugins that replace those of the library, which would send the password to whoever answers: in
 * clear text, or encrypted with a key that the same server has sent.
 */
function safePlugins(
  authPlugins: Library["authPlugins"],
  tls: TlsMode,
  isPlainAllowed: boolean,
): Record<string, AuthPlugin> {
  if (tls === "verify" || isPlainAllowed) return {};
  const plugins = { mysql_clear_password: () => refuseClearText };
  if (tls === "require") return plugins;
  return {
    ...plugins,
    sha256_password: () => refuseWithoutTls,
    caching_sha2_password: (context) => {
      const prove = authPlugins.caching_sha2_password()(context);
      return (data) => (data.equals(FULL_AUTHENTICATION) ? refuseWithoutTls() : prove(data));
    },
  };
}

function refuseClearText(): Promise<never> {
  return Promise.reject(new CheckFailure(CLEAR_TEXT_REFUSED));
}

function refuseWithoutTls(): Promise<never> {
  return Promise.reject(
    new CheckFailure(
      "The server asks for the password itself, which is sent only over TLS, or with allow_plain_password: switch TLS on.",
    ),
  );
}

/** Runs a query and returns the rows of its first set of results, of which a procedure returns several. */
function rowsOf(connection: Connection, sql: string): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    connection.query({ sql }, (error, results, fields: readonly unknown[] = []) => {
      if (error) return reject(error);
      const hasSeveral = fields.some((each) => each === undefined || Array.isArray(each));
      const sets = hasSeveral ? (results as unknown[]) : [results];
      resolve((sets.find(Array.isArray) ?? []) as unknown[][]);
    });
  });
}

/** Returns a failure with the code of the server; other errors as they are. */
function failureOf(error: unknown, what: string): unknown {
  const { code, errno, message } = error as Error & { code?: unknown; errno?: unknown };
  if (code === "HANDSHAKE_NO_SSL_SUPPORT") {
    return new CheckFailure("The server does not offer TLS.");
  }
  if (typeof code === "string" && /^ER_[A-Z0-9_]{1,60}$/.test(code)) {
    return new CheckFailure(`${what} (${code}).`);
  }
  const [, plugin] = /unknown plugin (.*?)\. /s.exec(message) ?? [];
  if (code === "AUTH_SWITCH_PLUGIN_ERROR" && plugin !== undefined) {
    const name = /^[a-z0-9_]{1,40}$/.test(plugin) ? ` (${plugin})` : "";
    return new CheckFailure(`The server asks for a sign-in plugin that is not supported${name}.`);
  }
  // The library has no name for errors of later versions.
  return typeof errno === "number" ? new CheckFailure(`${what} (${errno}).`) : error;
}
