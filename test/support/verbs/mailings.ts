import { insertInto } from "../../../src/db/statements";
import { mailings, mails } from "../../../src/db/tables/mail";
import { holdAllMailings } from "../../../src/features/mail/hold";
import { suppress } from "../../../src/features/mail/suppressions";
import { mailingRow } from "../mail-rows";
import { type ActionInstallation, byForm, type Verbs } from "./verb";

const insertMailing = insertInto(mailings);
const insertMail = insertInto(mails);

/** Adds a held mailing and returns its id. */
async function held({ app: { ctx }, pageId }: ActionInstallation): Promise<string> {
  const id = ctx.newId("mlg");
  await ctx.db.write((tx) =>
    insertMailing(
      tx,
      mailingRow({
        id,
        pageId,
        subjectId: "inc_1",
        state: "held",
        cursor: -1,
        maxSeq: 1,
        createdAt: ctx.clock.now(),
      }),
    ),
  );
  return id;
}

/** Holds all mailings after one suppression, and returns its time (unix ms) and the mail. */
async function holdAll({ app: { ctx } }: ActionInstallation) {
  const at = ctx.clock.now();
  const id = ctx.newId("eml");
  await ctx.db.write((tx) => {
    insertMail(tx, {
      id,
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
      createdAt: at,
      expiresAt: at,
    });
    suppress(ctx, tx, { addressHmac: "mark", reason: "bounced", mailId: id });
    holdAllMailings(ctx, tx, { reason: "failures", since: at });
  });
  return { at, id };
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
      const { at, id } = await holdAll(installation);
      return byForm(installation, `/mailings/holds/${at}`, { mail: [id] });
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
