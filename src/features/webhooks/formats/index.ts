import type { FieldError } from "../../../base/errors";
import { isSecretField, secretsIn } from "../../../base/secrets";
import { schemaErrors } from "../../../base/validation";
import type { WebhookFormat } from "../../../base/webhook";
import { discord } from "./discord";
import { email } from "./email";
import type { Format } from "./format";
import { gotify } from "./gotify";
import { ntfy } from "./ntfy";
import { slack } from "./slack";
import { standard } from "./standard";
import { statuspage } from "./statuspage";
import { teams } from "./teams";
import { telegram } from "./telegram";
import { template } from "./template";
import { uptimeKuma } from "./uptime-kuma";

/** Every format by its name. */
export const FORMATS: Readonly<Record<WebhookFormat, Format>> = {
  standard,
  statuspage,
  "uptime-kuma": uptimeKuma,
  slack,
  discord,
  ntfy,
  gotify,
  telegram,
  teams,
  email,
  template,
};

/**
 * Returns the errors of URL and settings for a format: those of the settings' schema, then those of
 * the format. `url` must parse; its host is checked elsewhere.
 */
export function validateDestination(
  name: WebhookFormat,
  url: string,
  settings: Readonly<Record<string, unknown>>,
): FieldError[] {
  const format = FORMATS[name];
  const errors = schemaErrors(format.settings, settings).map(({ pointer, detail }) => ({
    pointer: pointer.replace(/^#/, "#/settings"),
    detail,
  }));
  return [...errors, ...format.validate(url, settings)];
}

/** Returns true if a URL of this format is a secret, because knowing it is enough to use it. */
export function isUrlSecret(format: WebhookFormat): boolean {
  return FORMATS[format].openPath !== undefined;
}

/** Text that replaces the secret part of a URL. */
export const ELLIPSIS = "…";

/** Returns a URL as it may be shown: a secret URL is shortened. `url` must parse. */
export function shownUrl(name: WebhookFormat, url: string): string {
  const { openPath } = FORMATS[name];
  if (!openPath) return url;
  const { origin, pathname } = new URL(url);
  const [open = "/"] = openPath.exec(pathname) ?? [];
  return `${origin}${open}${ELLIPSIS}`;
}

/** Returns the settings that may be shown, and the names of secret settings that are set, such as `token` or `secrets.KEY`. */
export function shownSettings(
  name: WebhookFormat,
  settings: Readonly<Record<string, unknown>>,
): { settings: Record<string, unknown>; secretSettings: string[] } {
  const isHidden = (setting: string) => isSecretField(FORMATS[name].settings, setting);
  return {
    settings: Object.fromEntries(
      Object.entries(settings).filter(([setting]) => !isHidden(setting)),
    ),
    secretSettings: secretsIn(FORMATS[name].settings, settings).map(({ path }) => path.join(".")),
  };
}
