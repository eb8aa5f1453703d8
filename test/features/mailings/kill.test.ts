import { expect, setDefaultTimeout, test } from "bun:test";
import { insertAllInto } from "../../../src/db/statements";
import { subscribers } from "../../../src/db/tables/mail";
import { CLI_ACTOR } from "../../../src/base/actor";
import { addressHmac, ensureMailKey } from "../../../src/features/mail/tokens";
import { openForServer } from "../../../src/installation";
import { PROCESS_TEST_MS } from "../../support/binary";
import { testConfig } from "../../support/app";
import { startChild } from "../../support/child";
import { mailingEnv } from "../../support/mailing-env";
import { subscriberRow } from "../../support/mail-rows";
import { idsByRecipient, startRelay } from "../../support/relay";
import { temporaryFolder } from "../../support/temporary-folder";
import { createIncident, createPage } from "../../support/examined";

/** `KILLS=100 bun test test/features/mailings/kill.test.ts` kills more often. */
const KILLS = Number(process.env["KILLS"] ?? 6);
const RECIPIENTS = Math.max(2_000, KILLS * 60);
const CONNECTIONS = 4;
const UNRECORDED_MAX = 64;
/** Latest moment of a kill, in ms after the start of the process: most are before the last mail. */
const KILL_WITHIN_MS = 250;

setDefaultTimeout(PROCESS_TEST_MS);

const insertSubscribers = insertAllInto(subscribers);

/** Creates a data directory with an incident of which no mail is written yet. */
async function openIncident(path: string): Promise<void> {
  const server = openForServer(testConfig(mailingEnv(path, "25")));
  const { ctx } = server;
  const now = ctx.clock.now();
  await ctx.db.write((tx) => {
    const page = createPage(ctx, tx, { slug: "acme", name: "Acme" }, CLI_ACTOR);
    const key = ensureMailKey(ctx, tx);
    const rows = Array.from({ length: RECIPIENTS }, (_, index) => {
      const address = `user${index}@d${index % 9}.test`;
      return subscriberRow({
        id: ctx.newId("sub"),
        seq: index + 1,
        pageId: page.id,
        address,
        addressHmac: addressHmac(key, address),
        confirmedAt: now,
      });
    });
    insertSubscribers(tx, rows);
    const input = { page: "acme", name: "Errors", body: "We look into it." };
    createIncident(ctx, tx, input, "api", CLI_ACTOR);
  });
  server.close();
}

test("kill -9 at any moment of writing and sending the mails of an incident loses none and repeats few, each with its Message-ID", async () => {
  using folder = temporaryFolder();
  await openIncident(folder.path);
  await using relay = await startRelay();

  for (let kill = 0; kill < KILLS; kill++) {
    await using child = startChild("send-mailing.ts", folder.path, String(relay.port));
    expect(await child.line()).toBe("started");
    // The moment is the test's subject: also in the middle of a transaction.
    await Bun.sleep(Math.random() * KILL_WITHIN_MS);
    await child.kill();
  }
  await using last = startChild("send-mailing.ts", folder.path, String(relay.port));
  expect(await last.line()).toBe("started");
  expect(await last.line()).toBe("idle");

  const ids = idsByRecipient(relay.mails);
  expect(ids.size).toBe(RECIPIENTS);
  for (const ofOne of ids.values()) expect(ofOne.size).toBe(1);
  expect(relay.mails.length - RECIPIENTS).toBeLessThanOrEqual(
    KILLS * (CONNECTIONS + UNRECORDED_MAX),
  );
});
