import { VERSION } from "../../../../version";
import type { ProbeContext, ProbeResult } from "../../monitoring";
import { CheckFailure, checkServer } from "./conversation";

/** Lines that a server may send before its identification (RFC 4253, 4.2). */
const LINES_MAX = 50;

/** Reads the identification of an SSH server and sends one, so that the server's log is quiet. */
export function checkSsh(
  target: { host: string; port: number },
  context: ProbeContext,
): Promise<ProbeResult> {
  const config = { certificate_warning_days: 0 };
  const server = { ...target, kind: "an SSH server", tls: undefined, config };
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
