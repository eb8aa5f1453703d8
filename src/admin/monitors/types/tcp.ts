import { integerField, textField } from "../../forms/text-fields";
import type { TypeForm } from "./type-form";

export const tcpForm: TypeForm = {
  sentence: "Opens a connection to a port, and fails if the connection is not accepted.",
  fields: {
    host: textField({ label: "Host", hint: "A name or an IP address.", isRequired: true }),
    port: integerField({ label: "Port", isRequired: true }),
  },
};
