import { isUnknownAddress, maybeUnknownAddress } from "../rules";
import { cleanReply } from "../smtp/reply";
import { allOf, type Fields, firstOf } from "./fields";
import type { Finding } from "./finding";

/** Meaning of a delivery status or a complaint. */
type Meaning = Pick<Finding, "kind" | "isCertain" | "status" | "diagnostic">;

const ENHANCED = /\b([245]\.\d{1,3}\.\d{1,3})\b/;
const REPLY_CODE = /\b([245]\d\d)\b/;

/**
 * Returns the meaning of a delivery status (RFC 3464): one group for the message, one for each recipient. Returns
 * `ignored` if no mail failed, and undefined without recipients.
 */
export function readDeliveryStatus(groups: readonly Fields[]): Meaning | "ignored" | undefined {
  const recipients = groups.filter(
    (group) => group.has("final-recipient") || group.has("action") || group.has("status"),
  );
  if (recipients.length === 0) return undefined;
  // A mail has one recipient. A list or an alias may have more.
  const failed = recipients.find(hasFailed);
  if (!failed) return "ignored";
  // Some servers give the words of the last one without its type.
  const words = cleanReply(
    (firstOf(failed, "diagnostic-code") ?? "").replace(/^\s*[\w-]{1,20}\s*;\s*/, ""),
  );
  const own = ENHANCED.exec(firstOf(failed, "status") ?? "")?.[1];
  const status = own !== undefined && !isGeneric(own) ? own : (ENHANCED.exec(words)?.[1] ?? own);
  const base = { status: status ?? null, diagnostic: words };
  if (status !== undefined && isUnknownAddress(status)) {
    return { kind: "hard", isCertain: true, ...base };
  }
  const code = Number(REPLY_CODE.exec(words)?.[1]);
  if ((status === undefined || isGeneric(status)) && maybeUnknownAddress(code)) {
    return { kind: "hard", isCertain: false, ...base };
  }
  return { kind: "soft", isCertain: false, ...base };
}

/** Returns the meaning of a complaint (RFC 5965). */
export function readFeedback(fields: Fields | undefined): Meaning | "ignored" {
  const type = (firstOf(fields, "feedback-type") ?? "").toLowerCase();
  // Reports about signatures, and mail that was moved out of the spam folder, are no complaints.
  if (type === "" || type === "not-spam" || type === "auth-failure") return "ignored";
  return { kind: "complaint", isCertain: true, status: null, diagnostic: cleanReply(type) };
}

/** True for a recipient to whom the mail will not be delivered: not one that is delayed, or has it. */
function hasFailed(group: Fields): boolean {
  const [action] = allOf(group, "action");
  if (action !== undefined) return /^\s*fail/i.test(action);
  return /^\s*5\./.test(firstOf(group, "status") ?? "");
}

/** True for a status that says no more than its class. */
function isGeneric(status: string): boolean {
  return /^[245]\.0\.0$/.test(status);
}
