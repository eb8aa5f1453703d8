import { timingSafeEqual } from "node:crypto";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import type { Actor } from "../../../base/actor";
import { audit } from "../../../events/audit";
import { encodeBase62, sha256 } from "../../../base/hash";
import { deleteSetting, findSetting, putSetting } from "../../settings/store";

/** Setting with the token for reports about mails. */
const REPORT_TOKEN = "mail_report_token";

/** 32 random bytes in 43 base62 characters. The database stores only their SHA-256. */
const TOKEN_BYTES = 32;
const TOKEN_LENGTH = 43;
const SHAPE = /^[0-9A-Za-z]{43}$/;

/** The stored token. */
export interface ReportToken {
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
  const token = encodeBase62(ctx.random(TOKEN_BYTES), TOKEN_LENGTH);
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
