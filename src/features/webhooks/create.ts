import type { Reader, Tx } from "../../db";
import { conflict, FieldErrors, validate } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { toRef } from "../../kernel/text";
import { ANY_EVENT, CreateWebhookBody } from "./bodies";
import { nameInWords, type Services } from "./changes";
import { getWebhookRecord, type WebhookRecord } from "./records";
import { secretError, newSecret } from "./secrets";
import { validateEvents, validateReach, readPage, type Wanted } from "./settings";
import { findWebhookByRef, insertWebhook, type WebhookRow } from "./store";

/** Properties of an endpoint besides its fields: its ref in a file, and its manager. */
export interface ApplyMetadata {
  ref?: string;
  managedBy?: "apply";
}

/**
 * Creates an endpoint, which is told of what happens from now on. Its secret is in the row: show it
 * once. Throws `validation_failed` that names every broken field, or `conflict` for a ref that is taken.
 */
export function createWebhook(
  ctx: Services,
  tx: Tx,
  input: CreateWebhookBody,
  actor: Actor,
  marks: ApplyMetadata = {},
): WebhookRecord {
  validate(CreateWebhookBody, input);
  const errors = new FieldErrors();
  const desired: Wanted = {
    url: input.url,
    description: input.description ?? null,
    events: input.events ?? [ANY_EVENT],
    pageId: readPage(tx, errors, input.page ?? null),
    format: input.format ?? "standard",
    settings: input.settings ?? {},
    enabled: input.enabled ?? true,
  };
  validateEvents(errors, desired.events);
  validateReach(ctx, errors, desired);
  const complaint = input.secret === undefined ? undefined : secretError(input.secret);
  if (complaint !== undefined) errors.add(["secret"], complaint);
  errors.throwIfAny();
  const ref = marks.ref ?? freeRef(tx, madeRef(desired));
  if (findWebhookByRef(tx, { ref })) throw conflict(`The ref ${ref} is taken by another webhook.`);
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
    managedBy: marks.managedBy ?? null,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  insertWebhook(tx, row);
  audit(ctx, tx, actor, "webhook.create", row.id, `Created ${nameInWords(row)}`);
  return getWebhookRecord(tx, row.id, now);
}

/** From what is said of it, else from the host that it is at. */
function madeRef({ description, url, format }: Wanted): string {
  return toRef(description ?? "") || toRef(new URL(url).hostname) || format;
}

/** The ref itself, or with the first number that makes it one of its own. */
function freeRef(reader: Reader, desired: string): string {
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? "" : `-${count}`;
    const ref = `${desired.slice(0, 63 - suffix.length)}${suffix}`;
    if (!findWebhookByRef(reader, { ref })) return ref;
  }
}
