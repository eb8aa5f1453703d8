/**
 * Sends the queued mails of a data directory to a relay on loopback until it is killed:
 * `bun send-mails.ts DIRECTORY PORT`. Prints a line when nothing is left to be sent.
 */
import { createEgress } from "../../../src/egress/egress";
import { startSending } from "../../../src/features/mail/sending/sender";
import { createLoadThrottle } from "../../../src/features/sending/throttle";
import { openForServer } from "../../../src/installation";
import { testConfig } from "../app";
import { TEST_TEMPLATES } from "../mail-site";
import { mailingEnv } from "../mailing-env";

const [, , path = "", port = ""] = process.argv;
const { ctx } = openForServer(testConfig(mailingEnv(path, port)));
const throttle = createLoadThrottle(ctx.clock);
const sender = startSending(ctx, createEgress(ctx), { templates: TEST_TEMPLATES, throttle });
console.log("sending");
await sender.whenIdle();
console.log("idle");
for await (const _line of console);
