import type { Ctx } from "../../context";
import type { Reader } from "../../db/statements";
import { FieldErrors, type IsInvalidField } from "../../base/validation";
import type { CreateWebhookBody, UpdateWebhookBody } from "./bodies";
import { shownUrl } from "./formats";
import type { WebhookFormat } from "../../base/webhook";
import {
  destinationError,
  readMonitors,
  readPage,
  validateEvents,
  validateReach,
  validateSecret,
} from "./settings";
import { resolveWebhookId } from "./records";
import { findWebhook } from "./store";

/** Returns an unknown page, unknown monitors and invalid values in the body of a new webhook. */
export function createWebhookErrors(
  ctx: Ctx,
  reader: Reader,
  input: Partial<CreateWebhookBody>,
  isInvalid: IsInvalidField,
): FieldErrors {
  const errors = new FieldErrors();
  const { url, format = "standard", settings = {}, secret } = input;
  addFilters(reader, errors, input);
  if (url !== undefined && !isInvalid("format") && !isInvalid("settings")) {
    validateReach(ctx, errors, { url, format, settings });
  } else addUrl(ctx, errors, isInvalid("format") ? "standard" : format, url);
  validateSecret(errors, secret);
  return errors;
}

/** Returns an unknown page, unknown monitors and invalid values in a change of a webhook. */
export function updateWebhookErrors(
  ctx: Ctx,
  reader: Reader,
  reference: string,
  input: Partial<UpdateWebhookBody>,
): FieldErrors {
  const errors = new FieldErrors();
  const row = findWebhook(reader, { id: resolveWebhookId(reader, reference) });
  if (!row) return errors;
  addFilters(reader, errors, input);
  if (input.url !== shownUrl(row.format, row.url)) {
    addUrl(ctx, errors, input.format ?? row.format, input.url);
  }
  return errors;
}

function addFilters(
  reader: Reader,
  errors: FieldErrors,
  { page, events, monitors }: Partial<UpdateWebhookBody>,
): void {
  readPage(reader, errors, page ?? null);
  readMonitors(reader, errors, monitors ?? []);
  validateEvents(errors, events ?? []);
}

function addUrl(
  ctx: Ctx,
  errors: FieldErrors,
  format: WebhookFormat,
  url: string | undefined,
): void {
  const fault = url === undefined ? undefined : destinationError(ctx, format, url);
  if (fault !== undefined) errors.add(["url"], fault);
}
