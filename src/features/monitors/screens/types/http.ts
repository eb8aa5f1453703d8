import { checkboxField, integerField, selectField, textField } from "../../../../ui/forms/fields";
import { nullable } from "../../../../ui/forms/form";
import { assertionsField } from "../assertion-field";
import { secretTextField, secretValuesField } from "../secrets";
import {
  clientCertificateField,
  connectToField,
  digestField,
  oauth2Field,
  proxyField,
} from "./http-parts";
import type { TypeForm } from "./type-form";
import { certificateWarningField, tlsRulesFields } from "./types";

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
    assertions: assertionsField({
      hint: "All conditions must hold. Without a condition for the status, only 2xx succeeds. Headers need a name, JSON values a path such as $.checks[0].status. Separate the values of “is one of” by commas; a status can be a range such as 200-299.",
    }),
    headers: secretValuesField({
      noun: "headers",
      label: "Headers",
      rowLabel: "Header",
      hint: "Sent with each request, such as Authorization.",
    }),
    body: secretTextField({
      field: "body",
      noun: "body",
      label: "Body",
      hint: "Optional. Sent with each request except GET and HEAD.",
      rows: 3,
      maxlength: 64_000,
    }),
    host: nullable(
      textField({
        label: "Host",
        hint: "Optional. Name by which the server is known, such as app.example.com for a URL with an IP address: for the header Host and in TLS.",
        maxlength: 255,
      }),
    ),
    connect_to: connectToField(),
    oauth2: oauth2Field(),
    digest: digestField(),
    client_certificate: clientCertificateField(),
    proxy: proxyField(),
  },
  folds: {
    "Headers and body": ["headers", "body"],
    "Host and address": ["host", "connect_to"],
    "OAuth 2.0": ["oauth2"],
    "Digest sign-in": ["digest"],
    "Client certificate": ["client_certificate"],
    Proxy: ["proxy"],
  },
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
    ...tlsRulesFields(),
    max_body_kb: nullable(
      integerField({
        label: "Body limit (KiB)",
        hint: "Part of the body that conditions read, up to 4,096. A condition that the rest decides fails.",
        initial: 256,
      }),
    ),
    certificate_warning_days: certificateWarningField(),
  },
};
