/**
 * Sends the queued mails of a data directory to a relay on loopback until it is killed:
 * `bun send-mails.ts DIRECTORY PORT`. Prints a line when nothing is left to be sent.
 */
import { createEgress } from "../../../src/egress";
import { startSending } from "../../../src/features/mail";
import { createLoadThrottle } from "../../../src/features/outgoing";
import { openForServer } from "../../../src/installation";
import { testConfig } from "../app";
import { TEST_TEMPLATES } from "../mail-site";

const [, , path = "", port = ""] = process.argv;
const config = testConfig({
  ALLCLEAR_DATA_DIR: path,
  ALLCLEAR_LOG_LEVEL: "silent",
  ALLCLEAR_BASE_URL: "https://status.example.com",
  ALLCLEAR_SMTP_HOST: "127.0.0.1",
  ALLCLEAR_SMTP_PORT: port,
  ALLCLEAR_SMTP_TLS: "none",
  ALLCLEAR_SMTP_RATE: "0",
  ALLCLEAR_MAIL_FROM: "status@example.com",
});
const { ctx } = openForServer(config);
const throttle = createLoadThrottle(ctx.clock);
const sender = startSending(ctx, createEgress(ctx), { templates: TEST_TEMPLATES, throttle });
console.log("sending");
await sender.whenIdle();
console.log("idle");
for await (const _line of console);
