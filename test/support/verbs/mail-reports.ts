import { CLI_ACTOR } from "../../../src/base/actor";
import { addressHmac, ensureMailKey } from "../../../src/features/mail/tokens";
import { makeReportToken } from "../../../src/features/mail/reports";
import { suppress } from "../../../src/features/mail/suppressions";
import { type ActionInstallation, byForm, type Verbs } from "./verb";

const REPORTED = "Programs report what happened to mails; each change is on the mail itself.";

function reportToken({ app: { ctx } }: ActionInstallation): Promise<string> {
  return ctx.db.write((tx) => makeReportToken(ctx, tx, CLI_ACTOR));
}

/** Suppresses an address and returns its mark. */
function suppressed({ app: { ctx } }: ActionInstallation): Promise<string> {
  return ctx.db.write((tx) => {
    const hmac = addressHmac(ensureMailKey(ctx, tx), "grace@example.com");
    suppress(ctx, tx, { addressHmac: hmac, reason: "bounced" });
    return hmac;
  });
}

/** Verbs about what came back. */
export const MAIL_REPORT_VERBS: Verbs = {
  "POST /api/v1/mail/bounces/:token": {
    leaves: [],
    because: REPORTED,
    prepare: async (installation) => ({
      path: `/api/v1/mail/bounces/${await reportToken(installation)}`,
      options: { method: "POST", json: { reports: [] } },
    }),
  },
  "POST /api/v1/mail/bounces": {
    leaves: [],
    because: REPORTED,
    prepare: async (installation) => ({
      path: "/api/v1/mail/bounces",
      options: { method: "POST", key: await reportToken(installation), json: { reports: [] } },
    }),
  },
  "POST /admin/mail/token": {
    leaves: ["mail.token"],
    prepare: (installation) => byForm(installation, "/mail/token", { form: "1" }),
  },
  "POST /admin/mail/token/revoke": {
    leaves: ["mail.token"],
    async prepare(installation) {
      await reportToken(installation);
      return byForm(installation, "/mail/token/revoke");
    },
  },
  "POST /admin/mail/suppressions": {
    leaves: [],
    because: "It only searches. An address must not be in a URL, which logs keep.",
    prepare: (installation) =>
      byForm(installation, "/mail/suppressions", { address: "grace@example.com" }),
  },
  "POST /admin/mail/suppressions/:reason/:mark": {
    leaves: ["subscriber.reactivate"],
    async prepare(installation) {
      const mark = await suppressed(installation);
      return byForm(installation, `/mail/suppressions/bounced/${mark}`, { form: "1" });
    },
  },
};
