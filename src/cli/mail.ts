import { CLI_ACTOR } from "../base/actor";
import { optionNames } from "../base/config/options";
import { formatHost } from "../base/config/parse";
import { formatMailbox, type MailClass } from "../base/mail-address";
import { plural } from "../base/text";
import { toIso } from "../base/time";
import { createEgress } from "../egress/egress";
import { takeReport } from "../features/mail/reports";
import {
  describeMissing,
  mailReadiness,
  mailSetters,
  readMailSettings,
} from "../features/mail/settings";
import { STEP_NAMES } from "../features/mail/reply";
import { beginTestMail, sendTestMail } from "../features/mail/test-mail";
import { type Delivery, readDelivery } from "../features/mail/waiting";
import { followSettings } from "../features/settings/settings";
import { type Command, type ExitCode, type Invocation } from "./command";
import { withInstallation } from "./with-installation";

export const mailCommands: readonly Command[] = [
  {
    name: "mail test",
    summary: "Send a test mail to ADDRESS and print each step.",
    positionals: ["ADDRESS"],
    // Needed to check the address of the relay.
    options: [...optionNames("mail"), "outboundAllow"],
    run: runMailTest,
  },
  {
    name: "mail bounce",
    summary:
      "Record a bounce or a complaint: a message on standard input. Exit code 75: try again.",
    options: optionNames("mail"),
    failureCode: 75,
    run: runMailBounce,
  },
  {
    name: "mail status",
    summary: "Print if mail can be sent, and through which relay.",
    options: optionNames("mail"),
    run: runMailStatus,
  },
];

/** Sends a test mail and prints each step. The exit code is 1 if the relay did not accept it. */
async function runMailTest(invocation: Invocation): Promise<ExitCode> {
  const { positionals, output } = invocation;
  const [address = ""] = positionals;
  const access = { canCreate: false, fields: { flags: { address: "ADDRESS" } } };
  return withInstallation({ name: "mail test" }, invocation, access, async ({ ctx }) => {
    followSettings(ctx);
    const begun = await ctx.db.write((tx) => beginTestMail(ctx, tx, address, CLI_ACTOR));
    const { isAccepted, steps } = await sendTestMail(ctx, createEgress(ctx), begun);
    for (const { step, isOk, text } of steps) {
      output.out(`${isOk ? "ok    " : "failed"}  ${STEP_NAMES[step].padEnd(11)}  ${text}`);
    }
    const { address: to } = begun.to;
    output.err(
      isAccepted
        ? `The relay accepted the test mail for ${to}.`
        : `The test mail for ${to} was not accepted.`,
    );
    return isAccepted ? 0 : 1;
  });
}

/** Prints the state of mail and the relay. The exit code is 1 if mail cannot be sent. */
async function runMailStatus(invocation: Invocation): Promise<ExitCode> {
  const { output } = invocation;
  const access = { canCreate: false };
  return withInstallation({ name: "mail status" }, invocation, access, async ({ ctx }) => {
    followSettings(ctx);
    const readiness = mailReadiness(ctx);
    const settings = readMailSettings(ctx);
    output.out(
      readiness.ready
        ? "Mail can be sent."
        : `Mail cannot be sent: it needs ${describeMissing(readiness.missing)}.`,
    );
    if (settings) {
      const { host, port, tls, user, from, bounceAddress } = settings;
      const setters = mailSetters(ctx.config);
      output.out(`Relay     ${formatHost(host)}:${port}, TLS ${tls}`);
      output.out(`User      ${user ?? "none"}`);
      output.out(`From      ${formatMailbox(from)}`);
      output.out(`Bounces   ${bounceAddress ?? from.address}`);
      output.out(`Links     ${ctx.baseUrl}`);
      output.out(`Set by    ${setters.length > 0 ? setters.join(", ") : "the dashboard"}`);
      for (const line of deliveryLines(readDelivery(ctx.db))) output.out(line);
    }
    return readiness.ready ? 0 : 1;
  });
}

const CLASS_NAMES: Readonly<Record<MailClass, string>> = {
  1: "accounts and sign-ups",
  2: "alerts",
  3: "mailings",
};

/** Returns the state of the relay and the queue as the server last saw them, and what came back. */
function deliveryLines({ relay, waiting, unmatched, tokenAt }: Delivery): string[] {
  const state = !relay
    ? "unknown: nothing was sent yet"
    : relay.isAvailable
      ? `available since ${toIso(relay.since)}`
      : `unavailable since ${toIso(relay.since)}: ${relay.reply ?? "no reply"}`;
  const nextTryAt = relay?.nextTryAt ?? null;
  return [
    `State     ${state}`,
    ...(nextTryAt === null ? [] : [`Retry at  ${toIso(nextTryAt)}`]),
    ...waiting.map(({ class: one, count, oldestAt }) => {
      const oldest = oldestAt === undefined ? "" : `, oldest of ${toIso(oldestAt)}`;
      return `Waiting   ${CLASS_NAMES[one]}: ${count.toLocaleString("en")}${oldest}`;
    }),
    `Reports   ${plural(unmatched, "unmatched report")} in the last 30 days`,
    `Token     ${tokenAt === undefined ? "none" : `created ${toIso(tokenAt)}`}`,
  ];
}

/** Bytes of a message that are read. The parts of a report that matter come first. */
const MESSAGE_MAX_BYTES = 900 * 1024;

const OUTCOMES = {
  matched: "The report was recorded.",
  repeated: "The report had been recorded before.",
  unmatched: "The report belongs to no mail. The mail settings list it for 30 days.",
  ignored: "Nothing to record: the message does not say that a mail failed.",
} as const;

/** Records a bounce or a complaint that a mail server passes on standard input. */
async function runMailBounce(invocation: Invocation): Promise<ExitCode> {
  const { input, output } = invocation;
  const message = await input.bytes(MESSAGE_MAX_BYTES);
  const access = { canCreate: false };
  return withInstallation({ name: "mail bounce" }, invocation, access, async ({ ctx }) => {
    // The parser is loaded with the first message.
    const { readMessage } = await import("../features/mail/read-message");
    const finding = await readMessage(message);
    const outcome =
      finding === "ignored" ? finding : await ctx.db.write((tx) => takeReport(ctx, tx, finding));
    output.err(OUTCOMES[outcome]);
  });
}
