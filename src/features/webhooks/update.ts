import type { Ctx } from "../../context";
import { changedRow, type Tx } from "../../db/statements";
import { conflict } from "../../base/errors";
import { FieldErrors, validate } from "../../base/validation";
import { audit } from "../../events/audit";
import type { Actor } from "../../base/actor";
import type { ManagedMetadata } from "../../base/ids";
import { isForPeople } from "../../base/webhook";
import { mailConfirmation } from "./alerts/confirmation";
import { confirmedAtOf, isOpenToEvents } from "./alerts/receivers";
import { UpdateWebhookBody } from "./bodies";
import { nameInWords, wakeDeliverer } from "./changes";
import { requireFreeRef, type Silence } from "./create";
import { describeMissing } from "../mail/test-mail";
import { mailReadiness } from "../mail/settings";
import { FORMATS, shownUrl } from "./formats";
import { endGathering } from "./gathering-store";
import { maskedMailto } from "./recipient";
import { getWebhookRecord, type WebhookRecord, getWebhookRow } from "./records";
import {
  changedSettings,
  validateEvents,
  validateReach,
  validateSecret,
  readMonitors,
  readPage,
  storedUrl,
  type DesiredWebhook,
} from "./settings";
import { updateWebhookRow, type WebhookRow } from "./store";
import { newSecret, ROTATION_OVERLAP_MS } from "./secrets";

/**
 * Changes an endpoint. Fields that the input leaves out stay, including secrets; so does a URL
 * given in its shortened form. Another format starts without settings. Pending deliveries of an
 * endpoint that is disabled are cancelled; an endpoint that is enabled receives events from then
 * on. A change to the current values changes nothing. `metadata` may give it another ref.
 *
 * Throws `not_found`, `validation_failed` that names every invalid field, or `conflict` for a ref
 * that is taken.
 */
export function updateWebhook(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: UpdateWebhookBody,
  actor: Actor,
  metadata: Pick<ManagedMetadata, "ref"> & Silence = {},
): WebhookRecord {
  validate(UpdateWebhookBody, input);
  const now = ctx.clock.now();
  const record = getWebhookRecord(tx, id, now);
  const { row: before } = record;
  const errors = new FieldErrors();
  const desired = { ref: metadata.ref ?? before.ref, ...desiredAfter(tx, errors, before, input) };
  validateEvents(errors, desired.events);
  // An endpoint whose URL is no longer allowed can still be disabled.
  const isReachChanged = REACH.some((field) => !Bun.deepEquals(before[field], desired[field]));
  if (isReachChanged) {
    validateKeptSecrets(errors, before, desired, input);
    validateReach(ctx, errors, desired, hiddenUrlError(before, desired, input));
  }
  errors.throwIfAny();
  if (desired.ref !== before.ref) requireFreeRef(tx, desired.ref);
  const changed = (Object.keys(WORDS) as (keyof typeof WORDS)[])
    .filter((field) => !Bun.deepEquals(before[field], desired[field]))
    .map((field) => WORDS[field]);
  const isSwitched = desired.enabled !== before.enabled;
  if (changed.length === 0 && !isSwitched) return record;
  const after: WebhookRow = {
    ...changedRow(ctx, before),
    ...desired,
    ...(isSwitched ? { disabledReason: null, disabledAt: desired.enabled ? null : now } : {}),
    // Earlier failures do not count after a change.
    ...(isSwitched || isReachChanged ? { failingSince: null } : {}),
    ...(isReachChanged ? { confirmedAt: confirmedAtOf(tx, desired) } : {}),
  };
  updateWebhookRow(tx, after);
  const isAsked = isReachChanged && !metadata.isSilent && !isOpenToEvents(tx, after);
  if (isAsked) mailConfirmation(ctx, tx, after);
  if (changed.length > 0) {
    const summary = `Changed ${nameInWords(before)}: ${changed.join(", ")}`;
    audit(ctx, tx, actor, "webhook.update", id, summary);
  }
  if (isSwitched) {
    const [action, verb] = desired.enabled
      ? (["webhook.enable", "Enabled"] as const)
      : (["webhook.disable", "Disabled"] as const);
    audit(ctx, tx, actor, action, id, `${verb} ${nameInWords(after)}`);
  }
  const isStillGathering =
    before.groupSeconds === desired.groupSeconds && isForPeople(desired.format);
  if (!isStillGathering) endGathering(tx, { webhookId: id, now });
  // Deliveries that wait for the former destination or gathering time need not wait any more.
  if (isSwitched || isReachChanged || !isStillGathering) wakeDeliverer(ctx, tx, id);
  return getWebhookRecord(tx, id, now);
}

const REACH = ["url", "format", "settings"] as const;

/** Names of changed fields for the audit log. Values are left out, since they may be secret. */
const WORDS: Readonly<Record<"ref" | Exclude<keyof DesiredWebhook, "enabled">, string>> = {
  ref: "ref",
  url: "URL",
  description: "description",
  events: "events",
  pageId: "page",
  monitors: "monitors",
  format: "format",
  groupSeconds: "gathering time",
  settings: "settings",
};

