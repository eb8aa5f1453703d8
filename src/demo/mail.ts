/* E-mail in the demo: subscribers, the mails of the last weeks, and a relay inside the process. */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Actor } from "../base/actor";
import { listenUrl } from "../base/config/parse";
import { DAY_MS, SECOND_MS } from "../base/time";
import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import type { OpenSocket } from "../egress/handed-socket";
import { Fault } from "../egress/model";
import { setMailSettings } from "../features/mail/settings";
import { addressHmac, ensureMailKey } from "../features/mail/tokens";
import { MAILING_TEMPLATE } from "../features/mailings/mailings";
import { consentText } from "../features/subscribers/sign-up";
import { enrol } from "../features/subscribers/subscribers";
import { insertMails, listActiveSubscribers, listMailings, updateMailing } from "./store";
import type { DemoPage, Entry, Fraction } from "./year";

const RELAY = "mail.meridian.example";

/** Returns true if mails have an address to link to: one that is not the listen address. */
export function canMail({ baseUrl, config }: Ctx): boolean {
  return baseUrl !== listenUrl(config.listen);
}

/** Sets the relay up. */
export function setUpMail(ctx: Ctx, tx: Tx, actor: Actor): void {
  const none = { port: null, ca: null, user: null, reply_to: null, bounce_address: null };
  const from = "Meridian Status <status@meridian.example>";
  const limits = { connections: 4, rate_per_minute: 600 };
  setMailSettings(ctx, tx, { host: RELAY, tls: "none", from, ...limits, ...none }, actor);
}

const NAMES = ["anna", "support", "ops", "li.wei", "status", "marta", "platform", "it-desk"];
const DOMAINS = ["northwind.example", "contoso.example", "fabrikam.example"];

/** Returns the actions with which people subscribe to a page in the course of the year. */
export function subscriberEntries(
  ctx: Ctx,
  { page, fraction }: { page: DemoPage; fraction: Fraction },
): Entry[] {
  const addresses = DOMAINS.flatMap((domain) => NAMES.map((name) => `${name}@${domain}`));
  return addresses.map((address) => ({
    ago: Math.round((1 + 340 * fraction("subscriber", address) ** 2) * DAY_MS),
    act(tx) {
      const choices = { scope: "page", targets: [], events: ["incidents", "maintenance"] } as const;
      enrol(
        ctx,
        tx,
        {
          pageId: page.row.id,
          address,
          addressKey: address,
          choices: { ...choices, targets: [], events: [...choices.events] },
        },
        { current: undefined, hmac: addressHmac(ensureMailKey(ctx, tx), address) },
        {
          confirmedAt: ctx.clock.now(),
          consentSource: "form",
          consentText: consentText(page.row, null),
          consentIp: "203.0.113.9",
        },
      );
    },
  }));
}

/** Sends the mailings that wait: those who had subscribed before have got a mail of each. */
export function mailAll(ctx: Ctx, tx: Tx): void {
  const subscribers = listActiveSubscribers(tx, {});
  for (const mailing of listMailings(tx, {})) {
    const { id: mailingId, maxSeq, subjectId, createdAt } = mailing;
    const audience = subscribers.filter(({ confirmedAt }) => confirmedAt <= createdAt);
    insertMails(
      tx,
      audience.map(({ id: subscriberId, address, domain }) => ({
        id: ctx.newId("eml"),
        class: 3 as const,
        mailingId,
        subscriberId,
        copy: 0,
        recipient: address ?? "",
        domain,
        batch: 0,
        subjectId,
        template: MAILING_TEMPLATE,
        params: {},
        status: "sent" as const,
        tries: 1,
        nextTryAt: null,
        supersededBy: null,
        reply: null,
        createdAt,
        expiresAt: createdAt + DAY_MS,
        finishedAt: createdAt + 2 * SECOND_MS,
      })),
    );
    const sent = audience.length;
    updateMailing(tx, { ...mailing, state: "done", cursor: maxSeq, written: sent, sent });
  }
}

/** Opens a connection to a relay inside the process. It takes every message and keeps none. */
export function openSimulatedRelay(): OpenSocket {
  const address = "127.0.0.1";
  const noTls = new Fault("tls", "The demo has no TLS.");
  return {
    socket: createRelaySocket(),
    addresses: [address],
    address,
    certificate: null,
    hand() {
      throw new Error("the relay of the demo is for mail only");
    },
    secure: async () => noTls,
    startTls: { options: {}, check: () => noTls, fault: () => noTls },
  };
}

/** Replies of the relay by the first word of a command; all others succeed. */
const REPLIES: Readonly<Record<string, string>> = {
  EHLO: `250-${RELAY}\r\n250 8BITMIME`,
  DATA: "354 Go ahead",
  QUIT: "221 Bye",
};

function createRelaySocket(): Socket {
  let unread = "";
  let isInMessage = false;
  const relay = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      unread += chunk.toString("latin1");
      const lines = unread.split("\r\n");
      unread = lines.pop() ?? "";
      for (const line of lines) answer(line);
      done();
    },
    final(done) {
      relay.push(null);
      done();
    },
  });
  function answer(line: string): void {
    if (isInMessage && line !== ".") return;
    const command = line.slice(0, 4).toUpperCase();
    relay.push(`${isInMessage ? "250 Accepted" : (REPLIES[command] ?? "250 OK")}\r\n`);
    isInMessage = !isInMessage && command === "DATA";
    if (command === "QUIT") relay.push(null);
  }
  relay.push(`220 ${RELAY}\r\n`);
  const nothing = () => relay;
  return asSocket(
    Object.assign(relay, { setTimeout: nothing, setKeepAlive: nothing, setNoDelay: nothing }),
  );
}

/** Returns a stream as a socket. The library calls only methods that a stream has too. */
function asSocket(stream: Duplex): Socket {
  return stream as Socket;
}
