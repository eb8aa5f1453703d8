import type { ProbeContext, ProbeResult } from "../../monitoring";
import type { CompletedRedisConfig } from "../redis";
import { CheckFailure, checkServer, type Conversation, tlsOf } from "./conversation";

/** Roles by the names in replies, which still use the older one of a replica. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ["master", "master"],
  ["slave", "replica"],
  ["sentinel", "sentinel"],
]);

/** Limits of a reply, which a check never needs to be larger. */
const DEPTH_MAX = 8;
const ENTRIES_MAX = 10_000;

/** Signs in, selects the database, sends PING and compares the role. */
export function checkRedis(
  config: CompletedRedisConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
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
    const found = ROLES.get(String(answered));
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
