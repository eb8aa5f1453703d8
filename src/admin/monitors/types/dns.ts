import { DNS_RECORD_TYPES } from "../../../egress";
import type { TypeForm } from "./type-form";

export const dnsForm: TypeForm = {
  sentence: "Looks up a name, and fails unless the records are as expected.",
  fields: [
    {
      name: "name",
      label: "Name to look up",
      hint: "Such as example.com.",
      kind: "text",
      initial: "",
    },
    {
      name: "record_type",
      label: "Record type",
      kind: "choice",
      options: DNS_RECORD_TYPES.map((value) => ({ value, label: value })),
      initial: "A",
    },
    {
      name: "expected",
      label: "Expected records",
      hint: "Optional. One a line, as zone files write them, such as 10 mail.example.com. All of them must come; others may too.",
      kind: "lines",
      initial: "",
      isOptional: true,
    },
    {
      name: "resolver",
      label: "Resolver",
      hint: "Optional. IP address of the name server, with a port unless that is 53. Empty means the system's.",
      kind: "text",
      initial: "",
      isOptional: true,
      isRare: true,
    },
  ],
};
