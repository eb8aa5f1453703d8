/**
 * Sends the queued mails of a data directory to a relay on loopback over eight connections, each written in
 * full: `mail-sender DIRECTORY PORT`.
 */
import { loadConfig } from "../../src/config";
import { createEgress } from "../../src/egress";
import { startSending, type Templates } from "../../src/features/mail";
import { createLoadThrottle } from "../../src/features/outgoing";
import { openForServer } from "../../src/installation";

const PARAGRAPH = "We are seeing elevated error rates for a part of the requests. ".repeat(12);

const templates: Templates = {
  bench: (mail, { settings }) => ({
    from: settings.from,
    replyTo: null,
    to: mail.recipient,
    subject: "[Northwind] Checkout is slow",
    text: PARAGRAPH,
    html: `<html><body><p>${PARAGRAPH}</p><p>${PARAGRAPH}</p></body></html>`,
    headers: { Precedence: "list" },
    messageId: `<${mail.id}@example.com>`,
    date: mail.createdAt,
  }),
};

const [, , dataDir = "", port = ""] = process.argv;
const loaded = loadConfig(
  {
    dataDir,
    logLevel: "warn",
    baseUrl: "https://status.example.com",
    smtpHost: "127.0.0.1",
    smtpPort: port,
    smtpTls: "none",
    smtpConnections: "8",
    smtpRate: "0",
    mailFrom: "status@example.com",
  },
  {},
);
if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
const { ctx } = openForServer(loaded.config);
startSending(ctx, createEgress(ctx), { templates, throttle: createLoadThrottle(ctx.clock) });
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
process.stderr.write(`Open http://127.0.0.1:${server.port}\n`);
