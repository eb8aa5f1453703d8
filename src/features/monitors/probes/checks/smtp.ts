import type { StepName } from "../../../../egress/steps";
import type { ProbeContext, ProbeResult } from "../../monitoring";
import type { CompletedSmtpConfig } from "../smtp";
import { CheckFailure, checkServer, type Conversation } from "./conversation";

/** Steps of commands that have their own. */
const STEPS: Readonly<Record<string, StepName>> = { STARTTLS: "starttls", AUTH: "sign_in" };

/** Limit of the lines of a reply. */
const LINES_MAX = 100;

/** Reads the greeting, sends EHLO, begins TLS, signs in and says goodbye. */
export function checkSmtp(
  config: CompletedSmtpConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const { host, port, tls: mode, user, password } = config;
  const tls = mode === "tls" ? { verify: true } : undefined;
  const kind = "a mail server";
  const server = { kind, host, port, tls, config };
  return checkServer(server, context, async (conversation) => {
    conversation.begin("waiting for the greeting", "greeting");
    requireReply("the connection", await readReply(conversation), 220);
    let extensions = await sendEhlo(conversation);
    if (mode === "starttls" && !extensions.has("STARTTLS")) {
      throw new CheckFailure("The server does not offer STARTTLS.");
    }
    if (mode.startsWith("starttls") && extensions.has("STARTTLS")) {
      await command(conversation, "STARTTLS", 220);
      await conversation.secure(mode === "starttls");
      extensions = await sendEhlo(conversation);
    }
    if (user !== undefined) {
      await signIn(conversation, extensions.get("AUTH") ?? "", user, password ?? "");
    }
    await conversation.finish("QUIT\r\n");
  });
}

/** Sends EHLO and returns the offered extensions with their arguments, in upper case. */
async function sendEhlo(conversation: Conversation): Promise<Map<string, string>> {
  const { localAddress = "127.0.0.1" } = conversation;
  const literal = localAddress.includes(":") ? `IPv6:${localAddress}` : localAddress;
  const { lines } = await command(conversation, `EHLO [${literal}]`, 250);
  const offered = lines.slice(1).map((line): [string, string] => {
    // Some servers write AUTH=PLAIN.
    const [, name = "", rest = ""] = /^([A-Z0-9-]*)[ =]?(.*)$/.exec(line.toUpperCase()) ?? [];
    return [name, rest];
  });
  return new Map(offered);
}

async function signIn(
  conversation: Conversation,
  methods: string,
  user: string,
  password: string,
): Promise<void> {
  const offered = methods.split(/\s+/);
  const encoded = (text: string) => Buffer.from(text).toString("base64");
  if (offered.includes("PLAIN")) {
    await command(conversation, `AUTH PLAIN ${encoded(`\0${user}\0${password}`)}`, 235);
  } else if (offered.includes("LOGIN")) {
    await command(conversation, "AUTH LOGIN", 334);
    await command(conversation, encoded(user), 334, "AUTH");
    await command(conversation, encoded(password), 235, "AUTH");
  } else {
    throw new CheckFailure("The server offers neither AUTH PLAIN nor AUTH LOGIN.");
  }
}

interface Reply {
  code: number;
  /** Texts of the lines, without their codes. */
  lines: string[];
}

/** Sends a command and returns its reply. Throws a failure for another code. */
async function command(
  conversation: Conversation,
  line: string,
  expected: number,
  name = line.split(" ", 1)[0] ?? "",
): Promise<Reply> {
  conversation.begin(`waiting for the reply to ${name}`, STEPS[name] ?? "command", name);
  conversation.write(`${line}\r\n`);
  const reply = await readReply(conversation);
  requireReply(name, reply, expected);
  return reply;
}

async function readReply({ reader }: Conversation): Promise<Reply> {
  const lines: string[] = [];
  for (;;) {
    const [, code, separator, text = ""] =
      /^(\d{3})(?:([ -])(.*))?$/.exec(await reader.line()) ?? [];
    if (code === undefined || lines.length === LINES_MAX) {
      throw new CheckFailure("The server does not speak SMTP.");
    }
    lines.push(text);
    if (separator !== "-") return { code: Number(code), lines };
  }
}

/** Throws a failure with the codes of an unexpected reply. Its text may repeat what was sent. */
function requireReply(name: string, { code, lines }: Reply, expected: number): void {
  if (code === expected) return;
  const enhanced = /^[245]\.\d{1,3}\.\d{1,3}(?=\s|$)/.exec(lines[0] ?? "")?.[0];
  const codes = enhanced === undefined ? String(code) : `${code} ${enhanced}`;
  throw new CheckFailure(`The server answered ${name} with ${codes}.`);
}
