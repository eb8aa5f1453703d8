import { optionNames } from "../base/config/options";
import { type Command, type Flag, JSON_FLAG } from "./command";

const PAGE_FLAG: Flag = { name: "page", placeholder: "SLUG", help: "Page, by its slug." };
const REQUIRED_PAGE: Flag = { ...PAGE_FLAG, isRequired: true };
const CONSENT_FLAG: Flag = {
  name: "consent",
  placeholder: "TEXT",
  help: "Subscribe at once, by a consent that exists. The words are stored.",
};

// The code is loaded on demand, since other commands do not need it.
export const subscriberCommands: readonly Command[] = [
  {
    name: "subscriber list",
    summary: "List the subscribers of a page.",
    flags: [
      REQUIRED_PAGE,
      {
        name: "status",
        placeholder: "S",
        help: "Only those that are active, suppressed, unconfirmed or unsubscribed.",
      },
      JSON_FLAG,
    ],
    options: optionNames("subscriber"),
    run: async (invocation) => (await import("./subscriber-run")).runList(invocation),
  },
  {
    name: "subscriber add",
    summary: "Ask EMAIL by mail to confirm a subscription.",
    positionals: ["EMAIL"],
    flags: [
      REQUIRED_PAGE,
      {
        name: "component",
        placeholder: "REF",
        isRepeatable: true,
        help: "Only mails about this component; can be repeated. Default: the whole page.",
      },
      CONSENT_FLAG,
    ],
    // Needed to find out if mail can be sent.
    options: optionNames("mail"),
    run: async (invocation) => (await import("./subscriber-run")).runAdd(invocation),
  },
  {
    name: "subscriber remove",
    summary: "Unsubscribe EMAIL from a page, or from all.",
    positionals: ["EMAIL"],
    flags: [
      { ...PAGE_FLAG, help: "Page, by its slug; default: all pages." },
      { name: "erase", help: "Delete everything that is stored about the address." },
    ],
    options: optionNames("subscriber"),
    run: async (invocation) => (await import("./subscriber-run")).runRemove(invocation),
  },
  {
    name: "subscriber import",
    summary: "Import subscribers of a page from a CSV file with email,components,groups,events.",
    positionals: ["FILE"],
    flags: [
      REQUIRED_PAGE,
      { name: "confirm", help: "Ask each person by mail to confirm." },
      CONSENT_FLAG,
      { name: "dry-run", help: "Only check the file and count, without changing anything." },
    ],
    // Needed to find out if mail can be sent.
    options: optionNames("mail"),
    run: async (invocation) => (await import("./subscriber-run")).runImport(invocation),
  },
  {
    name: "subscriber export",
    summary: "Print subscribers as CSV, which can be imported again.",
    flags: [
      { ...PAGE_FLAG, help: "Page, by its slug; default: all pages." },
      { name: "suppressed", help: "Print the suppressed addresses with their reasons instead." },
    ],
    options: optionNames("subscriber"),
    run: async (invocation) => (await import("./subscriber-run")).runExport(invocation),
  },
];
