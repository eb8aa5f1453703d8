import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { type MailAddress, maskAddress, parseMailAddress } from "../../base/mail-address";
import { conflict, invalidFields, Problem } from "../../base/errors";
import { audit } from "../../events/audit";
import { plural } from "../../base/text";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import { findSetting, putSetting } from "../settings/store";
import { mailReadiness, type MailSettings, type MissingForMail } from "./settings";

/** Maximum number of test mails of an installation in an hour. */
const TEST_MAILS_MAX = 10;

/** Setting with the times of the test mails of the last hour, in unix ms. */
const TEST_MAILS = "test_mails";

/** A test mail that may be sent. */
export interface BegunTestMail {
  settings: MailSettings;
  to: MailAddress;
}

const MISSING_TEXTS: Readonly<Record<MissingForMail, string>> = {
  relay: "an SMTP relay",
  from: "a sender",
  public_address: "a public address",
};

/** Returns what is missing before mail can be sent, as text: "an SMTP relay and a sender". */
export function describeMissing(missing: readonly MissingForMail[]): string {
  const texts = missing.map((part) => MISSING_TEXTS[part]);
  return [texts.slice(0, -1).join(", "), texts.at(-1)].filter(Boolean).join(" and ");
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
