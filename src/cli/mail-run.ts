import { formatHost } from "../config";
import { CLI_ACTOR } from "../domain/actor";
import { formatMailbox } from "../domain/mail-address";
import { createEgress } from "../egress";
import { Problem } from "../errors";
import {
  beginTestMail,
  describeMissing,
  mailReadiness,
  mailSetters,
  readMailSettings,
  sendTestMail,
  STEP_NAMES,
} from "../features/mail";
import { followSettings } from "../features/settings";
import { type Installation, openForCommand } from "../installation";
import { type ExitCode, type Invocation, UsageError } from "./command";

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
    }
    return readiness.ready ? 0 : 1;
  });
}

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
