import type { TypeForm } from "./type-form";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export const httpForm: TypeForm = {
  sentence: "Requests a web address, and fails unless the response is as expected.",
  sendsRequests: true,
  fields: [
    {
      name: "url",
      label: "URL",
      hint: "With http:// or https://. Addresses of your own network are fine.",
      kind: "text",
      initial: "",
    },
    {
      name: "method",
      label: "Method",
      kind: "choice",
      options: METHODS.map((value) => ({ value, label: value })),
      initial: "GET",
    },
    {
      name: "follow_redirects",
      label: "Follow redirects",
      hint: "Otherwise a redirect is an answer like any other.",
      kind: "check",
      initial: "yes",
      isRare: true,
    },
    {
      name: "verify_tls",
      label: "Verify the certificate",
      hint: "Otherwise any certificate will do, one that has expired too.",
      kind: "check",
      initial: "yes",
      isRare: true,
    },
    {
      name: "ip_family",
      label: "Addresses",
      kind: "choice",
      options: [
        { value: "any", label: "Any" },
        { value: "ipv4", label: "IPv4 only" },
        { value: "ipv6", label: "IPv6 only" },
      ],
      initial: "any",
      isRare: true,
    },
    {
      name: "certificate_warning_days",
      label: "Certificate warning (days)",
      hint: "How long before a certificate ends each result says so, without failing. 0 never does.",
      kind: "whole",
      initial: "14",
      isOptional: true,
      isRare: true,
    },
  ],
};
