import { CLI_ACTOR } from "../../../src/base/actor";
import { setMailSettings } from "../../../src/features/mail/settings";
import { suppress } from "../../../src/features/mail/suppressions";
import type { SubscriberRow } from "../../../src/features/subscribers/store";
import { storeMail, storeSubscriber } from "../mailed-subscriber";
import { listMails } from "../mail-rows";
import { linkPath, listRequests, RELAY } from "../subscribing";
import { byForm, type ActionInstallation, type Sent, type Verbs } from "./verb";

const SELECTION = { scope: "page", events: ["incidents"] };

/** Sets mail up. */
async function withMail({ app: { ctx } }: ActionInstallation): Promise<void> {
  // Not by https, with which the session would have another cookie.
  ctx.baseUrl = "http://status.test";
  await ctx.db.write((tx) => setMailSettings(ctx, tx, RELAY, CLI_ACTOR));
}

function subscriber({ app: { ctx }, pageId }: ActionInstallation): Promise<SubscriberRow> {
  return ctx.db.write((tx) => storeSubscriber(ctx, tx, { pageId, address: "ann@example.com" }));
}

async function subscriberForm(
  installation: ActionInstallation,
  verb: string,
  fields: Parameters<typeof byForm>[2] = {},
): Promise<Sent> {
  const { id } = await subscriber(installation);
  return byForm(installation, `/subscribers/${id}${verb}`, { form: "1", ...fields });
}

/** Signs an address up and returns the request for its link to confirm or to decline. */
async function signedUp(
  installation: ActionInstallation,
  purpose: "confirm" | "decline",
): Promise<Sent> {
  await withMail(installation);
  const { app } = installation;
  const sent = await invite(installation);
  await app.call(sent.path, { ...sent.options });
  const [request] = listRequests(app.ctx.db, {});
  return { path: linkPath(app.ctx, purpose, { id: request?.id ?? "" }), options: { form: {} } };
}

const invite = async (installation: ActionInstallation): Promise<Sent> => {
  await withMail(installation);
  const form = { form: "1", email: "ann@example.com", ...SELECTION };
  return byForm(installation, "/subscribers/new?page=acme", form);
};

const VISITOR = "what visitors do is in the subscriber's own history";

/** Requests of the dashboard about subscribers, and of visitors. */
export const SUBSCRIBER_VERBS: Verbs = {
  "POST /admin/pages/:id/mail": {
    leaves: ["page.update"],
    prepare: async (installation) =>
      byForm(installation, `/pages/${installation.pageId}/mail`, {
        version: await installation.version(`/pages/${installation.pageId}/mail`),
        subscriptions: "yes",
        subject: "status",
      }),
  },
  "POST /admin/subscribers/new": { leaves: ["subscriber.add"], prepare: invite },
  "POST /admin/subscribers/:id/edit": {
    leaves: ["subscriber.update"],
    prepare: (installation) =>
      subscriberForm(installation, "/edit", { version: "1", scope: "page", events: "status" }),
  },
  "POST /admin/subscribers/:id/remove": {
    leaves: ["subscriber.remove"],
    prepare: (installation) => subscriberForm(installation, "/remove"),
  },
  "POST /admin/subscribers/:id/links": {
    leaves: ["subscriber.update"],
    prepare: (installation) => subscriberForm(installation, "/links"),
  },
  "POST /admin/subscribers/:id/block": {
    leaves: ["subscriber.update"],
    prepare: (installation) => subscriberForm(installation, "/block", { note: "Asked twice." }),
  },
  "POST /admin/subscribers/:id/reactivate/:reason": {
    leaves: ["subscriber.reactivate"],
    async prepare(installation) {
      const { ctx } = installation.app;
      const { id, addressHmac } = await subscriber(installation);
      await ctx.db.write((tx) => suppress(ctx, tx, { addressHmac, reason: "bounced" }));
      return byForm(installation, `/subscribers/${id}/reactivate/bounced`, { form: "1" });
    },
  },
  "POST /admin/subscribers/:id/mails/:mail_id/send-again": {
    leaves: ["mailing.resend"],
    async prepare(installation) {
      const { ctx } = installation.app;
      const row = await subscriber(installation);
      const mailId = await ctx.db.write((tx) => storeMail(ctx, tx, row));
      return byForm(installation, `/subscribers/${row.id}/mails/${mailId}/send-again`, {
        form: "1",
      });
    },
  },
  "POST /status/:slug/subscribe": {
    leaves: [],
    because: VISITOR,
    async prepare(installation) {
      await withMail(installation);
      return { path: "/status/acme/subscribe", options: { form: { email: "ann@example.com" } } };
    },
  },
  "POST /mail/confirm/:token": {
    leaves: [],
    because: VISITOR,
    prepare: (installation) => signedUp(installation, "confirm"),
  },
  "POST /mail/decline/:token": {
    leaves: [],
    because: VISITOR,
    prepare: (installation) => signedUp(installation, "decline"),
  },
  "POST /mail/alerts/:token": {
    leaves: [],
    because: "the address has stopped alerts already, and the first time is an entry of the system",
    async prepare(installation) {
      await withMail(installation);
      const { ctx } = installation.app;
      const url = "mailto:ann@example.com";
      await installation.api("POST", "/webhooks", { url, format: "email" });
      const [mail] = listMails(ctx.db, {});
      const path = linkPath(ctx, "alerts", { id: mail?.id ?? "" });
      const options = { form: { action: "decline" } };
      await installation.app.call(path, { method: "POST", ...options });
      return { path, options };
    },
  },
  "POST /mail/manage/:token": {
    leaves: [],
    because: VISITOR,
    async prepare(installation) {
      const path = linkPath(installation.app.ctx, "manage", await subscriber(installation));
      return { path, options: { form: { action: "unsubscribe" } } };
    },
  },
  "POST /mail/unsubscribe/:token": {
    leaves: [],
    because: VISITOR,
    async prepare(installation) {
      const path = linkPath(installation.app.ctx, "unsubscribe", await subscriber(installation));
      return { path, options: { form: { "List-Unsubscribe": "One-Click" } } };
    },
  },
};
