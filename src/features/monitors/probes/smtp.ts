import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { OneOf } from "../../../base/schema";
import type { StepName } from "../../../egress/steps";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { CheckFailure, checkServer, type Conversation } from "./conversation";
import {
  DEFAULT_TLS_MIN,
  DEFAULT_WARNING_DAYS,
  HostText,
  Password,
  portField,
  serverTarget,
  SIGN_IN_FIELDS,
  UserName,
  validateHostField,
} from "./fields";
import { partsWithSecrets, usesByFields } from "./secret-uses";

const DEFAULT_PORT = 25;
const MODES = ["off", "starttls", "starttls_if_offered", "tls"] as const;

const SmtpConfig = Type.Object(
  {
    host: HostText,
    port: portField(DEFAULT_PORT),
    tls: Type.Optional(
      OneOf(MODES, {
        description:
          "off: no TLS; starttls: required, with a certificate that is trusted for the host; starttls_if_offered: with any certificate; tls: from the start, with a trusted certificate. Default: starttls_if_offered.",
      }),
    ),
    user: Type.Optional(UserName),
    password: Type.Optional(Password),
    ...SIGN_IN_FIELDS,
  },
  { additionalProperties: false, examples: [{ host: "mail.example.com", tls: "starttls" }] },
);
type SmtpConfig = Static<typeof SmtpConfig>;

const completed = (config: SmtpConfig) => ({
  ...config,
  port: config.port ?? DEFAULT_PORT,
  tls: config.tls ?? "starttls_if_offered",
  tls_min: config.tls_min ?? DEFAULT_TLS_MIN,
  certificate_warning_days: config.certificate_warning_days ?? DEFAULT_WARNING_DAYS,
  allow_plain_password: config.allow_plain_password ?? false,
});

type CompletedSmtpConfig = ReturnType<typeof completed>;

/** Checks that a mail server greets, encrypts and signs in. No mail is sent. */
export const smtpProbe = {
  type: "smtp",
  label: "Mail server (SMTP)",
  ...partsWithSecrets<SmtpConfig>(
    SmtpConfig,
    completed,
    usesByFields(SmtpConfig, ["password", "certificate_warning_days"], completed),
  ),
  validate: validateSmtp,
  targetOf: (config) => serverTarget(config, DEFAULT_PORT),
  run: (config, context) => checkSmtp(completed(config), context),
} satisfies Probe<"smtp", SmtpConfig>;

/** Returns errors of credentials. As in the settings of mail, they need TLS that is verified. */
function validateSmtp(config: SmtpConfig): FieldError[] {
  const { user, password, tls, allow_plain_password: isPlainAllowed } = completed(config);
  const errors = validateHostField(config);
  const isVerified = tls === "starttls" || tls === "tls";
  if (user !== undefined && !isVerified && !isPlainAllowed) {
    errors.push({
      pointer: pointer("user"),
      detail: "needs STARTTLS or TLS with a verified certificate, or allow_plain_password",
    });
  }
  if (user === undefined && password !== undefined) {
    errors.push({ pointer: pointer("user"), detail: "is missing for the password" });
  }
  return errors;
}

/** Steps of commands that have their own. */
const STEPS: Readonly<Record<string, StepName>> = { STARTTLS: "starttls", AUTH: "sign_in" };

/** Limit of the lines of a reply. */
const LINES_MAX = 100;

/** Reads the greeting, sends EHLO, begins TLS, signs in and says goodbye. */
function checkSmtp(config: CompletedSmtpConfig, context: ProbeContext): Promise<ProbeResult> {
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
