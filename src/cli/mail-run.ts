import { CLI_ACTOR } from "../base/actor";
import { formatHost } from "../base/config/parse";
import { Problem } from "../base/errors";
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
import { type Installation, openForCommand } from "../installation";
import { type ExitCode, type Invocation, UsageError } from "./command";
import { withInstallation } from "./with-installation";

/** Sends a test mail and prints each step. The exit code is 1 if the relay did not accept it. */
export async function runMailTest(invocation: Invocation): Promise<ExitCode> {
  const { positionals, output } = invocation;
  const [address = ""] = positionals;
  return withSettings(invocation, "mail test", async ({ ctx }) => {
    const begun = await ctx.db
      .write((tx) => beginTestMail(ctx, tx, address, CLI_ACTOR))
      .catch((error: unknown) => {
        if (!(error instanceof Problem) || error.code !== "validation_failed") throw error;
        throw new UsageError(error.fields.map(({ detail }) => `ADDRESS ${detail}.`));
      });
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
export async function runMailStatus(invocation: Invocation): Promise<ExitCode> {
  const { output } = invocation;
  return withSettings(invocation, "mail status", async ({ ctx }) => {
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

const CLASS_NAMES: Readonly<Record<MailClass, string>> = {
  1: "accounts and sign-ups",
  2: "alerts",
  3: "mailings",
};

async function withSettings(
  { config }: Invocation,
  command: string,
  work: (installation: Installation) => Promise<ExitCode>,
): Promise<ExitCode> {
  const installation = openForCommand(config, command, { canCreate: false });
  try {
    followSettings(installation.ctx);
    return await work(installation);
  } finally {
    installation.close();
  }
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
export async function runMailBounce(invocation: Invocation): Promise<0> {
  const { input, output } = invocation;
  const message = await input.bytes(MESSAGE_MAX_BYTES);
  const access = { canCreate: false, fields: { flags: {} } };
  return withInstallation({ name: "mail bounce" }, invocation, access, async ({ ctx }) => {
    // The parser is loaded with the first message.
    const { readMessage } = await import("../features/mail/read-message");
    const finding = await readMessage(message);
    const outcome =
      finding === "ignored" ? finding : await ctx.db.write((tx) => takeReport(ctx, tx, finding));
    output.err(OUTCOMES[outcome]);
  });
}
