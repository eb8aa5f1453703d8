import { mails, suppressions } from "../../src/db/tables/mail";
import { CLI_ACTOR } from "../../src/base/actor";
import type { SuppressionReason } from "../../src/base/mail-address";
import { addressHmac, ensureMailKey } from "../../src/features/mail/tokens";
import { startSending } from "../../src/features/mail/sending/sender";
import { suppress } from "../../src/features/mail/suppressions";
import { createUser, disableUser, hasUsers } from "../../src/features/users/users";
import { ALERT_TEMPLATES } from "../../src/features/webhooks/alerts/templates";
import { startDelivering } from "../../src/features/webhooks/deliver/deliverer";
import type { Answer, CallOptions, TestApp } from "./app";
import { settle } from "./clock";
import { createMailApp, NO_THROTTLE } from "./mail-site";
import { listMails, listSuppressions } from "./mail-rows";

type MailRow = typeof mails.$inferSelect;

/** An application that sends alerts to a relay of the test, on the test's clock. */
export interface AlertSite extends AsyncDisposable {
  app: TestApp;
  deliverer: ReturnType<typeof startDelivering>;
  sender: ReturnType<typeof startSending>;
  /** Ids of the components API and Web of the page `acme`. */
  components: Record<string, string>;
  /** Calls a path under `/api/v1` with a key, and waits until nothing can be sent. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** Creates an enabled user with this address and returns the id. */
  user(address: string): Promise<string>;
  disableUser(id: string): Promise<void>;
  suppress(address: string, reason: SuppressionReason): Promise<void>;
  /** Creates a webhook for e-mail, by default for every event. */
  webhook(address: string, json?: Record<string, unknown>): Promise<Answer["body"]>;
  /** Creates an incident and returns its id. */
  open(json?: Record<string, unknown>): Promise<string>;
  /** Deliveries of a webhook, newest first. */
  deliveries(webhookId: string): Promise<Answer["body"][]>;
  read(webhookId: string): Promise<Answer["body"]>;
  /** Resolves when nothing can be sent now. */
  idle(): Promise<void>;
  /** Advances the clock in steps, each followed by `idle`. */
  pass(ms: number, stepMs?: number): Promise<void>;
  mails(): MailRow[];
  suppressions(): (typeof suppressions.$inferSelect)[];
  /** Restarts deliverer and sender on the same database. */
  restart(): Promise<void>;
}

/** Creates a site whose relay listens on `port` of loopback. `env` holds further settings. */
export async function createAlertSite(
  { port }: { port: number },
  env: Record<string, string | undefined> = {},
): Promise<AlertSite> {
  const { app, clock, egress } = await createMailApp(port, env);
  const { ctx } = app;
  const throttle = NO_THROTTLE;
  const startDeliverer = () => startDelivering(ctx, egress, undefined, throttle);
  const startSender = () => startSending(ctx, egress, { templates: ALERT_TEMPLATES, throttle });
  let [deliverer, sender] = [startDeliverer(), startSender()];
  const { components } = await app.page({ slug: "acme", name: "Acme" }, ["API", "Web"]);
  const key = await app.keyWith("read:status", "write:incidents", "manage:webhooks");

  const site: AlertSite = {
    app,
    get deliverer() {
      return deliverer;
    },
    get sender() {
      return sender;
    },
    components,
    async call(path, options) {
      const answer = await app.call(`/api/v1/${path}`, { key, ...options });
      await site.idle();
      return answer;
    },
    user: (email) =>
      ctx.db.write((tx) => {
        const role = hasUsers(tx) ? "editor" : "owner";
        return createUser(ctx, tx, { email, name: "Ada", role }, CLI_ACTOR).id;
      }),
    disableUser: async (id) =>
      void (await ctx.db.write((tx) => disableUser(ctx, tx, id, CLI_ACTOR))),
    suppress: async (address, reason) =>
      void (await ctx.db.write((tx) => {
        suppress(ctx, tx, { addressHmac: addressHmac(ensureMailKey(ctx, tx), address), reason });
      })),
    async webhook(address, json) {
      const body = { format: "email", url: `mailto:${address}`, ...json };
      const answer = await site.call("webhooks", { method: "POST", json: body });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    async open(json) {
      const body = { page: "acme", name: "Errors", body: "We look into it.", ...json };
      const answer = await site.call("incidents", { method: "POST", json: body });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.id;
    },
    deliveries: async (id) => (await site.call(`webhooks/${id}/deliveries`)).body.data,
    read: async (id) => (await site.call(`webhooks/${id}`)).body,
    async idle() {
      // A result of one queue wakes the other one.
      for (let turn = 0; turn < 3; turn++) {
        await settle();
        await deliverer.whenIdle();
        await sender.whenIdle();
      }
    },
    async pass(ms, stepMs = ms) {
      const until = clock.now() + ms;
      await site.idle();
      while (clock.now() < until) {
        await clock.advance(Math.min(stepMs, until - clock.now()));
        await site.idle();
      }
    },
    mails: () => listMails(ctx.db, {}),
    suppressions: () => listSuppressions(ctx.db, {}),
    async restart() {
      await stop();
      [deliverer, sender] = [startDeliverer(), startSender()];
      await site.idle();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await app[Symbol.asyncDispose]();
    },
  };

  async function stop(): Promise<void> {
    const stopped = [deliverer.stop(0), sender.stop(0)];
    // Breaks off what a test left under way.
    await clock.advance(0);
    await Promise.all(stopped);
  }
  return site;
}
