/**
 * Writes and sends the mails of the mailings of a data directory to a relay on loopback until it is killed:
 * `bun send-mailing.ts DIRECTORY PORT`. Prints a line when nothing is left to be done.
 */
import { createEgress } from "../../../src/egress/egress";
import { startSending } from "../../../src/features/mail/sending/sender";
import { createMailingTemplate } from "../../../src/features/mailings/letters";
import { MAILING_TEMPLATE, startMailings } from "../../../src/features/mailings/mailings";
import { createLoadThrottle } from "../../../src/features/sending/throttle";
import { openForServer } from "../../../src/installation";
import { testConfig } from "../app";
import { mailingEnv } from "../mailing-env";

const [, , path = "", port = ""] = process.argv;
const { ctx } = openForServer(testConfig(mailingEnv(path, port)));
const templates = { [MAILING_TEMPLATE]: createMailingTemplate() };
const throttle = createLoadThrottle(ctx.clock);
const sender = startSending(ctx, createEgress(ctx), { templates, throttle });
const mailings = startMailings(ctx);
console.log("started");
await mailings.whenIdle();
await sender.whenIdle();
console.log("idle");
for await (const _line of console);
