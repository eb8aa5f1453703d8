import type { TObject } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../base/errors";
import { ANOTHER_SECRET, describeSecretChange, MISSING_SECRET, SECRET } from "../../base/secrets";
import { type DeclaredWebhook, formatOf, isUrlSecret, isVerified, canOmit } from "./declared";
import { FORMATS } from "./formats";
import { storedUrl } from "./settings";
import type { WebhookRow } from "./store";

/**
 * Desired URL, settings and signing secret of an endpoint. `current` and `desired` hold both states
 * by field, without secrets, for comparison and display.
 */
interface DesiredConnection {
  /** New URL; undefined to keep it. */
  url: string | undefined;
  /** Settings to create a new endpoint with. */
  creation: Record<string, unknown>;
  /** Changed settings of an existing endpoint. */
  change: Record<string, unknown>;
  /** New signing secret; undefined to keep it, or to generate one that no receiver needs. */
  secret: string | undefined;
  current: Record<string, unknown>;
  desired: Record<string, unknown>;
  /** Errors for secrets to keep that are not stored. */
  missing: FieldError[];
}

/**
 * Returns the desired state of a new endpoint, or of an existing one. `webhook` has passed
 * `validateDeclaredWebhook`.
 */
export function desiredConnection(
  webhook: DeclaredWebhook,
  row: WebhookRow | undefined,
): DesiredConnection {
  const connection: DesiredConnection = {
    url: webhook.url ?? undefined,
    creation: {},
    change: {},
    secret: webhook.secret ?? undefined,
    current: {},
    desired: {},
    missing: [],
  };
  addUrl(connection, webhook, row);
  addSettings(connection, webhook, row);
  addSecret(connection, webhook, row);
  return connection;
}

function addUrl(
  connection: DesiredConnection,
  webhook: DeclaredWebhook,
  row: WebhookRow | undefined,
): void {
  const { url, current, desired, missing } = connection;
  const isSecret = isUrlSecret(formatOf(webhook));
  current["url"] = row && (isUrlSecret(row.format) ? SECRET : row.url);
  if (url === undefined) {
    desired["url"] = current["url"];
    if (!row) missing.push({ pointer: pointer("url"), detail: MISSING_SECRET });
  } else if (!isSecret) desired["url"] = storedUrl(formatOf(webhook), url);
  else desired["url"] = url === row?.url ? current["url"] : ANOTHER_SECRET;
}

function addSettings(
  connection: DesiredConnection,
  webhook: DeclaredWebhook,
  row: WebhookRow | undefined,
): void {
  const format = formatOf(webhook);
  const { settings, secretSettings } = FORMATS[format];
  // Another format starts without settings.
  const before: Readonly<Record<string, unknown>> = row?.format === format ? row.settings : {};
  for (const name of Object.keys((settings as TObject).properties)) {
    const [declared, stored] = [webhook.settings?.[name], before[name]];
    if (secretSettings.includes(name)) {
      addSecretSetting(connection, {
        name,
        declared,
        stored,
        isNeeded: !canOmit(format, name),
      });
      continue;
    }
    connection.current[`settings.${name}`] = stored ?? null;
    connection.desired[`settings.${name}`] = declared ?? null;
    if (declared !== undefined) connection.creation[name] = declared;
    if (declared !== stored) connection.change[name] = declared ?? null;
  }
}

function addSecretSetting(
  { creation, change, current, desired, missing }: DesiredConnection,
  setting: { name: string; declared: unknown; stored: unknown; isNeeded: boolean },
): void {
  const { name, declared, stored, isNeeded } = setting;
  const field = `settings.${name}`;
  const described = describeSecretChange(stored, declared);
  current[field] = described.current;
  desired[field] = described.desired;
  if (declared === undefined || declared === null) {
    if (stored === undefined && (isNeeded || declared === null)) {
      missing.push({ pointer: pointer("settings", name), detail: MISSING_SECRET });
    }
  } else if (declared === "") {
    change[name] = null;
  } else {
    creation[name] = declared;
    change[name] = declared;
  }
}

function addSecret(
  { secret, current, desired, missing }: DesiredConnection,
  webhook: DeclaredWebhook,
  row: WebhookRow | undefined,
): void {
  current["secret"] = SECRET;
  desired["secret"] = secret === undefined || secret === row?.secret ? SECRET : ANOTHER_SECRET;
  // A generated secret would be unknown to the receiver.
  const isNeeded = webhook.secret === null || isVerified(formatOf(webhook));
  if (!row && secret === undefined && isNeeded) {
    missing.push({ pointer: pointer("secret"), detail: MISSING_SECRET });
  }
}
