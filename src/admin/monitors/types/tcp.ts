import type { TypeForm } from "./type-form";

export const tcpForm: TypeForm = {
  sentence: "Opens a connection to a port, and fails where none is accepted.",
  fields: [
    {
      name: "host",
      label: "Host",
      hint: "A name or an IP address.",
      kind: "text",
      initial: "",
    },
    { name: "port", label: "Port", kind: "whole", initial: "" },
  ],
};
