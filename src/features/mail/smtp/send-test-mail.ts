import type { Ctx } from "../../../context";
import type { Egress } from "../../../egress/egress";
import { MINUTE_MS } from "../../../base/time";
import { toMessage } from "../compose";
import { renderLetter } from "../letter/render";
import { TEST_SUBJECT, testLetter } from "../letter/sign-up";
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
  ctx: Ctx,
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
    const message = writeTestMail(ctx, begun);
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

function writeTestMail(
  { baseUrl, clock, newId }: Ctx,
  { settings: { from, replyTo }, to: { address: to } }: BegunTestMail,
): Uint8Array {
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  return toMessage({
    from,
    replyTo,
    to,
    subject: TEST_SUBJECT,
    ...renderLetter(testLetter(baseUrl)),
    headers: {},
    messageId: `<${newId("eml")}@${domain}>`,
    date: clock.now(),
  });
}
