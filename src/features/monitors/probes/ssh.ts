import { type Static, Type } from "@sinclair/typebox";
import { VERSION } from "../../../version";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { CheckFailure, checkServer } from "./conversation";
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
  run: checkSsh,
} satisfies Probe<"ssh", SshConfig>;

/** Lines that a server may send before its identification (RFC 4253, 4.2). */
const LINES_MAX = 50;

/** Reads the identification of an SSH server and sends one, so that the server's log is quiet. */
function checkSsh(
  { host, port = DEFAULT_PORT }: SshConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const config = { certificate_warning_days: 0 };
  const server = { kind: "an SSH server", host, port, tls: undefined, config };
  return checkServer(server, context, async (conversation) => {
    conversation.begin("waiting for the identification", "greeting");
    for (let lines = 0; lines < LINES_MAX; lines += 1) {
      const line = await conversation.reader.line();
      if (!line.startsWith("SSH-")) continue;
      // Version 1.99 stands for 2.0 with support for older clients.
      if (!/^SSH-(?:2\.0|1\.99)-./.test(line)) {
        throw new CheckFailure("The server does not offer version 2 of SSH.");
      }
      return conversation.finish(`SSH-2.0-Allclear_${VERSION.replaceAll("-", "_")}\r\n`);
    }
    throw new CheckFailure("The server is not an SSH server.");
  });
}
