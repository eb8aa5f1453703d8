import { CONNECTIONS_MAX, TLS_MODES, type TlsMode } from "../../base/config/mail";
import type { MailSettingsInput } from "../../features/mail/settings";
import type { StoredMailSettings } from "../../features/mail/stored-settings";
import { TextField } from "../../ui/form";
import { choiceField, integerField, textAreaField, textField } from "../../ui/forms/fields";
import { defineForm, type Field, nullable } from "../../ui/forms/form";

/** Names of the TLS modes. */
export const TLS_LABELS: Readonly<Record<TlsMode, { label: string; hint: string }>> = {
  implicit: { label: "From the start", hint: "Usually on port 465. The certificate is verified." },
  starttls: {
    label: "STARTTLS",
    hint: "Usually on port 587. Required: without it, nothing is sent. The certificate is verified.",
  },
  opportunistic: {
    label: "If offered",
    hint: "STARTTLS without verification, or no encryption. No user name.",
  },
  none: { label: "None", hint: "Unencrypted, for a relay on this machine. No user name." },
};

/** Screen data of the form. */
interface MailContext {
  hasPassword: boolean;
}

/** Field for the relay's password, which is never shown. An empty one keeps the stored password. */
const passwordField: Field<string, string | null, MailContext> = {
  label: "Password",
  initial: "",
  read: (sent, name) => sent.text(name),
  toBody: (typed) => (typed === "" ? null : typed),
  fromStored: () => "",
  Input: ({ name, errors, context }) => (
    <TextField
      label="Password"
      name={name}
      type="password"
      autocomplete="off"
      hint={
        context.hasPassword
          ? "Set. Leave empty to keep it. With another host or user name, type it again."
          : "Stored as it is, since the relay needs it. Never shown again."
      }
      error={errors[name]}
    />
  ),
};

export const MAIL_FORM = defineForm<MailSettingsInput, MailContext>()(
  {
    host: textField({
      label: "Host",
      hint: "Name or address of the SMTP relay, such as smtp.example.com.",
      isRequired: true,
    }),
    tls: choiceField<TlsMode>({
      label: "Encryption",
      initial: "starttls",
      options: TLS_MODES.map((value) => ({ value, ...TLS_LABELS[value] })),
    }),
    port: nullable(
      integerField({ label: "Port", hint: "If empty, 465, 587 or 25 by encryption." }),
    ),
    user: nullable(textField({ label: "User name" })),
    password: passwordField,
    from: textField({
      label: "From",
      hint: "Such as status@example.com or Northwind <status@example.com>.",
      isRequired: true,
    }),
    reply_to: nullable(textField({ label: "Reply to", hint: "An address to which replies go." })),
    bounce_address: nullable(
      textField({
        label: "Bounce address",
        hint: "An address to which reports about undelivered mail go, with at most 24 characters before the @. Each mail gets a sender of its own from it, such as bounces+eml_…@example.com.",
      }),
    ),
    connections: integerField({
      label: "Connections",
      hint: `At the same time, at most ${CONNECTIONS_MAX}.`,
      initial: 4,
      isRequired: true,
    }),
    rate_per_minute: integerField({
      label: "Mails per minute",
      hint: "0 for no limit.",
      initial: 600,
      isRequired: true,
    }),
    ca: nullable(
      textAreaField({
        label: "Certificates",
        hint: "Of private authorities to trust in addition, in PEM.",
        rows: 4,
      }),
    ),
  },
  { advanced: ["reply_to", "bounce_address", "connections", "rate_per_minute", "ca"] },
);

/** Returns what the form shows of the stored settings: everything but the password. */
export function shownSettings(stored: StoredMailSettings) {
  return MAIL_FORM.stored({ ...stored, password: null });
}
