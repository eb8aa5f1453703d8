import { setAsideId } from "../../../src/features/alarms/fleet";
import { listSessionsOf } from "../../../src/features/auth/sessions";
import { createSecret } from "../../../src/features/auth/totp";
import { findIdentity, insertIdentity } from "../../../src/features/users/store";
import { cancelPending } from "../../../src/features/webhooks/delivery-store";
import { invite, signIn } from "../dashboard";
import { importForm } from "../import-form";
import { codeAt, enrol, passwordStep, signInByCode } from "../second-factors";
import { deliveryOf } from "./api";
import {
  byForm,
  OWNER_EMAIL,
  OWNER_PASSWORD,
  SET_ASIDE,
  type ActionInstallation,
  type Sent,
  type Verbs,
} from "./verb";

const KEY = { name: "CI", scopes: ["read:status"], rate_limit: "500", expires: "never" };
const PERSON = { email: "grace@example.com", name: "Grace", role: "viewer" };
const CHOSEN = { name: "Grace Hopper", password: "another horse battery" };
const WEBHOOK = {
  format: "standard",
  url: "https://a.example.com",
  which: "all",
  description: "A",
};

/** Settings of a relay that no policy allows, so that nothing is sent. */
const RELAY = {
  host: "127.0.0.1",
  tls: "none",
  from: "status@example.com",
  connections: "4",
  rate_per_minute: "600",
};

async function saveRelay({ app, session }: ActionInstallation): Promise<void> {
  await app.call("/admin/mail", { session, form: { form: "2", ...RELAY } });
}

/** Invites another user. */
async function guest({ app, session }: ActionInstallation): Promise<{ path: string; id: string }> {
  return invite(app, session, PERSON.email, "viewer");
}

/** Connects a user with an identity, the owner by default, and returns its id. */
async function identityOf(
  { app, ownerId }: ActionInstallation,
  userId: string = ownerId,
): Promise<number> {
  const identity = { issuer: "https://login.example.com", subject: userId };
  const at = { label: userId, createdAt: 1, lastUsedAt: 1 };
  await app.ctx.db.write((tx) => insertIdentity(tx, { userId, ...identity, ...at }));
  return findIdentity(app.ctx.db, identity)?.id ?? 0;
}

/** Form of an owner with a second factor that password and code confirm. */
async function confirmed(installation: ActionInstallation, what: string): Promise<Sent> {
  const { app, ownerId } = installation;
  const authenticator = await enrol(app, ownerId);
  const session = await signInByCode(app, OWNER_EMAIL, authenticator);
  const form = { code: await authenticator.nextCode(), password: OWNER_PASSWORD };
  return byForm({ ...installation, session }, `/settings/account/second-factor/${what}`, form);
}

async function keyForm(installation: ActionInstallation, verb: string, fields = {}) {
  return byForm(installation, `/settings/keys/${installation.keyId}${verb}`, {
    form: "1",
    ...fields,
  });
}

async function webhookForm(installation: ActionInstallation, verb: string, fields = {}) {
  return byForm(
    installation,
    `/settings/webhooks/${(await installation.webhook()).id}${verb}`,
    fields,
  );
}

