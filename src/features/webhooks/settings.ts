import type { TObject } from "@sinclair/typebox";
import type { Ctx } from "../../context";
import type { Reader } from "../../db/statements";
import { hostError, type Policy, webhookPolicy } from "../../egress/policy";
import type { FieldErrors } from "../../base/validation";
import { findNamedPage } from "../pages/filter";
import { ANY_EVENT, ANY_MONITOR, type WebhookFormat } from "../../base/webhook";
import { describeMissing } from "../mail/test-mail";
import { mailReadiness } from "../mail/settings";
import { FORMATS, validateDestination, ELLIPSIS } from "./formats";
import { mailtoOf, parseMailto } from "./recipient";
import { secretError } from "./secrets";
import { findMonitorId } from "./monitor-store";
import type { WebhookRow } from "./store";

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:"]);

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
  const url = URL.parse(text);
  if (!url || !SCHEMES.has(url.protocol))
    return "must be a URL that begins with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  const detail = hostError(url.hostname, policy);
  return detail && `has a host that ${detail}`;
}

/** Returns the error of the URL or the address of an endpoint; undefined for a valid one. */
export function destinationError(ctx: Ctx, format: WebhookFormat, url: string): string | undefined {
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

/** Returns a valid URL as it is stored. */
export function storedUrl(format: WebhookFormat, url: string): string {
  if (format !== "email") return url;
  const address = parseMailto(url);
  return "error" in address ? url : mailtoOf(address.address);
}

/** Columns of an endpoint that callers set. */
export type DesiredWebhook = Pick<
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

/** Adds the error of a signing secret, if one is given. */
export function validateSecret(errors: FieldErrors, secret: string | undefined): void {
  const error = secret === undefined ? undefined : secretError(secret);
  if (error !== undefined) errors.add(["secret"], error);
}

/** Adds an error for an event filter that mixes "*" with types. Its schema has passed. */
export function validateEvents(errors: FieldErrors, events: readonly string[]): void {
  if (events.includes(ANY_EVENT) && events.length > 1) {
    errors.add(["events"], `must be ["${ANY_EVENT}"] alone or a list of types`);
  }
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

/**
 * Adds errors of an endpoint's URL, format and settings. `knownUrlError` is a known error of the
 * URL.
 */
export function validateReach(
  ctx: Ctx,
  errors: FieldErrors,
  { url, format, settings }: Pick<DesiredWebhook, "url" | "format" | "settings">,
  knownUrlError?: string,
): void {
  const detail = knownUrlError ?? destinationError(ctx, format, url) ?? mailError(ctx, format);
  if (detail !== undefined) errors.add(["url"], detail);
  const isReadable = URL.canParse(url);
  const validationErrors = validateDestination(
    format,
    isReadable ? url : "https://unreadable.invalid",
    settings,
  );
  // At most one error for the URL.
  errors.addAll(
    [],
    validationErrors.filter(({ pointer }) => detail === undefined || pointer !== "#/url"),
  );
}

/**
 * Returns the id of the page that a body names; null for none. Adds an error for an unknown page
 * and for the sample page.
 */
export function readPage(
  reader: Reader,
  errors: FieldErrors,
  slugOrId: string | null,
): string | null {
  if (slugOrId === null) return null;
  const page = findNamedPage(reader, errors, slugOrId);
  // Its webhooks would be deleted with it, unnoticed.
  if (page?.isSample) {
    errors.add(["page"], "is the sample page, which is removed when you create your first page");
  }
  return page?.id ?? null;
}

/**
 * Returns settings after a change: null clears one, others that are left out stay. Unknown names
 * are kept, so that validation reports them.
 */
export function changedSettings(
  format: WebhookRow["format"],
  before: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const declared = (FORMATS[format].settings as TObject).properties;
  return Object.fromEntries(
    Object.entries({ ...before, ...change }).filter(
      ([name, value]) => value !== null || !Object.hasOwn(declared, name),
    ),
  );
}
