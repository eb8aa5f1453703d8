import { optionNames } from "../base/config/options";
import type { Command } from "./command";

export const mailCommands: readonly Command[] = [
  {
    name: "mail test",
    summary: "Send a test mail to ADDRESS and print each step.",
    positionals: ["ADDRESS"],
    // Needed to check the address of the relay.
    options: [...optionNames("mail"), "outboundAllow"],
    // Loaded on demand, like the SMTP client.
    run: async (invocation) => (await import("./mail-run")).runMailTest(invocation),
  },
  {
    name: "mail bounce",
    summary:
      "Record a bounce or a complaint: a message on standard input. Exit code 75: try again.",
    options: optionNames("mail"),
    failureCode: 75,
    run: async (invocation) => (await import("./mail-run")).runMailBounce(invocation),
  },
  {
    name: "mail status",
    summary: "Print if mail can be sent, and through which relay.",
    options: optionNames("mail"),
    run: async (invocation) => (await import("./mail-run")).runMailStatus(invocation),
  },
];
