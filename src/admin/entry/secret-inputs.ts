import { WEBHOOK_FORMATS } from "../../domain/webhook";
import { settingsOf } from "../webhooks/setting-fields";

/** Passwords, and the headers and bodies that a monitor sends. */
const SECRET_INPUT = /password|^header_\d+_value$|^config_body$/;

const SECRET_SETTINGS: ReadonlySet<string> = new Set(
  WEBHOOK_FORMATS.flatMap(settingsOf)
    .filter(({ isSecret }) => isSecret)
    .map(({ input }) => input),
);

/** Returns true if a form's input holds a secret, which no page shows again. */
export function isSecretInput(name: string): boolean {
  return SECRET_INPUT.test(name) || SECRET_SETTINGS.has(name);
}
