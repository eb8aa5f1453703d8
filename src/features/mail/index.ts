/**
 * E-mail through the relay that the operator names: its settings, connections to it, and test mails. Knows
 * neither pages nor subscribers.
 */
import type { RelayFault } from "./smtp/reply";
import type { RelayConnection, RelayOptions } from "./smtp/relay";

export {
  type MailReadiness,
  mailReadiness,
  type MailSettings,
  type MailSettingsInput,
  mailSetters,
  type MissingForMail,
  readMailSettings,
  readStoredMailSettings,
  removeMailSettings,
  type Sender,
  setMailSettings,
} from "./settings";
export type { StoredMailSettings } from "./stored-settings";
export type { RelayConnection, RelayOptions, RelayStep } from "./smtp/relay";
export { formatReply, RelayFault, type RelayStage, type Reply } from "./smtp/reply";
export type { MailEnvelope } from "./smtp/session";

/** Connects to a relay and signs in. The SMTP client is loaded with the first call, which shortens the start. */
export async function openRelay(options: RelayOptions): Promise<RelayConnection | RelayFault> {
  return (await import("./smtp/relay")).openRelay(options);
}
