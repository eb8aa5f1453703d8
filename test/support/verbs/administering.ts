import { listSessionsOf } from "../../../src/features/auth";
import { cancelPending } from "../../../src/features/webhooks/delivery-store";
import { invite, signIn } from "../dashboard";
import { deliveryOf } from "./api";
import { byForm, OWNER_EMAIL, OWNER_PASSWORD, type VerbHouse, type Verbs } from "./verb";

const KEY = { name: "CI", scopes: ["read:status"], rate_limit: "500", expires: "never" };
const PERSON = { email: "grace@example.com", name: "Grace", role: "viewer" };
const CHOSEN = { name: "Grace Hopper", password: "another horse battery" };
const WEBHOOK = {
  format: "standard",
  url: "https://a.example.com",
  which: "all",
  description: "A",
};

/** Somebody else, who was invited. */
async function guest({ app, session }: VerbHouse): Promise<{ path: string; id: string }> {
  return invite(app, session, PERSON.email, "viewer");
}

async function keyForm(house: VerbHouse, verb: string, fields = {}) {
  return byForm(house, `/settings/keys/${house.keyId}${verb}`, { form: "1", ...fields });
}

async function webhookForm(house: VerbHouse, verb: string, fields = {}) {
  return byForm(house, `/settings/webhooks/${(await house.webhook()).id}${verb}`, fields);
}

