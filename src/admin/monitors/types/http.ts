import { checkboxField, selectField } from "../../forms/choice-fields";
import { nullable } from "../../forms/field";
import { integerField, textField } from "../../forms/text-fields";
import { assertionsField } from "../assertion-field";
import { bodyField, headersField } from "../secret-fields";
import type { TypeForm } from "./type-form";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export const httpForm: TypeForm = {
  sentence: "Requests a web address, and fails unless the response is as expected.",
  fields: {
    url: textField({
      label: "URL",
      hint: "With http:// or https://. Addresses in your own network are allowed.",
      isRequired: true,
    }),
    method: selectField({
      label: "Method",
      initial: "GET",
      options: METHODS.map((value) => ({ value, label: value })),
    }),
    assertions: assertionsField(),
    headers: headersField(),
    body: bodyField(),
  },
  folds: { "Headers and body": ["headers", "body"] },
  advanced: {
    follow_redirects: checkboxField({
      label: "Follow redirects",
      hint: "If unchecked, a redirect counts as the response.",
      initial: true,
    }),
    verify_tls: checkboxField({
      label: "Verify the certificate",
      hint: "If unchecked, any certificate is accepted, even an expired one.",
      initial: true,
    }),
    ip_family: selectField({
      label: "IP version",
      initial: "any",
      options: [
        { value: "any", label: "Any" },
        { value: "ipv4", label: "IPv4 only" },
        { value: "ipv6", label: "IPv6 only" },
      ],
    }),
    certificate_warning_days: nullable(
      integerField({
        label: "Certificate warning (days)",
        hint: "A check warns if the certificate expires in fewer days, without failing. 0 turns the warning off.",
        initial: 14,
      }),
    ),
  },
};
