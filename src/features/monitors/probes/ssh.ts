import { type Static, Type } from "@sinclair/typebox";
import type { Probe } from "../monitoring";
import { HostText, mergeFields, portField, serverTarget, validateHostField } from "./fields";

const DEFAULT_PORT = 22;

const SshConfig = Type.Object(
  { host: HostText, port: portField(DEFAULT_PORT) },
  { additionalProperties: false, examples: [{ host: "bastion.example.com" }] },
);
type SshConfig = Static<typeof SshConfig>;

/** Checks that an SSH server identifies itself. */
export const sshProbe = {
  type: "ssh",
  label: "SSH server",
  config: SshConfig,
  shown: SshConfig,
  validate: validateHostField,
  present: ({ host, port = DEFAULT_PORT }) => ({ host, port }),
  merge: mergeFields,
  targetOf: (config) => serverTarget(config, DEFAULT_PORT),
  run: async ({ host, port = DEFAULT_PORT }, context) =>
    (await import("./checks/ssh")).checkSsh({ host, port }, context),
} satisfies Probe<"ssh", SshConfig>;
