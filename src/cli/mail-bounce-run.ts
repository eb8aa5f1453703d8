import { takeReport } from "../features/mail/reports";
import type { Invocation } from "./command";
import { withInstallation } from "./with-installation";

/** Bytes of a message that are read. The parts of a report that matter come first. */
const MESSAGE_MAX_BYTES = 900 * 1024;

const OUTCOMES = {
  matched: "The report was recorded.",
  repeated: "The report had been recorded before.",
  unmatched: "The report belongs to no mail. The mail settings list it for 30 days.",
  ignored: "Nothing to record: the message does not say that a mail failed.",
} as const;

/** Records a bounce or a complaint that a mail server passes on standard input. */
export async function runMailBounce(invocation: Invocation): Promise<0> {
  const { input, output } = invocation;
  const message = await input.bytes(MESSAGE_MAX_BYTES);
  const access = { canCreate: false, fields: { flags: {} } };
  return withInstallation({ name: "mail bounce" }, invocation, access, async ({ ctx }) => {
    // The parser is loaded with the first message.
    const { readMessage } = await import("../features/mail/read-message");
    const finding = await readMessage(message);
    const outcome =
      finding === "ignored" ? finding : await ctx.db.write((tx) => takeReport(ctx, tx, finding));
    output.err(OUTCOMES[outcome]);
  });
}
