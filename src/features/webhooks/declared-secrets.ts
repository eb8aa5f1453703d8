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
 * Desired URL, settings and signing secret of an endpoint. `present` and `desired` hold both states
 * by field, without secrets, for comparison and display.
 */
interface DesiredReach {
  /** New URL; undefined to keep it. */
  url: string | undefined;
  /** Settings to create a new endpoint with. */
  creation: Record<string, unknown>;
  /** Changed settings of an existing endpoint. */
  change: Record<string, unknown>;
  /** New signing secret; undefined to keep it, or to generate one that no receiver needs. */
  secret: string | undefined;
  present: Record<string, unknown>;
  desired: Record<string, unknown>;
  /** Errors for secrets to keep that are not stored. */
  missing: FieldError[];
}

/**
 * Returns the desired state of a new endpoint, or of an existing one. `webhook` has passed
 * `validateDeclaredWebhook`.
 */
export function desiredReach(webhook: DeclaredWebhook, row: WebhookRow | undefined): DesiredReach {
  const reach: DesiredReach = {
    url: webhook.url ?? undefined,
    creation: {},
    change: {},
    secret: webhook.secret ?? undefined,
    present: {},
    desired: {},
    missing: [],
  };
  addUrl(reach, webhook, row);
  addSettings(reach, webhook, row);
  addSecret(reach, webhook, row);
  return reach;
}

function addUrl(reach: DesiredReach, webhook: DeclaredWebhook, row: WebhookRow | undefined): void {
  const { url, present, desired, missing } = reach;
  const isSecret = isUrlSecret(formatOf(webhook));
  present["url"] = row && (isUrlSecret(row.format) ? SECRET : row.url);
  if (url === undefined) {
    desired["url"] = present["url"];
    if (!row) missing.push({ pointer: pointer("url"), detail: MISSING_SECRET });
  } else if (!isSecret) desired["url"] = url;
  else desired["url"] = url === row?.url ? present["url"] : ANOTHER_SECRET;
}

function addSettings(
  reach: DesiredReach,
  webhook: DeclaredWebhook,
  row: WebhookRow | undefined,
): void {
  const format = formatOf(webhook);
  const { settings, secretSettings } = FORMATS[format];
  // Another format starts without settings.
  const before: Readonly<Record<string, unknown>> = row?.format === format ? row.settings : {};
  for (const name of Object.keys((settings as TObject).properties)) {
    const [given, has] = [webhook.settings?.[name], before[name]];
    if (secretSettings.includes(name)) {
      addSecretSetting(reach, { name, given, has, isNeeded: !mayLeaveOut(format, name) });
      continue;
    }
    reach.present[`settings.${name}`] = has ?? null;
    reach.desired[`settings.${name}`] = given ?? null;
    if (given !== undefined) reach.creation[name] = given;
    if (given !== has) reach.change[name] = given ?? null;
  }
}

function addSecretSetting(
  { creation, change, present, desired, missing }: DesiredReach,
  setting: { name: string; given: unknown; has: unknown; isNeeded: boolean },
): void {
  const { name, given, has, isNeeded } = setting;
  const field = `settings.${name}`;
  const described = describeSecretChange(has, given);
  present[field] = described.present;
  desired[field] = described.desired;
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

function addSecret(
  { secret, present, desired, missing }: DesiredReach,
  webhook: DeclaredWebhook,
  row: WebhookRow | undefined,
): void {
  present["secret"] = SECRET;
  desired["secret"] = secret === undefined || secret === row?.secret ? SECRET : ANOTHER_SECRET;
  // A generated secret would be unknown to the receiver.
  const isNeeded = webhook.secret === null || isVerified(formatOf(webhook));
  if (!row && secret === undefined && isNeeded) {
    missing.push({ pointer: pointer("secret"), detail: MISSING_SECRET });
  }
}
