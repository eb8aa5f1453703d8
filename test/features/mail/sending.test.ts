import { describe, expect, test } from "bun:test";
import { createMailSite } from "../../support/mail-site";
import { startRelay } from "../../support/relay";

describe("sending mails", () => {
  test("a queued mail is sent to its recipient and recorded", async () => {
    await using relay = await startRelay();
    await using site = await createMailSite(relay);
    const [id] = await site.queue({ to: "ada@example.com", params: { subject: "Welcome" } });
    await site.idle();
    expect(relay.mails).toMatchObject([{ from: "status@example.com", to: ["ada@example.com"] }]);
    expect(relay.mails[0]?.text).toContain("Subject: Welcome");
    expect(relay.mails[0]?.name).toBe("status.example.com");
    expect(site.mails()).toMatchObject([
      { id, status: "sent", tries: 1, nextTryAt: null, reply: "250 2.0.0 Ok: queued as 4XyZ" },
    ]);
  });
});
