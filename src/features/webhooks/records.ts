/* What is read of an endpoint: its row, its record with page, success rate and pause, and its name. */
import { notFound } from "../../base/errors";
import { maskAddress } from "../../base/mail-address";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { findPage } from "../pages/store";
import { destinationKey } from "./deliver/delivery-queue";
import type { DeliveryRow, TryRow } from "./delivery-store";
import { cleanLine, clipTo } from "./formats/markup";
import { successRate } from "./health";
import { isOpenToEvents, recipientOf } from "./recipient";
import { pauseLeft } from "./rules";
import {
  findPause,
  findWebhook,
  findWebhookByRef,
  listWebhooksBefore,
  type WebhookRow,
} from "./store";

/** An endpoint with its page, success rate and pause. */
export interface WebhookRecord {
  row: WebhookRow;
  /** Slug of the page whose events it receives; null for the events of every page. */
  pageSlug: string | null;
  /** Share of successful attempts in the last 24 hours, 0 to 1; null without attempts. */
  successRate: number | null;
  /** Time until which its receiver wants no messages, and none is sent (unix ms); null without a pause. */
  pausedUntil: number | null;
  /** Time from which the address of an endpoint for e-mail gets events (unix ms); null before, and for others. */
  confirmedAt: number | null;
}

/** Returns the row of an endpoint. Throws `not_found`. */
export function getWebhookRow(reader: Reader, id: string): WebhookRow {
  const row = findWebhook(reader, { id });
  if (!row) throw notFound("webhook");
  return row;
}

/**
 * Returns the id of an endpoint by its id or ref. An unknown reference is returned unchanged, for the
 * caller's look-up by id to reject.
 */
export function resolveWebhookId(reader: Reader, reference: string): string {
  return findWebhookByRef(reader, { ref: reference })?.id ?? reference;
}

/** Returns an endpoint by its id or ref. Throws `not_found`. */
export function getWebhookByReference(reader: Reader, reference: string): WebhookRow {
  return getWebhookRow(reader, resolveWebhookId(reader, reference));
}

/** Returns an endpoint as it is at `now` (unix ms). Throws `not_found`. */
export function getWebhookRecord(reader: Reader, id: string, now: number): WebhookRecord {
  return toRecord(reader, getWebhookRow(reader, id), now);
}

/** Lists endpoints with ids below `before`, newest first, as they are at `now` (unix ms). */
export function listWebhooks(
  reader: Reader,
  position: { before: string; limit: number },
  now: number,
): WebhookRecord[] {
  return listWebhooksBefore(reader, position).map((row) => toRecord(reader, row, now));
}

function toRecord(reader: Reader, row: WebhookRow, now: number): WebhookRecord {
  const page = row.pageId === null ? undefined : findPage(reader, { id: row.pageId });
  return {
    row,
    pageSlug: page?.slug ?? null,
    successRate: successRate(reader, row.id, now),
    pausedUntil: findPausedUntil(reader, row, now),
    confirmedAt: row.format === "email" ? openSince(reader, row) : null,
  };
}

/** Returns the end of the pause that an enabled endpoint's receiver has asked for (unix ms); null without one. */
export function findPausedUntil(reader: Reader, row: WebhookRow, now: number): number | null {
  if (!row.enabled) return null;
  const destination = destinationKey(row);
  const pause = destination === undefined ? undefined : findPause(reader, { destination });
  return pause && pauseLeft(pause.until, now) > 0 ? pause.until : null;
}

/** A user's address needs no confirmation. */
function openSince(reader: Reader, row: WebhookRow): number | null {
  return isOpenToEvents(reader, row) ? (row.confirmedAt ?? row.createdAt) : null;
}

/** A delivery with its event type and its last attempt, if there was one. */
export interface DeliveryRecord {
  row: DeliveryRow;
  eventType: string;
  lastTry: TryRow | null;
  /** Number of other deliveries that are sent in the same message. */
  sentWith: number;
}

const NAME_MAX = 80;

/** Properties by which an endpoint is named. */
export type NamedWebhook = Pick<WebhookRow, "description" | "format" | "ref" | "url">;

/**
 * Returns the name of an endpoint for people who may see its address: its description, or else its address for
 * e-mail or its ref. A URL may be a secret.
 */
export function webhookName(row: NamedWebhook): string {
  return nameWith(row, recipientOf);
}

/** Returns the name for use in a sentence of the audit log, which contains no address. */
export function nameInWords(row: NamedWebhook): string {
  return `the webhook “${nameWith(row, (url) => maskAddress(recipientOf(url)))}”`;
}

function nameWith(
  { description, format, ref, url }: NamedWebhook,
  addressOf: (url: string) => string,
): string {
  const name = cleanLine(description ?? "") || (format === "email" ? addressOf(url) : ref);
  return clipTo(name, NAME_MAX);
}

/** Wakes the deliverer after the commit, since an endpoint may accept deliveries again or none. */
export function wakeDeliverer(ctx: Ctx, tx: Tx, id: string): void {
  tx.afterCommit(() => ctx.signals.deliveriesQueued.emit(id));
}
