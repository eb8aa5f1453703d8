import { type FieldError, schemaErrors } from "../../../errors";
import type { WebhookFormat } from "../../../domain/webhook";
import type { Format } from "./format";
import { discord } from "./discord";
import { gotify } from "./gotify";
import { ntfy } from "./ntfy";
import { slack } from "./slack";
import { standard } from "./standard";
import { statuspage } from "./statuspage";
import { teams } from "./teams";
import { telegram } from "./telegram";

/** Every format by its name. */
export const FORMATS: Readonly<Record<WebhookFormat, Format>> = {
  standard,
  statuspage,
  slack,
  discord,
  ntfy,
  gotify,
  telegram,
  teams,
};

/**
 * Everything that is wrong with a destination for a format: settings that break its schema, else what
 * the format itself finds. `url` must parse; who may be called at all is judged elsewhere.
 */
export function validateDestination(
  name: WebhookFormat,
  url: string,
  settings: Readonly<Record<string, unknown>>,
): FieldError[] {
  const format = FORMATS[name];
  const broken = schemaErrors(format.settings, settings).map(({ pointer, detail }) => ({
    pointer: pointer.replace(/^#/, "#/settings"),
    detail,
  }));
  return [...broken, ...format.validate(url, settings)];
}

/** Replaces the secret part of a shown URL. */
export const CUT = "…";

/** A URL as it may be shown: where it is a secret, without what makes it one. It must parse. */
export function shownUrl(name: WebhookFormat, url: string): string {
  const { openPath } = FORMATS[name];
  if (!openPath) return url;
  const { origin, pathname } = new URL(url);
  const [open = "/"] = openPath.exec(pathname) ?? [];
  return `${origin}${open}${CUT}`;
}

/** Settings as they may be shown, and the names of those that are set and may not. */
export function shownSettings(
  name: WebhookFormat,
  settings: Readonly<Record<string, unknown>>,
): { settings: Record<string, unknown>; secretSettings: string[] } {
  const isSecret = (setting: string) => FORMATS[name].secretSettings.includes(setting);
  return {
    settings: Object.fromEntries(
      Object.entries(settings).filter(([setting]) => !isSecret(setting)),
    ),
    secretSettings: Object.keys(settings).filter(isSecret),
  };
}
