import { hostField, portField } from "./server-fields";
import type { TypeForm } from "./type-form";

export const tcpForm: TypeForm = {
  sentence: "Opens a connection to a port, and fails if the connection is not accepted.",
  fields: {
    host: hostField(),
    port: portField(),
  },
};
