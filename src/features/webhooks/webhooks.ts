/*
 * Verbs of webhooks: create, change, ask the address again, delete, rotate the secret. A verb takes a body that its schema
 * has examined, and finds the other errors. For the valid fields of an invalid body, the route finds them with the same
 * function, `readNewWebhook` or `readWebhookChange`, so that one answer lists every invalid field.
 */
import type { Actor } from "../../base/actor";
import { conflict } from "../../base/errors";
import { freeRef, type ManagedMetadata } from "../../base/ids";
import {
  addsUse,
  givenValues,
  isSecretField,
  keptSecrets,
  mergeSecrets,
  type Uses,
} from "../../base/secrets";
import { toRef } from "../../base/text";
import { FieldErrors, type IsInvalidField, type Valid, validate } from "../../base/validation";
import { hasUserInfo, parseWebUrl } from "../../base/web-url";
import {
  ANY_EVENT,
  ANY_MONITOR,
  GROUP_SECONDS,
  getsEachEvent,
  isForPeople,
  matchesMonitor,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from "../../base/webhook";
import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import { hostError, type Policy, webhookPolicy } from "../../egress/policy";
import { audit } from "../../events/audit";
import { EVENTS, type EventType } from "../../events/outbox";
import { describeMissing, mailReadiness } from "../mail/settings";
import { findNamedPage } from "../pages/pages";
import { mailConfirmation } from "./alerts/confirmation";
import { ELLIPSIS, FORMATS, isUrlSecret, shownUrl, validateDestination } from "./formats/index";
import { endGathering } from "./gathering-store";
import { findMonitorId } from "./monitor-store";
import { receivesKind, selectWebhooksOfMonitor } from "./monitors";
import { confirmedAtOf, isOpenToEvents, mailtoOf, maskedMailto, parseMailto } from "./recipient";
import {
  getWebhookRecord,
  getWebhookRow,
  nameInWords,
  wakeDeliverer,
  type WebhookRecord,
} from "./records";
import { newSecret, ROTATION_OVERLAP_MS, secretError } from "./signing";
import {
  findWebhookByRef,
  insertWebhook,
  listAllWebhooks,
  updateWebhookRow,
  type WebhookRow,
} from "./store";
import { CreateWebhookBody, type UpdateWebhookBody } from "./wire";

/** True for an import, which sends no mail: the address of an endpoint for e-mail is not asked to confirm. */
interface Silence {
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
  input: Valid<CreateWebhookBody>,
  actor: Actor,
  metadata: ManagedMetadata & Silence = {},
): WebhookRecord {
  const errors = new FieldErrors();
  const filters = readNewWebhook(ctx, tx, input, errors);
  errors.throwIfAny();
  const format = input.format ?? "standard";
  const desired: DesiredWebhook = {
    url: storedUrl(format, input.url),
    description: input.description ?? null,
    ...filters,
    format,
    groupSeconds: input.group_seconds ?? GROUP_SECONDS.default,
    settings: changedSettings(format, input.url, {}, input.settings ?? {}),
    enabled: input.enabled ?? true,
  };
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

/** Lists the formats for people that need an address and nothing else; e-mail only if mail can be sent. */
export function listPlainFormats(ctx: Ctx): WebhookFormat[] {
  const needsSettings = (format: WebhookFormat) => FORMATS[format].settings.required !== undefined;
  return WEBHOOK_FORMATS.filter(
    (format) =>
      isForPeople(format) && !needsSettings(format) && mailError(ctx, format) === undefined,
  );
}

/** Events that an address gets of a monitor. */
const MONITOR_EVENTS = (Object.keys(EVENTS) as EventType[]).filter((type) =>
  type.startsWith("monitor."),
);

/** Address of people, with the name of the format that writes for it. */
export interface PlainAddress {
  format: string;
  /** URL, or an e-mail address. */
  url: string;
}

/**
 * Makes an address receive the events of a monitor: by the endpoint that has it, or else by a new one for this monitor.
 * Without a monitor only examines the address. Returns true if that changed anything. Throws `validation_failed`.
 */
export function notifyAddress(
  ctx: Ctx,
  tx: Tx,
  monitorId: string | undefined,
  { format, url }: PlainAddress,
  actor: Actor,
): boolean {
  const known = WEBHOOK_FORMATS.find((name) => name === format);
  const isMail = known === "email";
  const desired = {
    format,
    url: isMail && !/^mailto:/i.test(url) ? mailtoOf(url) : url,
    // An endpoint for e-mail is named by its address.
    description: known === undefined || isMail ? null : FORMATS[known].label,
    events: MONITOR_EVENTS,
    monitors: monitorId === undefined ? [] : [monitorId],
  };
  const body = validate(CreateWebhookBody, desired, (valid, errors) => {
    const further = new FieldErrors();
    readNewWebhook(ctx, tx, valid, further, (field) => errors.concerns(field));
    errors.addMissing(further);
  });
  if (monitorId === undefined) return false;
  const holder = listAllWebhooks(tx, {}).find(
    (row) =>
      row.format === known &&
      row.url === storedUrl(known, body.url) &&
      row.enabled &&
      row.pageId === null &&
      receivesKind(row, "monitor"),
  );
  if (holder === undefined) {
    createWebhook(ctx, tx, body, actor);
    return true;
  }
  if (matchesMonitor(holder.monitors, monitorId)) return false;
  return selectWebhooksOfMonitor(ctx, tx, monitorId, { added: [holder.id], removed: [] }, actor);
}

/** Columns of an endpoint that callers set. */
type DesiredWebhook = Pick<
  WebhookRow,
  | "url"
  | "description"
  | "events"
  | "pageId"
  | "monitors"
  | "format"
  | "groupSeconds"
  | "settings"
  | "enabled"
>;

/** Returns a ref made from the description, or else from the host of the URL. */
function refOf({ description, url, format }: DesiredWebhook): string {
  return toRef(description ?? "") || toRef(new URL(url).hostname) || format;
}

/** Throws `conflict` if another endpoint has the ref. */
function requireFreeRef(reader: Reader, ref: string): void {
  if (!findWebhookByRef(reader, { ref })) return;
  throw conflict(`The ref ${ref} is taken by another webhook.`);
}

/**
 * Reads the page, the monitors and the events that a new endpoint names from the valid fields of its body. Adds an error
 * for each unknown one, and for a URL, settings or a secret that the format does not take.
 */
export function readNewWebhook(
  ctx: Ctx,
  reader: Reader,
  input: Partial<CreateWebhookBody>,
  errors: FieldErrors,
  isInvalid: IsInvalidField = () => false,
) {
  const { url, format = "standard", settings = {}, secret } = input;
  const filters = readFilters(reader, errors, input);
  if (url !== undefined) {
    const reach = { url: storedUrl(format, url), format, settings };
    validateReach(ctx, errors, reach, isInvalid);
  }
  validateSecret(errors, secret);
  if (format === "email" && secret !== undefined) {
    errors.add(["secret"], "must be left out, because mails are not signed");
  }
  return filters;
}

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
  input: Valid<UpdateWebhookBody>,
  actor: Actor,
  metadata: Pick<ManagedMetadata, "ref"> & Silence = {},
): WebhookRecord {
  const now = ctx.clock.now();
  const record = getWebhookRecord(tx, id, now);
  const { row: before } = record;
  const errors = new FieldErrors();
  const change = readWebhookChange(ctx, tx, before, input, errors);
  errors.throwIfAny();
  const desired = { ref: metadata.ref ?? before.ref, ...change };
  const isReachChanged = changesReach(before, desired);
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
  const isStillGathering = before.groupSeconds === desired.groupSeconds && !getsEachEvent(desired);
  if (!isStillGathering) endGathering(tx, { webhookId: id, now });
  // Deliveries that wait for the former destination or gathering time need not wait any more.
  if (isSwitched || isReachChanged || !isStillGathering) wakeDeliverer(ctx, tx, id);
  return getWebhookRecord(tx, id, now);
}

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

/**
 * Returns the columns of an endpoint after a change, from the valid fields of its body. Adds an error for each unknown
 * page and monitor, and for a new destination that the format does not take or that would get a kept secret.
 */
export function readWebhookChange(
  ctx: Ctx,
  reader: Reader,
  before: WebhookRow,
  input: UpdateWebhookBody,
  errors: FieldErrors,
  isInvalid: IsInvalidField = () => false,
): DesiredWebhook {
  const { description, format = before.format } = input;
  const filters = readFilters(reader, errors, input);
  const settings = format === before.format ? before.settings : {};
  const url = namesUrl(before, input) ? storedUrl(format, input.url) : before.url;
  const desired: DesiredWebhook = {
    url,
    description: description === undefined ? before.description : description,
    events: input.events ? filters.events : before.events,
    pageId: input.page === undefined ? before.pageId : filters.pageId,
    monitors: input.monitors ? filters.monitors : before.monitors,
    format,
    groupSeconds: input.group_seconds ?? before.groupSeconds,
    settings: changedSettings(format, url, settings, input.settings ?? {}),
    enabled: input.enabled ?? before.enabled,
  };
  // An endpoint whose URL is no longer allowed can still be disabled.
  if (!isInvalid("url") && changesReach(before, desired)) {
    if (!isInvalid("settings")) validateKeptSecrets(errors, before, desired, input);
    const hidden = hiddenUrlError(before, desired, input);
    validateReach(ctx, errors, desired, isInvalid, hidden);
  }
  return desired;
}

/** True if another destination, or the same one in another way, gets the events. */
function changesReach(before: WebhookRow, desired: DesiredWebhook): boolean {
  const fields = ["url", "format", "settings"] as const;
  return fields.some((field) => !Bun.deepEquals(before[field], desired[field]));
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
  return isUrlSecret(before.format) && desired.format !== before.format && !namesUrl(before, input)
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
  if (desired.format !== before.format || !addsUse(usesOf(before), usesOf(desired))) return;
  const schema = FORMATS[before.format].settings;
  for (const path of keptSecrets(schema, before.settings, input.settings ?? {})) {
    errors.add(["settings", ...path], "must be entered again for another address or recipient");
  }
}

/** Names the address and the recipient of an endpoint, which its other settings decide. */
function usesOf({ url, format, settings }: Pick<WebhookRow, "url" | "format" | "settings">): Uses {
  const schema = FORMATS[format].settings;
  const none = Object.fromEntries(Object.keys(schema.properties).map((name) => [name, null]));
  const open = Object.entries({ ...none, ...givenValues(settings) }).filter(
    ([name]) => !isSecretField(schema, name),
  );
  // The URL of a template is compared as it is written: only its braces begin placeholders.
  const address = format === "template" ? url : URL.parse(url)?.href;
  return [address, ...open.map(([name, value]) => `${name} ${JSON.stringify(value)}`)];
}

/**
 * Returns settings after a change: null clears one or a value of a record of secrets, others that are left out stay.
 * Unknown names are kept, so that validation reports them.
 */
function changedSettings(
  format: WebhookRow["format"],
  url: string,
  before: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { settings: schema, trim } = FORMATS[format];
  const merged = mergeSecrets(schema, before, change, () => false);
  // In the order of the schema, so that equal settings are also written alike.
  const none = Object.fromEntries(Object.keys(schema.properties).map((name) => [name, null]));
  const settings = Object.fromEntries(
    Object.entries({ ...none, ...before, ...change, ...merged }).filter(
      ([name, value]) => value !== null || !Object.hasOwn(schema.properties, name),
    ),
  );
  return trim?.(url, settings) ?? settings;
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

/* What a body names, for new and changed endpoints. */

/** Reads the page, the monitors and the events that a body names; all of them if it names none. */
function readFilters(
  reader: Reader,
  errors: FieldErrors,
  {
    page = null,
    monitors = [ANY_MONITOR],
    events = [ANY_EVENT],
  }: Pick<UpdateWebhookBody, "page" | "monitors" | "events">,
): Pick<DesiredWebhook, "pageId" | "monitors" | "events"> {
  const pageId = readPage(reader, errors, page);
  const monitorIds = readMonitors(reader, errors, monitors);
  validateEvents(errors, events);
  return { pageId, monitors: monitorIds, events };
}

/**
 * Returns the id of the page that a body names; null for none. Adds an error for an unknown page
 * and for the sample page.
 */
function readPage(reader: Reader, errors: FieldErrors, slugOrId: string | null): string | null {
  if (slugOrId === null) return null;
  const page = findNamedPage(reader, errors, slugOrId);
  // Its webhooks would be deleted with it, unnoticed.
  if (page?.isSample) {
    errors.add(["page"], "is the sample page, which is removed when you create your first page");
  }
  return page?.id ?? null;
}

/**
 * Returns the ids of the monitors that a body names by id or ref, or `ANY_MONITOR`. Adds an error for
 * each that does not exist or occurs twice, and for a list that mixes `ANY_MONITOR` with monitors.
 */
export function readMonitors(
  reader: Reader,
  errors: FieldErrors,
  references: readonly string[],
): string[] {
  if (references.includes(ANY_MONITOR)) {
    if (references.length > 1) {
      errors.add(["monitors"], `must be ["${ANY_MONITOR}"] alone or a list of monitors`);
    }
    return [ANY_MONITOR];
  }
  const ids: string[] = [];
  for (const [index, reference] of references.entries()) {
    // An empty reference stands for an entry that breaks the schema and has its error already.
    if (reference === "") continue;
    const id = findMonitorId(reader, { reference })?.id;
    if (id === undefined) errors.add(["monitors", index], "is not a monitor");
    else if (ids.includes(id)) errors.add(["monitors", index], "names the same monitor twice");
    else ids.push(id);
  }
  return ids;
}

/** Adds an error for an event filter that mixes "*" with types. Its schema has passed. */
export function validateEvents(errors: FieldErrors, events: readonly string[]): void {
  if (events.includes(ANY_EVENT) && events.length > 1) {
    errors.add(["events"], `must be ["${ANY_EVENT}"] alone or a list of types`);
  }
}

/** Adds the error of a signing secret, if one is given. */
export function validateSecret(errors: FieldErrors, secret: string | undefined): void {
  const error = secret === undefined ? undefined : secretError(secret);
  if (error !== undefined) errors.add(["secret"], error);
}

/**
 * Adds errors of an endpoint's URL, format and settings: with an invalid format or invalid settings only of its URL.
 * `knownUrlError` is a known error of the URL.
 */
function validateReach(
  ctx: Ctx,
  errors: FieldErrors,
  { url, format, settings }: Pick<DesiredWebhook, "url" | "format" | "settings">,
  isInvalid: IsInvalidField,
  knownUrlError?: string,
): void {
  const isUrlAlone = isInvalid("format") || isInvalid("settings");
  const detail =
    knownUrlError ??
    destinationError(ctx, format, url) ??
    (isUrlAlone ? undefined : mailError(ctx, format));
  if (detail !== undefined) errors.add(["url"], detail);
  if (isUrlAlone) return;
  const isReadable = URL.canParse(url);
  const further = validateDestination(
    format,
    isReadable ? url : "https://unreadable.invalid",
    settings,
  );
  // At most one error for the URL.
  errors.addAll(
    [],
    further.filter(({ pointer }) => detail === undefined || pointer !== "#/url"),
  );
}

/** Returns the error of the URL or the address of an endpoint; undefined for a valid one. */
function destinationError(ctx: Ctx, format: WebhookFormat, url: string): string | undefined {
  if (format !== "email") return urlError(url, webhookPolicy(ctx.allowedNetworks));
  const address = parseMailto(url);
  return "error" in address ? address.error : undefined;
}

/** Returns the error of a format that needs mail while that is not ready. */
function mailError(ctx: Ctx, format: WebhookFormat): string | undefined {
  const readiness = format === "email" ? mailReadiness(ctx) : undefined;
  return readiness?.ready === false
    ? `needs mail, which needs ${describeMissing(readiness.missing)} first`
    : undefined;
}

/**
 * Returns the error of an endpoint's URL without repeating the URL; undefined for a valid one.
 * Recognises every spelling of an IP address. The addresses of a host name are checked at every
 * attempt.
 */
function urlError(text: string, policy: Policy): string | undefined {
  if (text.includes(ELLIPSIS)) return "is the shortened URL: enter the whole URL";
  // URL parsers drop these characters, so that the URL called would differ from the one shown.
  if (/[\s\\]|\p{Cc}/u.test(text))
    return "must not contain spaces, backslashes or control characters";
  const url = parseWebUrl(text);
  if (!url) return "must be a URL that begins with https:// or http://";
  if (hasUserInfo(url)) return "must not contain a user name or password";
  const detail = hostError(url.hostname, policy);
  return detail && `has a host that ${detail}`;
}

/** Returns a valid URL as it is stored. */
export function storedUrl(format: WebhookFormat, url: string): string {
  if (format !== "email") return url;
  const address = parseMailto(url);
  return "error" in address ? url : mailtoOf(address.address);
}
