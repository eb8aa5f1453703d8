import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { OneOf } from "../../../base/schema";
import { shownSchema, withoutSecrets } from "../../../base/secrets";
import type { Probe } from "../monitoring";
import {
  AllowPlainPassword,
  DEFAULT_TLS_MIN,
  DEFAULT_WARNING_DAYS,
  HostText,
  Password,
  portField,
  serverTarget,
  TLS_FIELDS,
  UserName,
  validateHostField,
  WarningDays,
} from "./fields";
import { secretRules, usesByFields } from "./secret-uses";

const DEFAULT_PORT = 25;
const MODES = ["off", "starttls", "starttls_if_offered", "tls"] as const;

const SmtpConfig = Type.Object(
  {
    host: HostText,
    port: portField(DEFAULT_PORT),
    tls: Type.Optional(
      OneOf(MODES, {
        description:
          "off: no TLS; starttls: required, with a certificate that is trusted for the host; starttls_if_offered: with any certificate; tls: from the start, with a trusted certificate. Default: starttls_if_offered.",
      }),
    ),
    user: Type.Optional(UserName),
    password: Type.Optional(Password),
    ...TLS_FIELDS,
    certificate_warning_days: Type.Optional(WarningDays),
    allow_plain_password: Type.Optional(AllowPlainPassword),
  },
  { additionalProperties: false, examples: [{ host: "mail.example.com", tls: "starttls" }] },
);
type SmtpConfig = Static<typeof SmtpConfig>;

const completed = (config: SmtpConfig) => ({
  ...config,
  port: config.port ?? DEFAULT_PORT,
  tls: config.tls ?? "starttls_if_offered",
  tls_min: config.tls_min ?? DEFAULT_TLS_MIN,
  certificate_warning_days: config.certificate_warning_days ?? DEFAULT_WARNING_DAYS,
  allow_plain_password: config.allow_plain_password ?? false,
});

export type CompletedSmtpConfig = ReturnType<typeof completed>;

const RULES = secretRules<SmtpConfig>(
  SmtpConfig,
  usesByFields(SmtpConfig, ["password", "certificate_warning_days"], completed),
);

/** Checks that a mail server greets, encrypts and signs in. No mail is sent. */
export const smtpProbe = {
  type: "smtp",
  label: "Mail server (SMTP)",
  config: SmtpConfig,
  shown: shownSchema(SmtpConfig),
  validate: validateSmtp,
  validateChange: RULES.validateChange,
  present: (config) => withoutSecrets(SmtpConfig, completed(config)),
  merge: RULES.merge,
  targetOf: (config) => serverTarget(config, DEFAULT_PORT),
  run: async (config, context) =>
    (await import("./checks/smtp")).checkSmtp(completed(config), context),
} satisfies Probe<"smtp", SmtpConfig>;

/** Returns errors of credentials. As in the settings of mail, they need TLS that is verified. */
function validateSmtp(config: SmtpConfig): FieldError[] {
  const { user, password, tls, allow_plain_password: isPlainAllowed } = completed(config);
  const errors = validateHostField(config);
  const isVerified = tls === "starttls" || tls === "tls";
  if (user !== undefined && !isVerified && !isPlainAllowed) {
    errors.push({
      pointer: pointer("user"),
      detail: "needs STARTTLS or TLS with a verified certificate, or allow_plain_password",
    });
  }
  if (user === undefined && password !== undefined) {
    errors.push({ pointer: pointer("user"), detail: "is missing for the password" });
  }
  return errors;
}