/** Dashboard requests that change settings, users or sessions. */
export const SETTINGS_VERBS: Verbs = {
  "POST /admin/sign-in": {
    leaves: ["user.sign_in"],
    prepare: () => ({
      path: "/admin/sign-in",
      options: { form: { email: OWNER_EMAIL, password: OWNER_PASSWORD } },
    }),
  },
  "POST /admin/sign-in/code": {
    leaves: ["user.sign_in"],
    async prepare({ app, ownerId }) {
      const authenticator = await enrol(app, ownerId);
      const cookie = await passwordStep(app, OWNER_EMAIL);
      const form = { code: await authenticator.nextCode() };
      return { path: "/admin/sign-in/code", options: { headers: { cookie }, form } };
    },
  },
  "POST /admin/sign-out": {
    leaves: ["session.end"],
    prepare: (installation) => byForm(installation, "/sign-out"),
  },
  "POST /admin/join/:token": {
    leaves: ["user.accept"],
    async prepare(installation) {
      return { path: (await guest(installation)).path, options: { form: CHOSEN } };
    },
  },
  "POST /admin/join/:token/named": {
    leaves: [],
    because: "No proxy names the user, so it only leads back to the invitation.",
    async prepare(installation) {
      return { path: `${(await guest(installation)).path}/named`, options: { form: {} } };
    },
  },
  "POST /admin/join/:token/provider": {
    leaves: [],
    because: "Without a provider it only leads to the sign-in screen.",
    async prepare(installation) {
      const { path } = await guest(installation);
      return { path: `${path}/provider`, options: { form: { pending: "x" } } };
    },
  },
  "POST /admin/settings/keys/new": {
    leaves: ["key.create"],
    prepare: (installation) => byForm(installation, "/settings/keys/new", { form: "1", ...KEY }),
  },
  "POST /admin/settings/keys/:id": {
    leaves: ["key.update"],
    prepare: (installation) =>
      keyForm(installation, "", { version: "1", name: "Another", rate_limit: "5" }),
  },
  "POST /admin/settings/keys/:id/rotate": {
    leaves: ["key.rotate"],
    prepare: (installation) => keyForm(installation, "/rotate", { overlap: "1h" }),
  },
  "POST /admin/settings/keys/:id/end-old-value": {
    leaves: ["key.end_old_value"],
    async prepare(installation) {
      const { path, options } = await keyForm(installation, "/rotate", { overlap: "1h" });
      await installation.app.call(path, options);
      return keyForm(installation, "/end-old-value");
    },
  },
  "POST /admin/settings/keys/:id/revoke": {
    leaves: ["key.revoke"],
    prepare: (installation) => keyForm(installation, "/revoke"),
  },
  "POST /admin/settings/keys/selected": {
    leaves: [],
    because: "It only asks before the keys are revoked.",
    prepare: (installation) =>
      byForm(installation, "/settings/keys/selected", { id: installation.keyId }),
  },
  "POST /admin/settings/keys/selected/revoke": {
    leaves: ["key.revoke"],
    prepare: (installation) =>
      byForm(installation, "/settings/keys/selected/revoke", { id: installation.keyId }),
  },
  "POST /admin/settings/webhooks/new": {
    leaves: ["webhook.create"],
    prepare: (installation) =>
      byForm(installation, "/settings/webhooks/new", { form: "1", ...WEBHOOK }),
  },
  "POST /admin/settings/webhooks/:id/edit": {
    leaves: ["webhook.update"],
    async prepare(installation) {
      const path = `/settings/webhooks/${(await installation.webhook()).id}/edit`;
      return byForm(installation, path, { ...WEBHOOK, version: await installation.version(path) });
    },
  },
  "POST /admin/settings/webhooks/:id/test": {
    leaves: ["webhook.test"],
    prepare: (installation) => webhookForm(installation, "/test", { form: "1" }),
  },
  "POST /admin/settings/webhooks/:id/rotate": {
    leaves: ["webhook.rotate_secret"],
    prepare: (installation) => webhookForm(installation, "/rotate", { form: "1" }),
  },
  "POST /admin/settings/webhooks/:id/disable": {
    leaves: ["webhook.disable"],
    prepare: (installation) => webhookForm(installation, "/disable"),
  },
  "POST /admin/settings/webhooks/:id/enable": {
    leaves: ["webhook.enable"],
    async prepare(installation) {
      const { id } = await installation.webhook();
      await installation.api("PATCH", `/webhooks/${id}`, { enabled: false });
      return byForm(installation, `/settings/webhooks/${id}/enable`);
    },
  },
  "POST /admin/settings/webhooks/:id/confirmation": {
    leaves: ["webhook.update"],
    async prepare(installation) {
      const { api, app, session } = installation;
      await saveRelay(installation);
      const form = { public_address: "http://status.example.com" };
      await app.call("/admin/settings/general", { session, form });
      const webhook = { format: "email", url: "mailto:oncall@example.com" };
      const { id } = await api("POST", "/webhooks", webhook);
      return byForm(installation, `/settings/webhooks/${id}/confirmation`);
    },
  },
  "POST /admin/settings/webhooks/:id/delete": {
    leaves: ["webhook.delete"],
    prepare: (installation) => webhookForm(installation, "/delete"),
  },
  "POST /admin/settings/webhooks/:id/deliveries/:delivery_id/redeliver": {
    leaves: ["webhook.redeliver"],
    prepare: async (installation) =>
      byForm(installation, `/settings${(await deliveryOf(installation)).path}/redeliver`),
  },
  "POST /admin/settings/webhooks/:id/redeliver": {
    leaves: ["webhook.redeliver"],
    async prepare(installation) {
      const { path } = await deliveryOf(installation);
      const id = path.split("/")[2] ?? "";
      const { ctx } = installation.app;
      await installation.api("PATCH", `/webhooks/${id}`, { enabled: false });
      const cancelled = { webhookId: id, now: ctx.clock.now(), limit: 10 };
      await ctx.db.write((tx) => cancelPending(tx, cancelled));
      await installation.api("PATCH", `/webhooks/${id}`, { enabled: true });
      return byForm(installation, `/settings/webhooks/${id}/redeliver`, {
        since: "2026-01-01T00:00",
      });
    },
  },
  "POST /admin/forgot": {
    leaves: [],
    because: "Anyone can send it, about addresses of any kind. The changed password has an entry.",
    async prepare(installation) {
      await saveRelay(installation);
      const { app, session } = installation;
      const form = { public_address: "http://status.example.com" };
      await app.call("/admin/settings/general", { session, form });
      return { path: "/admin/forgot", options: { form: { email: OWNER_EMAIL } } };
    },
  },
  "POST /admin/settings/users/reset-mails": {
    leaves: ["settings.reset_mails"],
    prepare: (installation) => byForm(installation, "/settings/users/reset-mails", { turn: "off" }),
  },
  "POST /admin/settings/users/new": {
    leaves: ["user.invite"],
    prepare: (installation) =>
      byForm(installation, "/settings/users/new", { form: "1", ...PERSON }),
  },
  "POST /admin/settings/users/:id/role": {
    leaves: ["user.role"],
    prepare: async (installation) =>
      byForm(installation, `/settings/users/${(await guest(installation)).id}/role`, {
        version: "1",
        role: "editor",
      }),
  },
  "POST /admin/settings/users/:id/link": {
    leaves: ["user.password_link"],
    prepare: async (installation) =>
      byForm(installation, `/settings/users/${(await guest(installation)).id}/link`, { form: "1" }),
  },
  "POST /admin/settings/users/:id/disable": {
    leaves: ["user.disable"],
    prepare: async (installation) =>
      byForm(installation, `/settings/users/${(await guest(installation)).id}/disable`),
  },
  "POST /admin/settings/users/:id/reset-second-factor": {
    leaves: ["user.second_factor_reset"],
    async prepare(installation) {
      const { id } = await guest(installation);
      await enrol(installation.app, id);
      return byForm(installation, `/settings/users/${id}/reset-second-factor`);
    },
  },
  "POST /admin/settings/users/:id/enable": {
    leaves: ["user.enable"],
    async prepare(installation) {
      const path = `/settings/users/${(await guest(installation)).id}`;
      const { path: at, options } = byForm(installation, `${path}/disable`);
      await installation.app.call(at, options);
      return byForm(installation, `${path}/enable`);
    },
  },
  "POST /admin/first-steps/hide": {
    leaves: ["settings.first_steps"],
    prepare: (installation) => byForm(installation, "/first-steps/hide"),
  },
  "POST /admin/first-steps/show": {
    leaves: ["settings.first_steps"],
    async prepare(installation) {
      const { path, options } = byForm(installation, "/first-steps/hide");
      await installation.app.call(path, options);
      return byForm(installation, "/first-steps/show");
    },
  },
  "POST /admin/settings/fleet/orphans": {
    leaves: ["fleet.orphans_dismissed"],
    prepare: (installation) =>
      byForm(installation, "/settings/fleet/orphans", { database: setAsideId(SET_ASIDE) }),
  },
  "POST /admin/settings/general": {
    leaves: ["settings.public_address"],
    prepare: (installation) =>
      byForm(installation, "/settings/general", { public_address: "https://other.example.com" }),
  },
  "POST /admin/settings/general/networks": {
    leaves: ["settings.allowed_networks"],
    prepare: (installation) =>
      byForm(installation, "/settings/general/networks", { allowed_networks: "10.0.0.0/8" }),
  },
  "POST /admin/settings/general/backup": {
    leaves: ["database.backup"],
    prepare: (installation) => byForm(installation, "/settings/general/backup"),
  },
  "POST /admin/mail": {
    leaves: ["mail.configure"],
    prepare: (installation) => byForm(installation, "/mail", { form: "1", ...RELAY }),
  },
  "POST /admin/mail/remove": {
    leaves: ["mail.configure"],
    async prepare(installation) {
      await saveRelay(installation);
      return byForm(installation, "/mail/remove");
    },
  },
  "POST /admin/mail/test": {
    leaves: ["mail.test"],
    async prepare(installation) {
      await makeMailReady(installation);
      return byForm(installation, "/mail/test");
    },
  },
  "POST /admin/subscribers/import": {
    leaves: ["subscriber.import"],
    prepare({ session, pageId }) {
      const fields = { page: pageId, kind: "consent", consent: "Asked before", intent: "import" };
      return {
        path: "/admin/subscribers/import",
        options: { ...importForm("email\nann@example.com\n", fields), session },
      };
    },
  },
  "POST /admin/subscribers/export": {
    leaves: ["subscriber.export"],
    prepare: (installation) =>
      byForm(installation, "/subscribers/export", { page: "", what: "subscribers" }),
  },
  "POST /admin/subscribers/erase": {
    leaves: ["subscriber.erase"],
    prepare: (installation) =>
      byForm(installation, "/subscribers/erase", { email: "ann@example.com" }),
  },
  "POST /admin/settings/account/theme": {
    leaves: [],
    because: "It only sets a cookie of the browser.",
    prepare: (installation) =>
      byForm(installation, "/settings/account/theme", { theme: "dark", back: "account" }),
  },
  "POST /admin/settings/account/name": {
    leaves: ["user.rename"],
    prepare: (installation) => byForm(installation, "/settings/account/name", { name: "Ada King" }),
  },
  "POST /admin/settings/account/time-zone": {
    leaves: ["user.time_zone"],
    prepare: (installation) =>
      byForm(installation, "/settings/account/time-zone", { time_zone: "Europe/Berlin" }),
  },
  "POST /admin/settings/account/mail": {
    leaves: ["user.key_warnings"],
    prepare: (installation) => byForm(installation, "/settings/account/mail"),
  },
  "POST /admin/settings/account/password": {
    leaves: ["user.password"],
    prepare: (installation) =>
      byForm(installation, "/settings/account/password", {
        current_password: OWNER_PASSWORD,
        new_password: "another horse battery",
      }),
  },
  "POST /admin/settings/account/connect": {
    leaves: [],
    because: "It only leads to the provider, whose callback connects.",
    prepare: (installation) =>
      byForm(installation, "/settings/account/connect", { password: OWNER_PASSWORD }),
  },
  "POST /admin/settings/account/connect/named": {
    leaves: [],
    because: "No proxy names the user, so it only leads back to Account.",
    prepare: (installation) => byForm(installation, "/settings/account/connect/named"),
  },
  "POST /admin/settings/account/disconnect/:identity": {
    leaves: ["user.disconnect"],
    prepare: async (installation) =>
      byForm(installation, `/settings/account/disconnect/${await identityOf(installation)}`),
  },
  "POST /admin/settings/users/:id/disconnect/:identity": {
    leaves: ["user.disconnect"],
    async prepare(installation) {
      const { id } = await guest(installation);
      const identity = await identityOf(installation, id);
      return byForm(installation, `/settings/users/${id}/disconnect/${identity}`);
    },
  },
  "POST /admin/settings/account/second-factor": {
    leaves: ["user.second_factor_on"],
    prepare(installation) {
      const { ctx } = installation.app;
      const secret = createSecret(ctx.random);
      const code = codeAt(secret, ctx.clock.now());
      const form = { secret, code, password: OWNER_PASSWORD };
      return byForm(installation, "/settings/account/second-factor", form);
    },
  },
  "POST /admin/settings/account/second-factor/recovery-codes": {
    leaves: ["user.recovery_codes"],
    prepare: (installation) => confirmed(installation, "recovery-codes"),
  },
  "POST /admin/settings/account/second-factor/off": {
    leaves: ["user.second_factor_off"],
    prepare: (installation) => confirmed(installation, "off"),
  },
  "POST /admin/settings/account/sessions/end-others": {
    leaves: ["session.end"],
    async prepare(installation) {
      await signIn(installation.app, OWNER_EMAIL);
      return byForm(installation, "/settings/account/sessions/end-others");
    },
  },
  "POST /admin/settings/account/sessions/end": {
    leaves: ["session.end"],
    async prepare(installation) {
      await signIn(installation.app, OWNER_EMAIL);
      const { db, clock } = installation.app.ctx;
      const ids = listSessionsOf(db, installation.ownerId, clock.now()).map(({ id }) => id);
      const session = String(Math.max(...ids));
      return byForm(installation, "/settings/account/sessions/end", { session });
    },
  },
};

/** Sets a relay and a public address, without which nothing is mailed. */
async function makeMailReady(installation: ActionInstallation): Promise<void> {
  await saveRelay(installation);
  const { app, session } = installation;
  const form = { public_address: "http://status.example.com" };
  await app.call("/admin/settings/general", { session, form });
}
