import { expect, setDefaultTimeout, test } from "bun:test";
import { DAY_MS } from "../../../src/base/time";
import { enqueueMails } from "../../../src/features/mail/mail";
import { openForServer } from "../../../src/installation";
import { testConfig } from "../../support/app";
import { PROCESS_TEST_MS } from "../../support/binary";
import { startChild } from "../../support/child";
import { idsByRecipient, startRelay } from "../../support/relay";
import { temporaryFolder } from "../../support/temporary-folder";

setDefaultTimeout(PROCESS_TEST_MS);

const MAILS = 300;
const KILLS = 6;
const CONNECTIONS = 4;

/** Creates a data directory with queued mails. */
async function queueMails(path: string): Promise<void> {
  const env = { ALLCLEAR_DATA_DIR: path, ALLCLEAR_LOG_LEVEL: "silent" };
  const server = openForServer(testConfig(env));
  const { ctx } = server;
  await ctx.db.write((tx) =>
    enqueueMails(
      ctx,
      tx,
      Array.from({ length: MAILS }, (_, index) => ({
        class: 1 as const,
        recipient: { address: `user${index}@d${index % 9}.test`, domain: `d${index % 9}.test` },
        subjectId: `usr_${index}`,
        template: "test",
        params: {},
        expiresAt: ctx.clock.now() + DAY_MS,
      })),
    ),
  );
  server.close();
}

test("kill -9 at any moment loses no mail and repeats few, each with its Message-ID", async () => {
  using folder = temporaryFolder();
  await queueMails(folder.path);
  let next = Promise.withResolvers<void>();
  let killAt = Number.POSITIVE_INFINITY;
  await using relay = await startRelay({
    onTaken() {
      if (relay.mails.length >= killAt) next.resolve();
    },
  });

  // A kill can come late on a busy machine, and must not wait for more mails than there are.
  for (let kill = 0; kill < KILLS && relay.mails.length < MAILS; kill++) {
    next = Promise.withResolvers();
    killAt = Math.min(MAILS, relay.mails.length + 1 + Math.floor(Math.random() * 40));
    await using child = startChild("send-mails.ts", folder.path, String(relay.port));
    expect(await child.line()).toBe("sending");
    await next.promise;
  }
  killAt = Number.POSITIVE_INFINITY;
  await using last = startChild("send-mails.ts", folder.path, String(relay.port));
  expect(await last.line()).toBe("sending");
  expect(await last.line()).toBe("idle");

  const ids = idsByRecipient(relay.mails);
  expect(ids.size).toBe(MAILS);
  for (const ofOne of ids.values()) expect(ofOne.size).toBe(1);
  expect(relay.mails.length - MAILS).toBeLessThanOrEqual(KILLS * (CONNECTIONS + 64));
});
