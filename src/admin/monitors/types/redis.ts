import { integerField, selectField } from "../../../ui/forms/fields";
import { nullable } from "../../../ui/forms/form";
import { passwordField } from "../secret-texts";
import {
  certificateWarningField,
  hostField,
  plainPasswordField,
  portField,
  tlsField,
  tlsRulesFields,
  userField,
} from "./server-fields";
import type { TypeForm } from "./type-form";

export const redisForm: TypeForm = {
  sentence: "Signs in to a Redis or Valkey server, and fails if a PING is not answered.",
  fields: {
    host: hostField(),
    port: portField(6379),
    tls: tlsField(),
    user: userField(),
    password: passwordField(),
  },
  advanced: {
    database: nullable(
      integerField({ label: "Database", hint: "Optional. Number of a database to select." }),
    ),
    role: nullable(
      selectField({
        label: "Role",
        hint: "The check fails if the server has another role.",
        empty: "Any",
        options: [
          { value: "master", label: "Master" },
          { value: "replica", label: "Replica" },
        ],
      }),
    ),
    ...tlsRulesFields(),
    allow_plain_password: plainPasswordField(),
    certificate_warning_days: certificateWarningField(),
  },
};