function desiredAfter(
  tx: Tx,
  errors: FieldErrors,
  before: WebhookRow,
  input: UpdateWebhookBody,
): DesiredWebhook {
  const { description, page, format = before.format } = input;
  const settings = format === before.format ? before.settings : {};
  return {
    url: namesUrl(before, input) ? storedUrl(format, input.url) : before.url,
    description: description === undefined ? before.description : description,
    events: input.events ?? before.events,
    pageId: page === undefined ? before.pageId : readPage(tx, errors, page),
    monitors: input.monitors ? readMonitors(tx, errors, input.monitors) : before.monitors,
    format,
    groupSeconds: input.group_seconds ?? before.groupSeconds,
    settings: changedSettings(format, settings, input.settings ?? {}),
    enabled: input.enabled ?? before.enabled,
  };
}

/** Returns true if the input has a URL other than the stored one in its shortened form. */
function namesUrl(
  { format, url }: WebhookRow,
  input: UpdateWebhookBody,
): input is UpdateWebhookBody & { url: string } {
  return input.url !== undefined && input.url !== shownUrl(format, url);
}

/** Returns an error if another format would reveal the stored secret URL. */
function hiddenUrlError(
  before: WebhookRow,
  desired: DesiredWebhook,
  input: UpdateWebhookBody,
): string | undefined {
  const isHidden = FORMATS[before.format].openPath !== undefined;
  return isHidden && desired.format !== before.format && !namesUrl(before, input)
    ? "must be entered again for another format, because it is a secret"
    : undefined;
}

/** Adds an error for each secret setting that would be sent to another address, or used for another recipient. */
function validateKeptSecrets(
  errors: FieldErrors,
  before: WebhookRow,
  desired: DesiredWebhook,
  input: UpdateWebhookBody,
): void {
  if (desired.format !== before.format) return;
  const { secretSettings } = FORMATS[before.format];
  const isOther =
    URL.parse(desired.url)?.href !== new URL(before.url).href ||
    Object.keys({ ...before.settings, ...desired.settings }).some(
      (name) =>
        !secretSettings.includes(name) &&
        (before.settings[name] ?? null) !== (desired.settings[name] ?? null),
    );
  if (!isOther) return;
  for (const setting of secretSettings) {
    const isKept = setting in desired.settings && input.settings?.[setting] === undefined;
    if (isKept) {
      errors.add(["settings", setting], "must be entered again for another address or recipient");
    }
  }
}

/**
 * Mails the link for confirming to the address of an endpoint again. Returns the time at which it is due (unix
 * ms), or undefined if nothing is sent: see `mailConfirmation`. Throws `not_found`, or `conflict` if no
 * confirmation is needed.
 */
export function requestConfirmation(
  ctx: Ctx,
  tx: Tx,
  id: string,
  actor: Actor,
): number | undefined {
  const row = getWebhookRow(tx, id);
  if (isOpenToEvents(tx, row)) throw conflict("The address needs no confirmation.");
  const readiness = mailReadiness(ctx);
  if (!readiness.ready) throw conflict(`Mail needs ${describeMissing(readiness.missing)} first.`);
  const summary = `Asked the address of ${nameInWords(row)} again to confirm`;
  audit(ctx, tx, actor, "webhook.update", id, summary);
  return mailConfirmation(ctx, tx, row);
}

/**
 * Deletes an endpoint: it is not found from now on, nothing more is sent to it, and its secrets are
 * erased. Throws `not_found`.
 */
export function deleteWebhook(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const row = getWebhookRow(tx, id);
  updateWebhookRow(tx, {
    ...changedRow(ctx, row),
    // Secrets and addresses are erased.
    url: row.format === "email" ? maskedMailto(row.url) : shownUrl(row.format, row.url),
    confirmedAt: null,
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
 * Gives an endpoint another secret: `newValue`, or a generated one. It is in the returned row: show it
 * once. The earlier secret signs too for 24 hours; an older one no longer. Throws `not_found`,
 * `conflict` for a format without one, or `validation_failed` for an invalid secret.
 */
export function rotateSecret(
  ctx: Ctx,
  tx: Tx,
  id: string,
  actor: Actor,
  newValue?: string,
): WebhookRecord {
  const row = getWebhookRow(tx, id);
  if (row.format === "email") throw conflict("A webhook for e-mail has no secret.");
  const errors = new FieldErrors();
  validateSecret(errors, newValue);
  errors.throwIfAny();
  const now = ctx.clock.now();
  updateWebhookRow(tx, {
    ...changedRow(ctx, row),
    secret: newValue ?? newSecret(ctx.random),
    previousSecret: row.secret,
    previousSecretEndsAt: now + ROTATION_OVERLAP_MS,
  });
  const summary = `Gave ${nameInWords(row)} another secret`;
  audit(ctx, tx, actor, "webhook.rotate_secret", id, summary);
  return getWebhookRecord(tx, id, now);
}
