import { timingSafeEqual } from "node:crypto";
import type { Actor } from "../../base/actor";
import { sha256 } from "../../base/hash";
import { newToken } from "../../base/tokens";
import { DAY_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { deleteSetting, findSetting, putSetting } from "../settings/store";
import { countMails } from "./mail";
import { isSoftBounce } from "./rules";
import { withoutAddresses } from "./reply";
import {
  deleteUnmatchedAbout,
  deleteUnmatchedBefore,
  deleteUnmatchedBeyond,
  findLastSentTo,
  findMail,
  findReported,
  insertReport,
  listOutcomes,
  listReportsOfMail,
  type MailRow,
  setMailProgress,
} from "./store";
import { setFailures } from "./suppression-store";
import { addBounce, countedSince, markOfAddress, markOfRecipient, suppress } from "./suppressions";
import { bounceMac, findMailKey } from "./tokens";

/** Kind of a report: the address does not exist, the mail failed for another reason, or a complaint. */
type ReportKind = "hard" | "soft" | "complaint";

/** Content of a report about one mail. */
export interface Finding {
  /** `other`: no report that is understood. */
  kind: ReportKind | "other";
  /** For `hard`: false if only the second such report suppresses the address. */
  isCertain: boolean;
  /** Enhanced status code, such as `5.1.1`. */
  status: string | null;
  /** The reporting server's words, cleaned; empty without any. */
  diagnostic: string;
  /** Ids of mails that the report may be about, the most reliable first. */
  mails: readonly MailHint[];
  /** Address that an authenticated service reports; undefined for a raw message, since anyone can write one. */
  address?: string | undefined;
  /** Time at which it happened, as an authenticated service says (unix ms); undefined for a raw message. */
  at?: number | undefined;
  /** Beginning of the report in the clear, which is kept if no mail is found. */
  excerpt: string;
}

/** A mail that a report names. */
export interface MailHint {
  id: string;
  /** MAC of the envelope sender, which must be right; undefined where the report names the id alone. */
  mac?: string;
}

/** End of a report: its mail or address was found, it came before, or it is listed for people. */
type TakenReport = "matched" | "repeated" | "unmatched";

/** Number of unmatched reports that are kept, and for how long. Anyone can send one to the address. */
const UNMATCHED_MAX = 500;
const UNMATCHED_KEPT_MS = 30 * DAY_MS;

/** Characters before the @ by which reports about an address are found. More take longer in repeated ones. */
const COMPARED_BEFORE_AT = 4;

/** Number of mails to a subscriber that are compared: more than three in a row make no difference. */
const OUTCOMES_MAX = 20;

/** Applies a report about a mail: its result, and the consequences for the address. */
export function takeReport(ctx: Ctx, tx: Tx, finding: Finding): TakenReport {
  const { kind } = finding;
  if (kind === "other") return keepUnmatched(ctx, tx, finding);
  const mail = findMailOf(ctx, tx, finding);
  if (mail) return takeAbout(ctx, tx, mail, { ...finding, kind });
  // A raw message never has an address: anyone can write one.
  if (finding.address === undefined || kind === "soft") return keepUnmatched(ctx, tx, finding);
  const hmac = markOfAddress(ctx, tx, finding.address);
  const reason = kind === "hard" ? "bounced" : "complained";
  const happenedAt = finding.at ?? findLastMail(tx, hmac)?.createdAt ?? 0;
  if (happenedAt >= countedSince(tx, hmac)) {
    suppress(ctx, tx, { addressHmac: hmac, reason, note: noteOf(finding) });
  }
  return "matched";
}

/** Deletes unmatched reports whose time is over. */
export function trimUnmatchedReports(tx: Tx, now: number): void {
  deleteUnmatchedBefore(tx, { before: now - UNMATCHED_KEPT_MS });
}

/** Deletes unmatched reports that contain an address, for erasing a person. */
export function eraseReportsAbout(tx: Tx, address: string): void {
  const part = address.slice(Math.max(0, address.lastIndexOf("@") - COMPARED_BEFORE_AT));
  const pattern = `%${part.replaceAll(/[%_\\]/g, "\\$&")}%`;
  deleteUnmatchedAbout(tx, { text: address, pattern });
}

/** Returns the first mail that a report names and proves, or else the last one to its address. */
function findMailOf(ctx: Ctx, tx: Tx, { mails, address, kind }: Finding): MailRow | undefined {
  const key = mails.some(({ mac }) => mac !== undefined) ? findMailKey(tx) : undefined;
  for (const { id, mac } of mails) {
    if (mac !== undefined && (!key || bounceMac(key, id) !== mac)) continue;
    const mail = findMail(tx, { id });
    if (mail) return mail;
  }
  if (address === undefined || kind !== "soft") return undefined;
  return findLastMail(tx, markOfAddress(ctx, tx, address));
}

/** Returns the last mail that was sent to the address of a subscriber. */
function findLastMail(tx: Tx, addressHmac: string): MailRow | undefined {
  const id = findLastSentTo(tx, { addressHmac })?.id ?? null;
  return id === null ? undefined : findMail(tx, { id });
}

function takeAbout(
  ctx: Ctx,
  tx: Tx,
  mail: MailRow,
  finding: Finding & { kind: ReportKind },
): TakenReport {
  const { kind, isCertain, status, at: happenedAt = 0 } = finding;
  const earlier = listReportsOfMail(tx, { mailId: mail.id }).filter((row) => row.kind === kind);
  if (earlier.some((row) => row.at >= happenedAt)) return "repeated";
  const at = ctx.clock.now();
  const excerpt = replyOf(finding);
  insertReport(tx, { id: ctx.newId("rpt"), at, mailId: mail.id, kind, status, excerpt });
  const { subscriberId } = mail;
  const subscriber = subscriberId === null ? undefined : findReported(tx, { subscriberId });
  const hmac = markOfRecipient(ctx, tx, mail);
  const isOld = Math.max(happenedAt, mail.createdAt) < countedSince(tx, hmac);
  const cause = { mailId: mail.id, note: noteOf(finding) };
  if (kind === "complaint") {
    if (!isOld) suppress(ctx, tx, { addressHmac: hmac, reason: "complained", ...cause });
    return "matched";
  }
  // What the relay refused has had its consequences.
  const isNews = mail.status === "sent" || mail.status === "pending";
  if (isNews) endAs(tx, mail, kind === "hard" ? "bounced" : "failed", excerpt, at);
  if (kind === "hard" && !isOld && mail.status !== "bounced") {
    addBounce(ctx, tx, mail, isCertain, cause);
  }
  if (kind === "soft" && isNews && !isOld && subscriber) {
    countFailures(ctx, tx, mail.id, { subscriberId: subscriberId ?? "", ...subscriber }, cause);
  }
  return "matched";
}

/** Corrects the result of a mail that the relay had accepted. */
function endAs(
  tx: Tx,
  mail: MailRow,
  status: "bounced" | "failed",
  reply: string,
  now: number,
): void {
  const { id, tries, mailingId } = mail;
  setMailProgress(tx, { id, status, tries, nextTryAt: null, reply, finishedAt: now });
  if (mailingId === null) return;
  countMails(tx, [
    ...(mail.status === "sent" ? [{ mailingId, status: mail.status, by: -1 as const }] : []),
    { mailingId, status, by: 1 },
  ]);
}

/**
 * Counts the failures in a row around a mail, and suppresses the address as a relay's refusals would. Each of them
 * looked like a success at first, since the relay accepted it, so they are counted from the mails.
 */
function countFailures(
  ctx: Ctx,
  tx: Tx,
  mailId: string,
  of: { subscriberId: string; addressHmac: string; updatedAt: number },
  cause: { mailId: string; note: string },
): void {
  const { subscriberId, addressHmac, updatedAt } = of;
  const since = Math.max(updatedAt, countedSince(tx, addressHmac));
  const outcomes = listOutcomes(tx, { subscriberId, since, limit: OUTCOMES_MAX });
  const at = outcomes.findIndex(({ id }) => id === mailId);
  if (at === -1) return;
  let [newest, oldest] = [at, at];
  while (newest > 0 && outcomes[newest - 1]?.status !== "sent") newest -= 1;
  while (oldest + 1 < outcomes.length && outcomes[oldest + 1]?.status !== "sent") oldest += 1;
  const softFailures = oldest - newest + 1;
  const softSince = outcomes[oldest]?.createdAt ?? ctx.clock.now();
  // Counts go on from here if the relay refuses the next mail.
  if (newest === 0) setFailures(tx, { addressHmac, softFailures, softSince });
  if (!isSoftBounce(softFailures, softSince, ctx.clock.now())) return;
  suppress(ctx, tx, { addressHmac, reason: "soft", ...cause });
}

function keepUnmatched(ctx: Ctx, tx: Tx, { kind, status, excerpt }: Finding): TakenReport {
  const at = ctx.clock.now();
  insertReport(tx, { id: ctx.newId("rpt"), at, mailId: null, kind, status, excerpt });
  deleteUnmatchedBeyond(tx, { kept: UNMATCHED_MAX });
  return "unmatched";
}

/** Returns the report in one line, as the reply of a relay is shown. */
function replyOf({ status, diagnostic, kind }: Finding): string {
  if (kind === "complaint") return "The recipient reported this mail as spam.";
  if (diagnostic === "") return status ?? "The mail was not delivered.";
  return status === null || diagnostic.includes(status) ? diagnostic : `${status} ${diagnostic}`;
}

/** Returns the words that a suppression keeps. It outlives the address. */
function noteOf(finding: Finding): string {
  return withoutAddresses(replyOf(finding));
}

/** Setting with the token for reports about mails. */
const REPORT_TOKEN = "mail_report_token";

/** 32 random bytes in 43 base62 characters. The database stores only their SHA-256. */
const SHAPE = /^[0-9A-Za-z]{43}$/;

/** The stored token. */
interface ReportToken {
  /** SHA-256 in hexadecimal. */
  hash: string;
  /** Unix ms. */
  createdAt: number;
}

/** Returns the token for reports about mails; undefined without one. */
export function findReportToken(reader: Reader): ReportToken | undefined {
  return findSetting(reader, { name: REPORT_TOKEN })?.value as ReportToken | undefined;
}

/** Returns true if a text is the token. Takes the same time for each wrong one of its shape. */
export function isReportToken(reader: Reader, text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const stored = findReportToken(reader);
  return stored !== undefined && timingSafeEqual(sha256(text), Buffer.from(stored.hash, "hex"));
}

/** Creates the token, which replaces an earlier one at once. It is returned only here. */
export function makeReportToken(ctx: Ctx, tx: Tx, actor: Actor): string {
  const hadOne = findReportToken(tx) !== undefined;
  const token = newToken(ctx.random);
  const now = ctx.clock.now();
  const value: ReportToken = { hash: sha256(token).toString("hex"), createdAt: now };
  putSetting(tx, { name: REPORT_TOKEN, value, now });
  const verb = hadOne ? "Replaced" : "Created";
  audit(ctx, tx, actor, "mail.token", "mail", `${verb} the token for reports about mails`);
  return token;
}

/** Revokes the token. Returns false without one. */
export function revokeReportToken(ctx: Ctx, tx: Tx, actor: Actor): boolean {
  if (!findReportToken(tx)) return false;
  deleteSetting(tx, { name: REPORT_TOKEN });
  audit(ctx, tx, actor, "mail.token", "mail", "Revoked the token for reports about mails");
  return true;
}
