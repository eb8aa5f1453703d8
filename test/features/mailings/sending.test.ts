import { expect, test } from "bun:test";
import { startSending } from "../../../src/features/mail";
import { createMailingTemplate, MAILING_TEMPLATE } from "../../../src/features/mailings";
import { SECOND_MS } from "../../../src/kernel/time";
import { createTestEgress } from "../../support/egress";
import { createMailingSite } from "../../support/mailing-site";
import { parseMails } from "../../support/parsed-mail";
import { startRelay } from "../../support/relay";

test("the relay gets one mail for each subscriber of an incident, with links that only that one has", async () => {
  await using relay = await startRelay();
  const env = {
    ALLCLEAR_SMTP_HOST: "relay.test",
    ALLCLEAR_SMTP_PORT: String(relay.port),
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_MAIL_FROM: "status@mail.example",
  };
  await using site = await createMailingSite(env);
  const { ctx, clock } = site.app;
  const { egress } = await createTestEgress({ "relay.test": [["127.0.0.1"]] }, { clock, env });
  const sender = startSending(ctx, egress, {
    templates: { [MAILING_TEMPLATE]: createMailingTemplate() },
    throttle: { take: () => true, waitMs: () => 0 },
  });
  try {
    for (const name of ["anna", "bert", "carl"]) await site.subscribe(name);
    await site.unsubscribe(await site.subscribe("dora"));
    await site.open({ name: "Zahlungen schlagen fehl 🔥" });
    await clock.advance(0);
    await sender.whenIdle();
    expect(relay.mails.flatMap(({ to }) => to).sort()).toEqual([
      "anna@example.net",
      "bert@example.net",
      "carl@example.net",
    ]);
    const parsed = await parseMails(relay.mails.map(({ text }) => Buffer.from(text)));
    const links = parsed.map(({ defects, headers, parts }) => {
      expect(defects).toEqual([]);
      expect(headers["Subject"]).toEqual(["[Acme] Zahlungen schlagen fehl 🔥"]);
      expect(parts.map(({ type }) => type)).toEqual(["text/plain", "text/html"]);
      return headers["List-Unsubscribe"]?.[0];
    });
    expect(new Set(links).size).toBe(3);
    await site.advance(6 * SECOND_MS);
    expect(site.mailings()).toMatchObject([{ state: "done", written: 3, sent: 3 }]);
  } finally {
    await sender.stop(0);
  }
});
