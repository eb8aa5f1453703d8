import { TLS_VERSIONS } from "../../../egress/model";
import { checkboxField, integerField, selectField, textField } from "../../../ui/forms/fields";
import { nullable } from "../../../ui/forms/form";
import { certificatesField } from "./http-parts";

/* Fields that the forms of several types share. */

export function hostField() {
  return textField({ label: "Host", hint: "A name or an IP address.", isRequired: true });
}

/** Field for a port with a default, or a required one. */
export function portField(initial?: number, hint = "") {
  return initial === undefined
    ? integerField({ label: "Port", isRequired: true })
    : nullable(integerField({ label: "Port", initial, hint }));
}

export function tlsField() {
  return selectField({
    label: "Encryption",
    hint: "With “any certificate”, the server is not verified.",
    initial: "off",
    options: [
      { value: "off", label: "None" },
      { value: "verify", label: "TLS, verify the certificate" },
      { value: "require", label: "TLS, any certificate" },
    ],
  });
}

export function plainPasswordField() {
  return checkboxField({
    label: "Allow a plain password",
    hint: "Sends the password without TLS, or to a server whose certificate is not verified. Others on the network may read it.",
  });
}

export function userField() {
  return nullable(textField({ label: "User name", hint: "Optional." }));
}

/** Fields of the rules for TLS that every type with TLS has. */
export function tlsRulesFields() {
  return {
    ca: nullable(
      certificatesField({
        label: "Authorities",
        hint: "Optional. Certificates in PEM to trust in addition, such as that of an authority of your own.",
        maxlength: 64_000,
      }),
    ),
    tls_min: nullable(
      selectField({
        label: "Oldest TLS version",
        hint: "Older devices need 1.0 or 1.1, which are not safe.",
        initial: "1.2",
        options: TLS_VERSIONS.map((value) => ({ value, label: `TLS ${value}` })),
      }),
    ),
  };
}

export function certificateWarningField() {
  return nullable(
    integerField({
      label: "Certificate warning (days)",
      hint: "A check warns if the certificate, or one that the server sends with it, expires in fewer days, without failing. 0 turns the warning off.",
      initial: 14,
    }),
  );
}
