import MailComposer from "nodemailer/lib/mail-composer";
import type { AppContext } from "../../../context";
import type { Egress } from "../../../egress";
import { MINUTE_MS } from "../../../kernel/time";
import type { BegunTestMail } from "../test-mail";
import { helloName, openRelay, type RelayStep } from "./relay";
import { formatReply, RelayFault } from "./reply";

/** Limit of a test mail, which a person waits for. */
const TEST_MAX_MS = MINUTE_MS;

/** Result of a test mail: true if the relay accepted it, and all steps until then. */
export interface TestMailResult {
  isAccepted: boolean;
  steps: RelayStep[];
}

/** Sends a test mail over a connection of its own. Never throws for a fault of the relay. */
export async function sendTestMail(
  ctx: Pick<AppContext, "baseUrl" | "clock" | "newId">,
  egress: Pick<Egress, "socket">,
  begun: BegunTestMail,
): Promise<TestMailResult> {
  const { settings, to } = begun;
  const steps: RelayStep[] = [];
  const limit = new AbortController();
  const timer = ctx.clock.after(TEST_MAX_MS, () => limit.abort());
  try {
    const relay = await openRelay({
      settings,
      name: helloName(ctx.baseUrl),
      egress,
      clock: ctx.clock,
      signal: limit.signal,
      onStep: (step) => void steps.push(step),
    });
    if (relay instanceof RelayFault) return { isAccepted: false, steps };
    const from = settings.bounceAddress ?? settings.from.address;
    const message = await composeTestMail(ctx, begun);
    const reply = await relay.send({ envelope: { from, to: to.address }, message });
    relay.close();
    const isAccepted = reply.stage === "message" && reply.code !== null && reply.code < 300;
    if (!isAccepted) {
      // What the relay answers to later commands, which were sent without waiting, means nothing.
      const refused = steps.findIndex(({ step, isOk }) => step === reply.stage && !isOk);
      if (refused === -1) steps.push({ step: reply.stage, isOk: false, text: formatReply(reply) });
      else steps.length = refused + 1;
    }
    return { isAccepted, steps };
  } finally {
    timer.cancel();
    limit.abort();
  }
}

async function composeTestMail(
  { baseUrl, clock, newId }: Pick<AppContext, "baseUrl" | "clock" | "newId">,
  { settings, to }: BegunTestMail,
): Promise<Uint8Array> {
  const { from, replyTo } = settings;
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  const composer = new MailComposer({
    from: { name: from.name ?? "", address: from.address },
    to: to.address,
    ...(replyTo !== null && { replyTo }),
    subject: "Test mail from Allclear",
    text: [
      "This is a test mail from Allclear at",
      baseUrl,
      "",
      "Mail can be sent through the relay",
      settings.host,
      "",
    ].join("\n"),
    date: new Date(clock.now()),
    messageId: `<${newId("eml")}@${domain}>`,
    headers: {
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "All",
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
