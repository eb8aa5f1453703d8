import { DNS_RECORD_TYPES } from "../../../egress/model";
import { selectField, textAreaField, textField } from "../../../ui/forms/fields";
import { type Field, nullable } from "../../../ui/forms/form";
import type { TypeForm } from "./type-form";

export const dnsForm: TypeForm = {
  sentence: "Looks up a name, and fails unless the records are as expected.",
  fields: {
    name: textField({
      label: "Name to look up",
      hint: "Such as example.com, or an IP address for its PTR records.",
      isRequired: true,
    }),
    record_type: selectField({
      label: "Record type",
      initial: "A",
      options: DNS_RECORD_TYPES.map((value) => ({ value, label: value })),
    }),
    expected: nullable(recordsField()),
  },
  advanced: {
    resolver: nullable(
      textField({
        label: "Resolver",
        hint: "Optional. IP address of the name server, with a port unless that is 53. Empty means the system's resolver.",
      }),
    ),
  },
};

/** Field for DNS records, one a line. */
function recordsField(): Field<string, readonly string[]> {
  return {
    ...textAreaField({
      label: "Expected records",
      hint: "Optional. One per line, in zone file format, such as 10 mail.example.com. All of them must be in the answer; further records are allowed.",
      rows: 3,
    }),
    toBody: (typed) =>
      typed
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== ""),
    fromStored: (records) => records.join("\n"),
  };
}
