import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { conflict } from "../../base/errors";
import { FieldErrors, validate } from "../../base/validation";
import { audit } from "../../events/audit";
import type { Actor } from "../../base/actor";
import { freeRef, type ManagedMetadata } from "../../base/ids";
import { toRef } from "../../base/text";
import { ANY_EVENT, ANY_MONITOR, GROUP_SECONDS } from "../../base/webhook";
import { mailConfirmation } from "./alerts/confirmation";
import { confirmedAtOf, isOpenToEvents } from "./alerts/receivers";
import { CreateWebhookBody } from "./bodies";
import { nameInWords } from "./changes";
import { getWebhookRecord, type WebhookRecord } from "./records";
import { newSecret } from "./secrets";
import {
  validateEvents,
  validateReach,
  validateSecret,
  readMonitors,
  readPage,
  storedUrl,
  type DesiredWebhook,
} from "./settings";
import { findWebhookByRef, insertWebhook, type WebhookRow } from "./store";

/** True for an import, which sends no mail: the address of an endpoint for e-mail is not asked to confirm. */
export interface Silence {
  isSilent?: boolean;
}

/**
 * Creates an endpoint, which receives events from now on. Its secret is in the returned row: show
 * it once. Throws `validation_failed` that names every invalid field, or `conflict` for a ref that
 * is taken.
 */
export function createWebhook(
  ctx: Ctx,
  tx: Tx,
  input: CreateWebhookBody,
  actor: Actor,
  metadata: ManagedMetadata & Silence = {},
): WebhookRecord {
  validate(CreateWebhookBody, input);
  const errors = new FieldErrors();
  const format = input.format ?? "standard";
  const desired: DesiredWebhook = {
    url: storedUrl(format, input.url),
    description: input.description ?? null,
    events: input.events ?? [ANY_EVENT],
    pageId: readPage(tx, errors, input.page ?? null),
    monitors: readMonitors(tx, errors, input.monitors ?? [ANY_MONITOR]),
    format,
    groupSeconds: input.group_seconds ?? GROUP_SECONDS.default,
    settings: input.settings ?? {},
    enabled: input.enabled ?? true,
  };
  validateEvents(errors, desired.events);
  validateReach(ctx, errors, desired);
  validateSecret(errors, input.secret);
  if (format === "email" && input.secret !== undefined) {
    errors.add(["secret"], "must be left out, because mails are not signed");
  }
  errors.throwIfAny();
  const holderOf = (ref: string) => findWebhookByRef(tx, { ref });
  const ref = metadata.ref ?? freeRef(refOf(desired), holderOf);
  requireFreeRef(tx, ref);
  const now = ctx.clock.now();
  const row: WebhookRow = {
    id: ctx.newId("whk"),
    ref,
    ...desired,
    disabledReason: null,
    disabledAt: desired.enabled ? null : now,
    secret: input.secret ?? newSecret(ctx.random),
    previousSecret: null,
    previousSecretEndsAt: null,
    failingSince: null,
    confirmedAt: confirmedAtOf(tx, desired),
    managedBy: metadata.managedBy ?? null,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  insertWebhook(tx, row);
  if (!metadata.isSilent && !isOpenToEvents(tx, row)) mailConfirmation(ctx, tx, row);
  audit(ctx, tx, actor, "webhook.create", row.id, `Created ${nameInWords(row)}`);
  return getWebhookRecord(tx, row.id, now);
}

/** Returns a ref made from the description, or else from the host of the URL. */
function refOf({ description, url, format }: DesiredWebhook): string {
  return toRef(description ?? "") || toRef(new URL(url).hostname) || format;
}

/** Throws `conflict` if another endpoint has the ref. */
export function requireFreeRef(reader: Reader, ref: string): void {
  if (!findWebhookByRef(reader, { ref })) return;
  throw conflict(`The ref ${ref} is taken by another webhook.`);
}
