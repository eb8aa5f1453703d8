import { insertInto } from "../../../src/db";
import { mailings, mails } from "../../../src/db/tables/mail";
import { holdAllMailings, suppress } from "../../../src/features/mail";
import { DAY_MS } from "../../../src/kernel/time";
import { type ActionInstallation, byForm, type Verbs } from "./verb";

const insertMailing = insertInto(mailings);
const insertMail = insertInto(mails);

/** Adds a held mailing and returns its id. */
async function held({ app: { ctx }, pageId }: ActionInstallation): Promise<string> {
  const now = ctx.clock.now();
  const id = ctx.newId("mlg");
  await ctx.db.write((tx) =>
    insertMailing(tx, {
      id,
      eventId: ctx.newId("evt"),
      pageId,
      subjectId: "inc_1",
      kind: "incident.created",
      state: "held",
      cursor: -1,
      maxSeq: 1,
      beginAt: now,
      deadlineAt: now + DAY_MS,
      createdAt: now,
    }),
  );
  return id;
}

/** Holds all mailings after one suppression, and returns the time (unix ms). */
async function holdAll({ app: { ctx } }: ActionInstallation): Promise<number> {
  const now = ctx.clock.now();
  await ctx.db.write((tx) => {
    insertMail(tx, {
      id: "eml_1",
      class: 1,
      copy: 0,
      batch: 0,
      recipient: "anna@example.net",
      domain: "example.net",
      subjectId: "inc_1",
      template: "test",
      params: {},
      status: "bounced",
      tries: 1,
      createdAt: now,
      expiresAt: now,
    });
    suppress(ctx, tx, { addressHmac: "mark", reason: "bounced", mailId: "eml_1" });
    holdAllMailings(ctx, tx, { reason: "failures", since: now });
  });
  return now;
}

export const MAILING_VERBS: Verbs = {
  "POST /admin/mailings/go-on": {
    leaves: ["mailing.release"],
    async prepare(installation) {
      await holdAll(installation);
      return byForm(installation, "/mailings/go-on");
    },
  },
  "POST /admin/mailings/holds/:at": {
    leaves: ["subscriber.reactivate"],
    async prepare(installation) {
      const at = await holdAll(installation);
      return byForm(installation, `/mailings/holds/${at}`, { mail: ["eml_1"] });
    },
  },
  "POST /admin/mailings/pages/:id/release": {
    leaves: ["mailing.release"],
    async prepare(installation) {
      await held(installation);
      return byForm(installation, `/mailings/pages/${installation.pageId}/release`);
    },
  },
  "POST /admin/mailings/:id/release": {
    leaves: ["mailing.release"],
    prepare: async (installation) =>
      byForm(installation, `/mailings/${await held(installation)}/release`),
  },
  "POST /admin/mailings/:id/stop": {
    leaves: ["mailing.stop"],
    prepare: async (installation) =>
      byForm(installation, `/mailings/${await held(installation)}/stop`),
  },
};
