import type { Tx } from "../../db";
import { conflict, FieldErrors, validate } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { UpdateWebhookBody } from "./bodies";
import { changedRow, nameInWords, type Services, wakeDeliverer } from "./changes";
import type { ApplyMetadata } from "./create";
import { FORMATS, shownUrl } from "./formats";
import { getWebhookRecord, type WebhookRecord, getWebhookRow } from "./records";
import { changedSettings, validateEvents, validateReach, readPage, type Wanted } from "./settings";
import { findWebhookByRef, updateWebhookRow, type WebhookRow } from "./store";
import { secretError, newSecret, ROTATION_OVERLAP_MS } from "./secrets";

/**
 * Changes an endpoint; what the input leaves out stays, secrets too, and so does a URL that is given as
 * it is shown. Another format begins without settings. What waits for one that is disabled is not sent;
 * one that is enabled is told of what happens from then on. A change to what it is already changes
 * nothing. `marks` may give it another ref.
 *
 * Throws `not_found`, `validation_failed` that names every broken field, or `conflict` for a ref that is
 * taken.
 */
export function updateWebhook(
  ctx: Services,
  tx: Tx,
  id: string,
  input: UpdateWebhookBody,
  actor: Actor,
  marks: Pick<ApplyMetadata, "ref"> = {},
): WebhookRecord {
  validate(UpdateWebhookBody, input);
  const now = ctx.clock.now();
  const record = getWebhookRecord(tx, id, now);
  const { row: before } = record;
  const errors = new FieldErrors();
  const desired = { ref: marks.ref ?? before.ref, ...wantedAfter(tx, errors, before, input) };
  validateEvents(errors, desired.events);
  // What may not be called any more, by now, can still be disabled.
  const isElsewhere = REACH.some((field) => !Bun.deepEquals(before[field], desired[field]));
  if (isElsewhere) {
    validateSecrets(errors, before, desired, input);
    validateReach(ctx, errors, desired, complaintOfHiddenUrl(before, desired, input));
  }
  errors.throwIfAny();
  if (desired.ref !== before.ref && findWebhookByRef(tx, { ref: desired.ref })) {
    throw conflict(`The ref ${desired.ref} is taken by another webhook.`);
  }
  const changed = (Object.keys(WORDS) as (keyof typeof WORDS)[])
    .filter((field) => !Bun.deepEquals(before[field], desired[field]))
    .map((field) => WORDS[field]);
  const isSwitched = desired.enabled !== before.enabled;
  if (changed.length === 0 && !isSwitched) return record;
  const after: WebhookRow = {
    ...changedRow(ctx, before),
    ...desired,
    ...(isSwitched ? { disabledReason: null, disabledAt: desired.enabled ? null : now } : {}),
    // How it went before says nothing of how it goes from now on.
    ...(isSwitched || isElsewhere ? { failingSince: null } : {}),
  };
  updateWebhookRow(tx, after);
  if (changed.length > 0) {
    const summary = `Changed ${nameInWords(before)}: ${changed.join(", ")}`;
    audit(ctx, tx, actor, "webhook.update", id, summary);
  }
  if (isSwitched) {
    const [action, verb] = desired.enabled
      ? (["webhook.enable", "Enabled"] as const)
      : (["webhook.disable", "Disabled"] as const);
    audit(ctx, tx, actor, action, id, `${verb} ${nameInWords(after)}`);
    wakeDeliverer(ctx, tx, id);
  }
  return getWebhookRecord(tx, id, now);
}

const REACH = ["url", "format", "settings"] as const;

/** Names of changed fields for the audit log. Values are left out, since they may be secret. */
const WORDS: Readonly<Record<"ref" | Exclude<keyof Wanted, "enabled">, string>> = {
  ref: "ref",
  url: "URL",
  description: "description",
  events: "events",
  pageId: "page",
  format: "format",
  settings: "settings",
};

function wantedAfter(
  tx: Tx,
  errors: FieldErrors,
  before: WebhookRow,
  input: UpdateWebhookBody,
): Wanted {
  const { description, page, format = before.format } = input;
  const settings = format === before.format ? before.settings : {};
  return {
    url: namesUrl(before, input) ? input.url : before.url,
    description: description === undefined ? before.description : description,
    events: input.events ?? before.events,
    pageId: page === undefined ? before.pageId : readPage(tx, errors, page),
    format,
    settings: changedSettings(format, settings, input.settings ?? {}),
    enabled: input.enabled ?? before.enabled,
  };
}

/** Returns true if a URL is given that differs from the stored one as it is shown. */
function namesUrl(
  { format, url }: WebhookRow,
  input: UpdateWebhookBody,
): input is UpdateWebhookBody & { url: string } {
  return input.url !== undefined && input.url !== shownUrl(format, url);
}

/** Returns an error for a change to a format that would reveal the stored URL. */
function complaintOfHiddenUrl(
  before: WebhookRow,
  desired: Wanted,
  input: UpdateWebhookBody,
): string | undefined {
  const isHidden = FORMATS[before.format].openPath !== undefined;
  return isHidden && desired.format !== before.format && !namesUrl(before, input)
    ? "must be given with another format, since the one that is there is a secret"
    : undefined;
}

/** Adds which secrets would be sent to somebody else than whom they were given for. */
function validateSecrets(
  errors: FieldErrors,
  before: WebhookRow,
  desired: Wanted,
  input: UpdateWebhookBody,
): void {
  if (desired.format !== before.format || !leadsElsewhere(before.url, desired.url)) return;
  for (const setting of FORMATS[before.format].secretSettings) {
    const isKept = setting in desired.settings && input.settings?.[setting] === undefined;
    if (isKept) errors.add(["settings", setting], "must be given again for another server");
  }
}

function leadsElsewhere(before: string, desired: string): boolean {
  return URL.parse(desired)?.origin !== new URL(before).origin;
}

/**
 * Deletes an endpoint: 404 from now on, nothing more is sent to it, and its secrets are gone. Throws
 * `not_found`.
 */
export function deleteWebhook(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const row = getWebhookRow(tx, id);
  updateWebhookRow(tx, {
    ...changedRow(ctx, row),
    // They serve nobody any more.
    url: shownUrl(row.format, row.url),
    settings: {},
    secret: "",
    previousSecret: null,
    previousSecretEndsAt: null,
    deletedAt: ctx.clock.now(),
  });
  audit(ctx, tx, actor, "webhook.delete", id, `Deleted ${nameInWords(row)}`);
  wakeDeliverer(ctx, tx, id);
}

/**
 * Gives an endpoint another secret, a new one unless it is `given`, which is in the row: show it once. The
 * one before signs, too, for 24 hours; one that was before that signs no more. Throws `not_found`, or
 * `validation_failed` for what is no secret.
 */
export function rotateSecret(
  ctx: Services,
  tx: Tx,
  id: string,
  actor: Actor,
  given?: string,
): WebhookRecord {
  const row = getWebhookRow(tx, id);
  const errors = new FieldErrors();
  const complaint = given === undefined ? undefined : secretError(given);
  if (complaint !== undefined) errors.add(["secret"], complaint);
  errors.throwIfAny();
  const now = ctx.clock.now();
  updateWebhookRow(tx, {
    ...changedRow(ctx, row),
    secret: given ?? newSecret(ctx.random),
    previousSecret: row.secret,
    previousSecretEndsAt: now + ROTATION_OVERLAP_MS,
  });
  const summary = `Gave ${nameInWords(row)} another secret`;
  audit(ctx, tx, actor, "webhook.rotate_secret", id, summary);
  return getWebhookRecord(tx, id, now);
}
