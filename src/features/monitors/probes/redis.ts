import { type Static, Type } from "@sinclair/typebox";
import { OneOf } from "../../../base/schema";
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

const DEFAULT_PORT = 6379;
const ROLES = ["master", "replica"] as const;

const RedisConfig = Type.Object(
  {
    host: HostText,
    port: portField(DEFAULT_PORT),
    user: Type.Optional(UserName),
    password: Type.Optional(Password),
    tls: TlsField,
    database: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 65_535, description: "Number of the database." }),
    ),
    role: Type.Optional(
      OneOf(ROLES, { description: "Role that the server must have. Default: any." }),
    ),
    ...SIGN_IN_FIELDS,
  },
  { additionalProperties: false, examples: [{ host: "cache.example.com", role: "master" }] },
);
type RedisConfig = Static<typeof RedisConfig>;

const completed = (config: RedisConfig) =>
  withPasswordDefaults(withPlainPassword(config), DEFAULT_PORT);

type CompletedRedisConfig = ReturnType<typeof completed>;

const PARTS = partsWithSecrets<RedisConfig>(
  RedisConfig,
  completed,
  usesByFields(RedisConfig, ["password", "role", "certificate_warning_days"], completed),
);

/** Checks that a Redis or Valkey server answers a PING, and has a role. */
export const redisProbe = {
  type: "redis",
  label: "Redis or Valkey",
  ...PARTS,
  validate: (config) => [...validateHostField(config), ...validatePlainPassword(config)],
  merge: (before, change) => PARTS.merge(withPlainPassword(before), change),
  targetOf: (config) => serverTarget(config, DEFAULT_PORT),
  run: (config, context) => checkRedis(completed(config), context),
} satisfies Probe<"redis", RedisConfig>;

/** Roles by the names in replies, which still use the older one of a replica. */
const ROLE_NAMES: ReadonlyMap<string, string> = new Map([
  ["master", "master"],
  ["slave", "replica"],
  ["sentinel", "sentinel"],
]);

/** Limits of a reply, which a check never needs to be larger. */
const DEPTH_MAX = 8;
const ENTRIES_MAX = 10_000;

/** Signs in, selects the database, sends PING and compares the role. */
function checkRedis(config: CompletedRedisConfig, context: ProbeContext): Promise<ProbeResult> {
  const { host, port, tls, user, password, database, role } = config;
  const kind = "a Redis or Valkey server";
  const server = { kind, host, port, tls: tlsOf(tls), config };
  return checkServer(server, context, async (conversation) => {
    if (user !== undefined || password !== undefined) {
      const credentials = [...(user === undefined ? [] : [user]), password ?? ""];
      await command(conversation, "AUTH", ...credentials);
    }
    if (database !== undefined) await command(conversation, "SELECT", String(database));
    const answer = await command(conversation, "PING");
    if (answer !== "PONG") throw new CheckFailure("The server did not answer PING with PONG.");
    if (role === undefined) return;
    const [answered] = [await command(conversation, "ROLE")].flat();
    const found = ROLE_NAMES.get(String(answered));
    if (found === role) return;
    throw new CheckFailure(
      found === undefined ? "The server's role is not known." : `The server is a ${found}.`,
    );
  });
}

/** Text, number or list of a reply; null for none. */
type Reply = string | number | null | Reply[];

/** Sends a command and returns its reply. Throws a failure with the code of an error, without its text. */
async function command(
  conversation: Conversation,
  name: string,
  ...args: readonly string[]
): Promise<Reply> {
  const step = name === "AUTH" ? "sign_in" : "command";
  conversation.begin(`waiting for the reply to ${name}`, step, name);
  const parts = [name, ...args].map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  conversation.write(`*${parts.length}\r\n${parts.join("")}`);
  return readReply(conversation, name, DEPTH_MAX);
}

async function readReply(conversation: Conversation, name: string, depth: number): Promise<Reply> {
  const { reader } = conversation;
  const line = await reader.line();
  const text = line.slice(1);
  switch (line[0]) {
    case "+":
      return text;
    case "-":
      throw new CheckFailure(`The server refused ${name} (${codeIn(text)}).`);
    case ":":
      return Number(text);
    case "$": {
      const length = lengthIn(text);
      if (length < 0) return null;
      const bytes = await reader.take(length + 2);
      return bytes.toString("utf8", 0, length);
    }
    case "*": {
      const length = lengthIn(text);
      if (length < 0) return null;
      if (length > ENTRIES_MAX || depth === 0) throw notRedis();
      const entries: Reply[] = [];
      while (entries.length < length) entries.push(await readReply(conversation, name, depth - 1));
      return entries;
    }
    default:
      throw notRedis();
  }
}

function lengthIn(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw notRedis();
  return Number(text);
}

/** Returns the code of an error, its first word, such as WRONGPASS. The rest may repeat arguments. */
function codeIn(text: string): string {
  return /^[A-Z][A-Z0-9_]{1,30}(?=\s|$)/.exec(text)?.[0] ?? "no code";
}

function notRedis(): CheckFailure {
  return new CheckFailure("The server does not speak the protocol of Redis.");
}
