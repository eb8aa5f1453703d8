import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { DAY_MS, toIso } from "../../../base/time";
import {
  deleteCertificateWarnings,
  findCertificateWarning,
  insertCertificateWarning,
} from "../certificate-store";
import { listReceivers } from "../../webhooks/enqueue";
import type { SeenCertificate } from "../probe";
import { getMonitorRecord } from "../records";
import { dataOf, pageIdOf } from "./transitions";

/** Recipient in the table of warnings that stands for an event, whichever endpoints it had. */
const ANYONE = "";

/** Days before the expiry at which an event is recorded, the last one first. */
const STEPS = [1, 3, 7, 14] as const;

/** Time after which no step of a certificate can be due again, since the first one is 14 days ahead. */
const KEPT_MS = 30 * DAY_MS;

/**
 * Records that the certificate of a monitor's server, or one of its chain, expires soon. Each endpoint gets one event for each
 * certificate and step, of the first monitor to which it subscribes, whatever other endpoints got before.
 * Without any endpoint there is one event. After a time without checks only the nearest step is recorded.
 * `at` is in unix ms.
 */
export function warnOfExpiry(
  ctx: Ctx,
  tx: Tx,
  monitorId: string,
  { host, fingerprint, expiresAt, intermediate = null }: SeenCertificate,
  at: number,
): void {
  const step = stepAt(expiresAt - at);
  if (step === undefined || fingerprint === "") return;
  const subject = `certificate ${fingerprint}`;
  /** Notes a recipient. Returns true if it was not noted for this step before. */
  const isNew = (recipient: string): boolean => {
    if (findCertificateWarning(tx, { subject, step, recipient })) return false;
    insertCertificateWarning(tx, { subject, step, recipient, at });
    return true;
  };
  // The further checks of the monitor end here.
  if (!isNew(monitorId)) return;
  deleteCertificateWarnings(tx, { before: at - KEPT_MS });
  const record = getMonitorRecord(tx, monitorId);
  const topic = {
    type: "monitor.certificate_expiring",
    pageId: pageIdOf(record),
    subjectId: monitorId,
  } as const;
  const receivers = listReceivers(tx, topic).filter(isNew);
  const isFirst = isNew(ANYONE);
  if (!isFirst && receivers.length === 0) return;
  ctx.outbox.record(tx, {
    ...topic,
    receivers,
    data: {
      monitor: dataOf(record),
      host,
      intermediate,
      not_after: toIso(expiresAt),
      days_left: Math.ceil((expiresAt - at) / DAY_MS),
    },
  });
}

/** Returns the step at a time before the expiry; undefined long before, and after it. */
function stepAt(leftMs: number): number | undefined {
  return leftMs > 0 ? STEPS.find((days) => leftMs <= days * DAY_MS) : undefined;
}
