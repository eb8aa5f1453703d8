import type { Actor } from "../../base/actor";
import { conflict, invalidFields, Problem } from "../../base/errors";
import { type MailAddress, maskAddress, parseMailAddress } from "../../base/mail-address";
import { plural } from "../../base/text";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { Egress } from "../../egress/egress";
import { audit } from "../../events/audit";
import { findSetting, putSetting } from "../settings/store";
import { composeMail, toMessage } from "./compose";
import { link, ownLetter, paragraph, renderLetter, title } from "./letter";
import { describeMissing, mailReadiness, type MailSettings } from "./settings";
import type { RelayStep } from "./relay";
import { formatReply } from "./reply";

/** Maximum number of test mails of an installation in an hour. */
const TEST_MAILS_MAX = 10;

/** Setting with the times of the test mails of the last hour, in unix ms. */
const TEST_MAILS = "test_mails";

/** Test mail that may be sent. */
interface BegunTestMail {
  settings: MailSettings;
  to: MailAddress;
}

/**
 * Charges and audits a test mail, in a transaction before it is sent. Throws `validation_failed` for an
 * invalid address, `conflict` if mail is not ready, and `rate_limited` with `Retry-After`.
 */
export function beginTestMail(ctx: Ctx, tx: Tx, address: string, actor: Actor): BegunTestMail {
  const readiness = mailReadiness(ctx);
  if (!readiness.ready) {
    throw conflict(`Mail needs ${describeMissing(readiness.missing)} first.`);
  }
  const to = parseMailAddress(address, { allowUtf8Local: true });
  if ("error" in to) throw invalidFields([{ pointer: "#/address", detail: to.error }]);
  chargeTestMail(tx, ctx.clock.now());
  audit(ctx, tx, actor, "mail.test", "mail", `Sent a test mail to ${maskAddress(to.address)}`);
  return { settings: readiness.settings, to };
}

function chargeTestMail(tx: Tx, now: number): void {
  const stored = findSetting(tx, { name: TEST_MAILS })?.value;
  const times = (Array.isArray(stored) ? stored : []).filter(
    // A time in the future comes from a wrong clock.
    (at): at is number => typeof at === "number" && at > now - HOUR_MS && at <= now,
  );
  const oldest = times[times.length - TEST_MAILS_MAX];
  if (oldest !== undefined) {
    const waitMs = oldest + HOUR_MS - now;
    const wait = plural(Math.ceil(waitMs / MINUTE_MS), "minute");
    throw new Problem(
      "rate_limited",
      `At most ${TEST_MAILS_MAX} test mails are sent in an hour. Try again in ${wait}.`,
      { headers: { "Retry-After": String(Math.ceil(waitMs / SECOND_MS)) } },
    );
  }
  putSetting(tx, { name: TEST_MAILS, value: [...times, now], now });
}

/** Limit of a test mail, which a person waits for. */
const TEST_MAX_MS = MINUTE_MS;

/** Result of a test mail: true if the relay accepted it, and all steps until then. */
export interface TestMailResult {
  isAccepted: boolean;
  steps: RelayStep[];
}

/** Sends a test mail over a connection of its own. Never throws for a fault of the relay. */
export async function sendTestMail(
  ctx: Ctx,
  egress: Pick<Egress, "socket">,
  begun: BegunTestMail,
): Promise<TestMailResult> {
  // The SMTP client is loaded with the first mail.
  const { helloName, openRelay } = await import("./relay");
  const { settings, to } = begun;
  const steps: RelayStep[] = [];
  const limit = new AbortController();
  const timer = ctx.clock.after(TEST_MAX_MS, () => limit.abort());
  try {
    const relay = await openRelay({
      settings,
      name: helloName(ctx.baseUrl),
      egress,
      clock: ctx.clock,
      signal: limit.signal,
      onStep: (step) => void steps.push(step),
    });
    if ("reply" in relay) return { isAccepted: false, steps };
    const from = settings.bounceAddress ?? settings.from.address;
    const message = writeTestMail(ctx, begun);
    const reply = await relay.send({ envelope: { from, to: to.address }, message });
    relay.close();
    const isAccepted = reply.stage === "message" && reply.code !== null && reply.code < 300;
    if (!isAccepted) {
      // What the relay answers to later commands, which were sent without waiting, means nothing.
      const refused = steps.findIndex(({ step, isOk }) => step === reply.stage && !isOk);
      if (refused === -1) steps.push({ step: reply.stage, isOk: false, text: formatReply(reply) });
      else steps.length = refused + 1;
    }
    return { isAccepted, steps };
  } finally {
    timer.cancel();
    limit.abort();
  }
}

function writeTestMail(ctx: Ctx, { settings, to }: BegunTestMail): Uint8Array {
  const mail = { id: ctx.newId("eml"), recipient: to.address };
  const letter = ownLetter({
    preheader: "The mail settings work.",
    tone: "ok",
    blocks: [
      { type: "status", tone: "ok", text: ["Test"] },
      title("Mails arrive here"),
      paragraph("The relay has accepted this mail and delivered it. Nothing has happened."),
    ],
    footer: [link("Open Allclear", ctx.baseUrl)],
  });
  return toMessage(
    composeMail(
      mail,
      { ctx, settings },
      {
        fromName: settings.from.name,
        subject: "A test mail from Allclear",
        ...renderLetter(letter),
      },
    ),
  );
}
