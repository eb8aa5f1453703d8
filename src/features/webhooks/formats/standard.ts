import { Type } from "@sinclair/typebox";
import { envelopeOf } from "../envelope";
import type { Format } from "../format";
import { jsonMessage } from "./message";

/** Standard Webhooks 1.0: the event itself, for programs. */
export const standard: Format = {
  name: "standard",
  label: "Standard Webhooks",
  hint: "Any URL of a program of yours. Each request is signed; verify it with a library from standardwebhooks.com.",
  settings: Type.Object({}, { additionalProperties: false }),
  secretSettings: [],
  isForPeople: false,
  validate: () => [],
  write: (event) => jsonMessage(envelopeOf(event)),
};
