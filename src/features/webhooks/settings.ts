import type { TObject } from "@sinclair/typebox";
import type { AppContext } from "../../context";
import type { Reader } from "../../db";
import { webhookPolicy, hostError, type Policy } from "../../egress";
import type { FieldErrors } from "../../errors";
import { findNamedPage } from "../pages";
import { ANY_EVENT } from "./bodies";
import { FORMATS, validateDestination, CUT } from "./formats";
import type { WebhookRow } from "./store";

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:"]);

/**
 * Returns the error of an endpoint's URL without repeating it; undefined for a valid one.
 * Recognises every spelling of an address. The addresses of a name are checked at every attempt.
 */
export function urlError(text: string, policy: Policy): string | undefined {
  if (text.includes(CUT)) return "is as it is shown, without its end; give the whole URL";
  // What a parser would drop in silence, so that another URL is called than the one that was read.
  if (/[\s\\]|\p{Cc}/u.test(text)) return "must hold no blanks, backslashes or control characters";
  const url = URL.parse(text);
  if (!url || !SCHEMES.has(url.protocol))
    return "must be a URL that begins with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must hold no user name and no password";
  const complaint = hostError(url.hostname, policy);
  return complaint && `has a host that ${complaint}`;
}

/** Columns of an endpoint that callers set. */
export type Wanted = Pick<
  WebhookRow,
  "url" | "description" | "events" | "pageId" | "format" | "settings" | "enabled"
>;

/** Adds what is wrong with a filter of events whose parts its schema has passed. */
export function validateEvents(errors: FieldErrors, events: readonly string[]): void {
  if (events.includes(ANY_EVENT) && events.length > 1) {
    errors.add(["events"], `must be ["${ANY_EVENT}"] alone or a list of types`);
  }
}

/**
 * Adds what is wrong with where an endpoint is to be reached, and with what. `urlComplaint` is what is
 * wrong with its URL already.
 */
export function validateReach(
  ctx: Pick<AppContext, "config">,
  errors: FieldErrors,
  { url, format, settings }: Pick<Wanted, "url" | "format" | "settings">,
  urlComplaint?: string,
): void {
  const complaint = urlComplaint ?? urlError(url, webhookPolicy(ctx.config.outboundAllow));
  if (complaint !== undefined) errors.add(["url"], complaint);
  const isReadable = URL.canParse(url);
  const validationErrors = validateDestination(
    format,
    isReadable ? url : "https://unreadable.invalid",
    settings,
  );
  // One complaint a field: a URL that may not be called need not suit the format, too.
  errors.addAll(
    [],
    validationErrors.filter(({ pointer }) => complaint === undefined || pointer !== "#/url"),
  );
}

/** The id of the page that a body names; null for none. Adds what is wrong with it. */
export function readPage(
  reader: Reader,
  errors: FieldErrors,
  slugOrId: string | null,
): string | null {
  if (slugOrId === null) return null;
  const page = findNamedPage(reader, errors, slugOrId);
  // Its webhooks would go with it, and nobody would notice.
  if (page?.isSample) {
    errors.add(["page"], "is the sample page, which goes with the first one of your own");
  }
  return page?.id ?? null;
}

/**
 * Settings after a change that names some of them: null clears, what is not named stays. What the format
 * does not know is left in, to be complained of.
 */
export function changedSettings(
  format: WebhookRow["format"],
  before: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const known = (FORMATS[format].settings as TObject).properties;
  return Object.fromEntries(
    Object.entries({ ...before, ...change }).filter(
      ([name, value]) => value !== null || !Object.hasOwn(known, name),
    ),
  );
}
