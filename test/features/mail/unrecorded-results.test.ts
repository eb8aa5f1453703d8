import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { unavailable } from "../../../src/base/errors";
import { SECOND_MS } from "../../../src/base/time";
import { settle } from "../../support/clock";
import { startHeldRelay } from "../../support/held-relay";
import { createMailSite, type MailSite } from "../../support/mail-site";
import { hasTinyDisks, mountTinyDisk } from "../../support/tiny-disk";

const HAS_TINY_DISKS = hasTinyDisks();
const ADDRESSES = Array.from({ length: 30 }, (_, index) => ({ to: `user${index}@d${index}.test` }));
const FOUR = { ALLCLEAR_SMTP_CONNECTIONS: "4" };

const countOf = (site: MailSite, status: string) =>
  site.mails().filter((mail) => mail.status === status).length;

/** Sends thirty mails, of which four are under way when results cannot be recorded any more. */
async function failWhileRecording(
  relay: Awaited<ReturnType<typeof startHeldRelay>>,
  site: MailSite,
  fail: () => void,
  mend: () => void,
): Promise<void> {
  await site.queue(...ADDRESSES);
  await relay.until(4);
  fail();
  for (const recipient of relay.waiting()) relay.accept(recipient);
  // One more round begins before the results of the first are to be recorded.
  await relay.until(8);
  while (!site.app.logged.some(({ msg }) => msg.startsWith("mails wait until"))) {
    await site.app.clock.advance(10);
  }
  for (const recipient of relay.waiting()) relay.accept(recipient);
  await site.app.clock.advance(10 * SECOND_MS);
  expect(relay.arrived).toHaveLength(8);
  expect(countOf(site, "pending")).toBe(30);

  mend();
  relay.acceptAll();
  await site.app.clock.advance(SECOND_MS);
  await site.idle();
  expect(countOf(site, "sent")).toBe(30);
  // What the relay had was not sent again.
  expect(relay.arrived).toHaveLength(30);
  expect(new Set(relay.messageIds).size).toBe(30);
}

describe("results of mails that cannot be recorded", () => {
  test("results are kept until they can be recorded, and nothing is sent meanwhile", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay, FOUR);
    const { db } = site.app.ctx;
    const { write } = db;
    await failWhileRecording(
      relay,
      site,
      () => {
        db.write = () => Promise.reject(unavailable("The disk is full.", 5));
      },
      () => {
        db.write = write;
      },
    );
  });

  test.skipIf(!HAS_TINY_DISKS)("results are kept while the disk is full", async () => {
    using disk = mountTinyDisk("6m");
    await using relay = await startHeldRelay();
    const databasePath = join(disk.path, "allclear.db");
    await using site = await createMailSite(relay, FOUR, { databasePath });
    await failWhileRecording(
      relay,
      site,
      () => disk.fill(),
      () => disk.free(),
    );
  });

  test("at most 64 results wait to be recorded, so that a crash repeats few mails", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay, FOUR);
    const { db } = site.app.ctx;
    const { write } = db;
    await site.queue(...Array.from({ length: 100 }, (_, index) => ({ to: `user${index}@a.test` })));
    const disk = Promise.withResolvers<void>();
    db.write = (change) => disk.promise.then(() => write(change));
    relay.acceptAll();
    await relay.until(68);
    for (let turns = 0; turns < 100; turns++) await settle();
    expect(relay.arrived).toHaveLength(68);
    db.write = write;
    disk.resolve();
    await site.idle();
    expect(countOf(site, "sent")).toBe(100);
  });

  test("a mail whose result is lost with its process is sent again with the same Message-ID", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay);
    await site.queue({ to: "ada@example.com" });
    await relay.until(1);
    const { db } = site.app.ctx;
    const { write } = db;
    db.write = () => Promise.reject(unavailable("It has died.", 5));
    relay.acceptAll();
    await site.sender.stop(SECOND_MS);
    db.write = write;
    expect(site.mails()).toMatchObject([{ status: "pending", tries: 0 }]);

    await site.restart();
    await site.idle();
    expect(site.mails()).toMatchObject([{ status: "sent", tries: 1 }]);
    expect(relay.messageIds).toHaveLength(2);
    expect(new Set(relay.messageIds).size).toBe(1);
  });
});

describe("stopping the sender", () => {
  test("a stopping sender lets mails under way end, records them and keeps the others queued", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay, FOUR);
    await site.queue(...ADDRESSES);
    await relay.until(4);
    const stopped = site.sender.stop(10 * SECOND_MS);
    for (const recipient of relay.waiting()) relay.accept(recipient);
    await stopped;
    expect(countOf(site, "sent")).toBe(4);
    expect(countOf(site, "pending")).toBe(26);
    await site.queue({ to: "late@example.com" });
    await settle();
    expect(relay.arrived).toHaveLength(4);

    relay.acceptAll();
    await site.restart();
    await site.idle();
    expect(countOf(site, "sent")).toBe(31);
    expect(relay.arrived).toHaveLength(31);
  });

  test("a stopping sender breaks off mails that take longer, and they are sent again with the same Message-ID", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay);
    await site.queue({ to: "ada@example.com" });
    await relay.until(1);
    const stopped = site.sender.stop(10 * SECOND_MS);
    await site.app.clock.advance(10 * SECOND_MS);
    await stopped;
    expect(site.mails()).toMatchObject([{ status: "pending", tries: 0 }]);

    relay.acceptAll();
    await site.restart();
    await site.idle();
    expect(site.mails()).toMatchObject([{ status: "sent", tries: 1 }]);
    expect(relay.messageIds).toHaveLength(2);
    expect(new Set(relay.messageIds).size).toBe(1);
  });
});
