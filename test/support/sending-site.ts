import { startSending } from "../../src/features/mail/sending/sender";
import { createMailingTemplate } from "../../src/features/mailings/letters";
import { MAILING_TEMPLATE } from "../../src/features/mailings/mailings";
import { createTestEgress } from "./egress";
import { createMailingSite, type MailingSite } from "./mailing-site";
import { startRelay, type TakenMail } from "./relay";

/** A site whose mails to subscribers go to a relay on loopback. */
export interface SendingSite extends AsyncDisposable {
  site: MailingSite;
  /** Resolves when no mail can be written or sent now. */
  finish(): Promise<void>;
  /** Returns the mails that the relay accepted since the last call. */
  taken(): TakenMail[];
  /** Makes the relay refuse every mail for now, or accept them again. A restart tries it again at once. */
  setAway(isAway: boolean): void;
  /** Stops sending, moves the wall clock forward, and starts again, as a restart does. */
  restart(skippedMs?: number): Promise<void>;
}

/** Creates a site that sends mails to a relay. Tests need no throttle. */
export async function createSendingSite(): Promise<SendingSite> {
  let isAway = false;
  const relay = await startRelay({
    onMailFrom(_address, _session, done) {
      const closing = Object.assign(new Error("4.3.2 Closing"), { responseCode: 421 });
      done(isAway ? closing : null);
    },
  });
  const env = {
    ALLCLEAR_SMTP_HOST: "relay.test",
    ALLCLEAR_SMTP_PORT: String(relay.port),
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_SMTP_RATE: "0",
    ALLCLEAR_MAIL_FROM: "status@mail.example",
  };
  const site = await createMailingSite(env);
  const { ctx, clock } = site.app;
  const { egress } = await createTestEgress({ "relay.test": [["127.0.0.1"]] }, { clock, env });
  const start = () =>
    startSending(ctx, egress, {
      templates: { [MAILING_TEMPLATE]: createMailingTemplate() },
      throttle: { take: () => true, waitMs: () => 0 },
    });
  let sender = start();

  return {
    site,
    async finish() {
      await site.advance(0);
      await sender.whenIdle();
    },
    taken: () => relay.mails.splice(0),
    setAway: (given) => void (isAway = given),
    async restart(skippedMs = 0) {
      await site.stopWorker();
      await sender.stop(0);
      clock.setWallClock(clock.now() + skippedMs);
      await site.startWorker();
      sender = start();
    },
    async [Symbol.asyncDispose]() {
      const stopped = sender.stop(0);
      // Breaks off mails that a test left under way.
      await clock.advance(0);
      await stopped;
      await site[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
    },
  };
}
