import type { Tx } from "../../../db";
import { DAY_MS, toIso } from "../../../kernel/time";
import {
  deleteCertificateWarnings,
  findCertificateWarning,
  insertCertificateWarning,
} from "../certificate-store";
import type { SeenCertificate } from "../probe";
import { getMonitorRecord } from "../records";
import { dataOf, pageIdOf, type Services } from "./transitions";

/** Days before the expiry at which an event is recorded, the last one first. */
const STEPS = [1, 3, 7, 14] as const;

/** Time after which no step of a certificate can be due again, since the first one is 14 days ahead. */
const KEPT_MS = 30 * DAY_MS;

/**
 * Records that the certificate of a monitor's server expires soon, once for each certificate and step. After a
 * time without checks only the nearest step is recorded. `at` is in unix ms.
 */
export function warnOfExpiry(
  ctx: Services,
  tx: Tx,
  monitorId: string,
  { host, fingerprint, expiresAt }: SeenCertificate,
  at: number,
): void {
  const step = stepAt(expiresAt - at);
  if (step === undefined || fingerprint === "") return;
  const subject = `certificate ${fingerprint}`;
  if (findCertificateWarning(tx, { subject, step })) return;
  insertCertificateWarning(tx, { subject, step, recipient: "", at });
  deleteCertificateWarnings(tx, { before: at - KEPT_MS });
  const record = getMonitorRecord(tx, monitorId);
  ctx.outbox.record(tx, {
    type: "monitor.certificate_expiring",
    pageId: pageIdOf(record),
    subjectId: monitorId,
    data: {
      monitor: dataOf(record),
      host,
      not_after: toIso(expiresAt),
      days_left: Math.ceil((expiresAt - at) / DAY_MS),
    },
  });
}

/** Returns the step at a time before the expiry; undefined long before, and after it. */
function stepAt(leftMs: number): number | undefined {
  return leftMs > 0 ? STEPS.find((days) => leftMs <= days * DAY_MS) : undefined;
}
