import type { AppContext } from "../../context";
import { invalidFields } from "../../errors";
import {
  createKey,
  type CreateKeyBody,
  DEFAULT_RATE_LIMIT,
  expiryOfChoice,
  validateCreateKey,
  KEY_PRESETS,
  type RevealedKey,
  SCOPE_NAMES,
} from "../../features/keys";
import { actorOf, type RequestContext, type Form } from "../../http";
import type { Reveal, Reveals } from "../reveals";
import type { KeyFormValues } from "./form";

/** What the form begins with: nothing but defaults, or what a preset fills in. */
export function emptyForm(presetId: string | undefined): KeyFormValues {
  const preset = KEY_PRESETS.find(({ id }) => id === presetId);
  return {
    name: preset?.name ?? "",
    scopes: preset?.scopes ?? [],
    rateLimit: String(DEFAULT_RATE_LIMIT),
    expires: "never",
    expiresDate: "",
  };
}

/** What was typed, to be shown again. */
export function formValues(form: Form): KeyFormValues {
  return {
    name: form.text("name"),
    scopes: form.all("scopes"),
    rateLimit: form.text("rate_limit"),
    expires: form.text("expires") || "never",
    expiresDate: form.text("expires_date"),
  };
}

/** Creates the key that a form asks for, once. Throws `validation_failed` with every wrong field. */
export async function createFromForm(
  ctx: AppContext,
  reveals: Reveals,
  requestContext: RequestContext,
  form: Form,
): Promise<Reveal<RevealedKey>> {
  return reveals.reveal(requestContext, form, (tx) => {
    // Judged here, after it is known that the form was not sent before: what it asked for then may lie
    // in the past by now.
    const made = createKey(
      ctx,
      tx,
      readInput(formValues(form), ctx.clock.now()),
      actorOf(requestContext),
    );
    return { made, subjectId: made.key.id };
  });
}

/** The key that was asked for. Throws `validation_failed` with every wrong field. */
function readInput(values: KeyFormValues, now: number): CreateKeyBody {
  const expiry = expiryOfChoice(values.expires, values.expiresDate, now);
  const isWrongDate = expiry !== null && typeof expiry === "object";
  const input: CreateKeyBody = {
    name: values.name.trim(),
    // Judged with the rest, so that all that is wrong is told together. More than there are hold one
    // that is unknown or doubled, and tens of thousands would take long to complain of.
    scopes: values.scopes.slice(0, SCOPE_NAMES.length + 1) as CreateKeyBody["scopes"],
    rate_limit:
      values.rateLimit.trim() === "" ? DEFAULT_RATE_LIMIT : readRateLimit(values.rateLimit),
    expires: isWrongDate ? null : expiry,
  };
  const fields = validateCreateKey(input, now);
  if (isWrongDate) {
    const pointer = values.expires === "date" ? "#/expires_date" : "#/expires";
    fields.push({ pointer, detail: expiry.complaint });
  }
  if (fields.length > 0) throw invalidFields(fields);
  return input;
}

// Digits, in groups of three where they are grouped at all: "1,5" is no way to write 15.
const WHOLE_NUMBER = /^(?:\d{1,15}|\d{1,3}(?:[\s,_]\d{3}){1,4})$/;

/** A limit as it was typed; NaN, which the service refuses, for what is no whole number. */
export function readRateLimit(text: string): number {
  const typed = text.trim();
  return WHOLE_NUMBER.test(typed) ? Number(typed.replaceAll(/\D/g, "")) : Number.NaN;
}
