import { nullable } from "../../../ui/forms/form";
import { textField } from "../../../ui/forms/fields";
import { secretValuesField } from "../secret-values";
import {
  certificateWarningField,
  hostField,
  portField,
  tlsField,
  tlsRulesFields,
} from "./server-fields";
import type { TypeForm } from "./type-form";

export const grpcForm: TypeForm = {
  sentence:
    "Calls the health service of a gRPC server (grpc.health.v1), and fails unless the status is SERVING.",
  fields: {
    host: hostField(),
    port: portField(),
    tls: tlsField(),
    service: nullable(
      textField({
        label: "Service",
        hint: "Optional. Such as acme.orders.v1.Orders. Empty means the server as a whole.",
      }),
    ),
    metadata: secretValuesField({
      noun: "metadata",
      label: "Metadata",
      rowLabel: "Entry",
      hint: "Sent with each call, such as authorization.",
    }),
  },
  folds: { Metadata: ["metadata"] },
  advanced: { ...tlsRulesFields(), certificate_warning_days: certificateWarningField() },
};
