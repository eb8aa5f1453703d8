import { hostField, portField } from "./server-fields";
import type { TypeForm } from "./type-form";

export const sshForm: TypeForm = {
  sentence: "Connects to an SSH server, and fails if the server does not identify itself.",
  fields: { host: hostField(), port: portField(22) },
};
