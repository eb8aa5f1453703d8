import type { TObject } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../errors";
import { type DeclaredWebhook, formatOf, isUrlSecret, isVerified, mayLeaveOut } from "./declared";
import { FORMATS } from "./formats";
import type { WebhookRow } from "./store";

/** How a secret is told of where it must not be told. */
const SECRET = "a secret";
const ANOTHER = "another secret";
const MISSING = "is a secret that is not known here yet: give it, such as ${NAME} of a variable";

/**
 * What a file asks for of what an endpoint is reached and signed with. `present` and `wanted` tell both by
 * field, to compare and to show: without a secret.
 */
export interface WantedReach {
  /** Undefined where it stays as it is. */
  url: string | undefined;
  /** The settings of a new endpoint. */
  creation: Record<string, unknown>;
  /** The change of those of one that is there. */
  change: Record<string, unknown>;
  /** Undefined where it stays as it is, or, for a new one, where nobody has to know it. */
  secret: string | undefined;
  present: Record<string, unknown>;
  wanted: Record<string, unknown>;
  /** The secrets that should be kept, and are not there. */
  missing: FieldError[];
}

/** Of a new endpoint, or of the one that is there. `webhook` has passed `judgeDeclaredWebhook`. */
export function wantedReach(webhook: DeclaredWebhook, row: WebhookRow | undefined): WantedReach {
  const reach: WantedReach = {
    url: webhook.url ?? undefined,
    creation: {},
    change: {},
    secret: webhook.secret ?? undefined,
    present: {},
    wanted: {},
    missing: [],
  };
  wantUrl(reach, webhook, row);
  wantSettings(reach, webhook, row);
  wantSecret(reach, webhook, row);
  return reach;
}

function wantUrl(reach: WantedReach, webhook: DeclaredWebhook, row: WebhookRow | undefined): void {
  const { url, present, wanted, missing } = reach;
  const isSecret = isUrlSecret(formatOf(webhook));
  present["url"] = row && (isUrlSecret(row.format) ? SECRET : row.url);
  if (url === undefined) {
    wanted["url"] = present["url"];
    if (!row) missing.push({ pointer: pointer("url"), detail: MISSING });
  } else if (!isSecret) wanted["url"] = url;
  else wanted["url"] = url === row?.url ? present["url"] : ANOTHER;
}

function wantSettings(
  reach: WantedReach,
  webhook: DeclaredWebhook,
  row: WebhookRow | undefined,
): void {
  const format = formatOf(webhook);
  const { settings, secretSettings } = FORMATS[format];
  // Another format begins without any.
  const before: Readonly<Record<string, unknown>> = row?.format === format ? row.settings : {};
  for (const name of Object.keys((settings as TObject).properties)) {
    const [given, has] = [webhook.settings?.[name], before[name]];
    if (secretSettings.includes(name)) {
      wantSecretSetting(reach, { name, given, has, isNeeded: !mayLeaveOut(format, name) });
      continue;
    }
    reach.present[`settings.${name}`] = has ?? null;
    reach.wanted[`settings.${name}`] = given ?? null;
    if (given !== undefined) reach.creation[name] = given;
    if (given !== has) reach.change[name] = given ?? null;
  }
}

function wantSecretSetting(
  { creation, change, present, wanted, missing }: WantedReach,
  setting: { name: string; given: unknown; has: unknown; isNeeded: boolean },
): void {
  const { name, given, has, isNeeded } = setting;
  const field = `settings.${name}`;
  const told = has === undefined ? null : SECRET;
  present[field] = told;
  wanted[field] = told;
  if (given === undefined || given === null) {
    if (has === undefined && (isNeeded || given === null)) {
      missing.push({ pointer: pointer("settings", name), detail: MISSING });
    }
  } else if (given === "") {
    change[name] = null;
    wanted[field] = null;
  } else {
    creation[name] = given;
    change[name] = given;
    if (given !== has) wanted[field] = told === null ? SECRET : ANOTHER;
  }
}

function wantSecret(
  { secret, present, wanted, missing }: WantedReach,
  webhook: DeclaredWebhook,
  row: WebhookRow | undefined,
): void {
  present["secret"] = SECRET;
  wanted["secret"] = secret === undefined || secret === row?.secret ? SECRET : ANOTHER;
  // One that is made here would be known to nobody.
  const isNeeded = webhook.secret === null || isVerified(formatOf(webhook));
  if (!row && secret === undefined && isNeeded) {
    missing.push({ pointer: pointer("secret"), detail: MISSING });
  }
}
