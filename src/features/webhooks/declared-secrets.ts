import type { TObject } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../errors";
import {
  ANOTHER_SECRET,
  MISSING_SECRET,
  SECRET,
  describeSecretChange,
} from "../../domain/secret-change";
import { type DeclaredWebhook, formatOf, isUrlSecret, isVerified, mayLeaveOut } from "./declared";
import { FORMATS } from "./formats";
import type { WebhookRow } from "./store";

/**
 * Desired URL, settings and signing secret of an endpoint. `present` and `wanted` are both by
 * field, without secrets, for comparison and display.
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
  desired: Record<string, unknown>;
  /** The secrets that should be kept, and are not there. */
  missing: FieldError[];
}

/** Of a new endpoint, or of the one that is there. `webhook` has passed `validateDeclaredWebhook`. */
export function wantedReach(webhook: DeclaredWebhook, row: WebhookRow | undefined): WantedReach {
  const reach: WantedReach = {
    url: webhook.url ?? undefined,
    creation: {},
    change: {},
    secret: webhook.secret ?? undefined,
    present: {},
    desired: {},
    missing: [],
  };
  wantUrl(reach, webhook, row);
  wantSettings(reach, webhook, row);
  wantSecret(reach, webhook, row);
  return reach;
}

function wantUrl(reach: WantedReach, webhook: DeclaredWebhook, row: WebhookRow | undefined): void {
  const { url, present, desired, missing } = reach;
  const isSecret = isUrlSecret(formatOf(webhook));
  present["url"] = row && (isUrlSecret(row.format) ? SECRET : row.url);
  if (url === undefined) {
    desired["url"] = present["url"];
    if (!row) missing.push({ pointer: pointer("url"), detail: MISSING_SECRET });
  } else if (!isSecret) desired["url"] = url;
  else desired["url"] = url === row?.url ? present["url"] : ANOTHER_SECRET;
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
    reach.desired[`settings.${name}`] = given ?? null;
    if (given !== undefined) reach.creation[name] = given;
    if (given !== has) reach.change[name] = given ?? null;
  }
}

function wantSecretSetting(
  { creation, change, present, desired, missing }: WantedReach,
  setting: { name: string; given: unknown; has: unknown; isNeeded: boolean },
): void {
  const { name, given, has, isNeeded } = setting;
  const field = `settings.${name}`;
  const told = describeSecretChange(has, given);
  present[field] = told.present;
  desired[field] = told.desired;
  if (given === undefined || given === null) {
    if (has === undefined && (isNeeded || given === null)) {
      missing.push({ pointer: pointer("settings", name), detail: MISSING_SECRET });
    }
  } else if (given === "") {
    change[name] = null;
  } else {
    creation[name] = given;
    change[name] = given;
  }
}

function wantSecret(
  { secret, present, desired, missing }: WantedReach,
  webhook: DeclaredWebhook,
  row: WebhookRow | undefined,
): void {
  present["secret"] = SECRET;
  desired["secret"] = secret === undefined || secret === row?.secret ? SECRET : ANOTHER_SECRET;
  // One that is made here would be known to nobody.
  const isNeeded = webhook.secret === null || isVerified(formatOf(webhook));
  if (!row && secret === undefined && isNeeded) {
    missing.push({ pointer: pointer("secret"), detail: MISSING_SECRET });
  }
}