/** What changes something by the dashboard: settings, and who comes in. */
export const ADMINISTERING_VERBS: Verbs = {
  "POST /admin/sign-in": {
    leaves: ["user.sign_in"],
    prepare: () => ({
      path: "/admin/sign-in",
      options: { form: { email: OWNER_EMAIL, password: OWNER_PASSWORD } },
    }),
  },
  "POST /admin/sign-out": {
    leaves: ["session.end"],
    prepare: (house) => byForm(house, "/sign-out"),
  },
  "POST /admin/join/:token": {
    leaves: ["user.accept"],
    async prepare(house) {
      return { path: (await guest(house)).path, options: { form: CHOSEN } };
    },
  },
  "POST /admin/settings/keys/new": {
    leaves: ["key.create"],
    prepare: (house) => byForm(house, "/settings/keys/new", { form: "1", ...KEY }),
  },
  "POST /admin/settings/keys/:id": {
    leaves: ["key.update"],
    prepare: (house) => keyForm(house, "", { name: "Another", rate_limit: "5" }),
  },
  "POST /admin/settings/keys/:id/rotate": {
    leaves: ["key.rotate"],
    prepare: (house) => keyForm(house, "/rotate", { overlap: "1h" }),
  },
  "POST /admin/settings/keys/:id/end-old-value": {
    leaves: ["key.end_old_value"],
    async prepare(house) {
      const { path, options } = await keyForm(house, "/rotate", { overlap: "1h" });
      await house.app.call(path, options);
      return keyForm(house, "/end-old-value");
    },
  },
  "POST /admin/settings/keys/:id/revoke": {
    leaves: ["key.revoke"],
    prepare: (house) => keyForm(house, "/revoke"),
  },
  "POST /admin/settings/webhooks/new": {
    leaves: ["webhook.create"],
    prepare: (house) => byForm(house, "/settings/webhooks/new", { form: "1", ...WEBHOOK }),
  },
  "POST /admin/settings/webhooks/:id/edit": {
    leaves: ["webhook.update"],
    async prepare(house) {
      const path = `/settings/webhooks/${(await house.webhook()).id}/edit`;
      return byForm(house, path, { ...WEBHOOK, version: await house.version(path) });
    },
  },
  "POST /admin/settings/webhooks/:id/test": {
    leaves: ["webhook.test"],
    prepare: (house) => webhookForm(house, "/test", { form: "1" }),
  },
  "POST /admin/settings/webhooks/:id/rotate": {
    leaves: ["webhook.rotate_secret"],
    prepare: (house) => webhookForm(house, "/rotate", { form: "1" }),
  },
  "POST /admin/settings/webhooks/:id/disable": {
    leaves: ["webhook.disable"],
    prepare: (house) => webhookForm(house, "/disable"),
  },
  "POST /admin/settings/webhooks/:id/enable": {
    leaves: ["webhook.enable"],
    async prepare(house) {
      const { id } = await house.webhook();
      await house.api("PATCH", `/webhooks/${id}`, { enabled: false });
      return byForm(house, `/settings/webhooks/${id}/enable`);
    },
  },
  "POST /admin/settings/webhooks/:id/delete": {
    leaves: ["webhook.delete"],
    prepare: (house) => webhookForm(house, "/delete"),
  },
  "POST /admin/settings/webhooks/:id/deliveries/:delivery_id/redeliver": {
    leaves: ["webhook.redeliver"],
    prepare: async (house) => byForm(house, `/settings${(await deliveryOf(house)).path}/redeliver`),
  },
  "POST /admin/settings/webhooks/:id/redeliver": {
    leaves: ["webhook.redeliver"],
    async prepare(house) {
      const { path } = await deliveryOf(house);
      const id = path.split("/")[2] ?? "";
      const { ctx } = house.app;
      await house.api("PATCH", `/webhooks/${id}`, { enabled: false });
      const cancelled = { webhookId: id, now: ctx.clock.now(), limit: 10 };
      await ctx.db.write((tx) => cancelPending(tx, cancelled));
      await house.api("PATCH", `/webhooks/${id}`, { enabled: true });
      return byForm(house, `/settings/webhooks/${id}/redeliver`, { since: "2026-01-01T00:00" });
    },
  },
  "POST /admin/settings/users/new": {
    leaves: ["user.invite"],
    prepare: (house) => byForm(house, "/settings/users/new", { form: "1", ...PERSON }),
  },
  "POST /admin/settings/users/:id/role": {
    leaves: ["user.role"],
    prepare: async (house) =>
      byForm(house, `/settings/users/${(await guest(house)).id}/role`, { role: "editor" }),
  },
  "POST /admin/settings/users/:id/link": {
    leaves: ["user.password_link"],
    prepare: async (house) =>
      byForm(house, `/settings/users/${(await guest(house)).id}/link`, { form: "1" }),
  },
  "POST /admin/settings/users/:id/disable": {
    leaves: ["user.disable"],
    prepare: async (house) => byForm(house, `/settings/users/${(await guest(house)).id}/disable`),
  },
  "POST /admin/settings/users/:id/enable": {
    leaves: ["user.enable"],
    async prepare(house) {
      const path = `/settings/users/${(await guest(house)).id}`;
      const { path: at, options } = byForm(house, `${path}/disable`);
      await house.app.call(at, options);
      return byForm(house, `${path}/enable`);
    },
  },
  "POST /admin/settings/general": {
    leaves: ["settings.public_address"],
    prepare: (house) =>
      byForm(house, "/settings/general", { public_address: "https://other.example.com" }),
  },
  "POST /admin/settings/account/name": {
    leaves: ["user.rename"],
    prepare: (house) => byForm(house, "/settings/account/name", { name: "Ada King" }),
  },
  "POST /admin/settings/account/password": {
    leaves: ["user.password"],
    prepare: (house) =>
      byForm(house, "/settings/account/password", {
        current_password: OWNER_PASSWORD,
        new_password: "another horse battery",
      }),
  },
  "POST /admin/settings/account/sessions/end-others": {
    leaves: ["session.end"],
    async prepare(house) {
      await signIn(house.app, OWNER_EMAIL);
      return byForm(house, "/settings/account/sessions/end-others");
    },
  },
  "POST /admin/settings/account/sessions/end": {
    leaves: ["session.end"],
    async prepare(house) {
      await signIn(house.app, OWNER_EMAIL);
      const { db, clock } = house.app.ctx;
      const ids = listSessionsOf(db, house.ownerId, clock.now()).map(({ id }) => id);
      const session = String(Math.max(...ids));
      return byForm(house, "/settings/account/sessions/end", { session });
    },
  },
};
