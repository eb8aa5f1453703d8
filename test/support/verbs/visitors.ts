import { startSignUps } from "../../../src/features/subscribers";
import { settle } from "../clock";
import { linkPath, listRequests, listSubscribers } from "../subscribing";
import { makeMailReady } from "./settings";
import type { ActionInstallation, Sent, Verbs } from "./verb";

const OWN = "people who subscribe have a history of their own";

async function signUp(installation: ActionInstallation): Promise<Sent> {
  await makeMailReady(installation);
  return {
    path: "/status/acme/subscribe",
    options: { form: { email: "ann@example.com" } },
  };
}

/** Signs an address up and returns the path of a link in its confirmation. */
async function requested(
  installation: ActionInstallation,
  purpose: "confirm" | "decline",
): Promise<string> {
  const { app } = installation;
  const { path, options } = await signUp(installation);
  const worker = startSignUps(app.ctx);
  await app.call(path, options);
  await app.clock.advance(200);
  await settle();
  worker.cancel();
  const [request] = listRequests(app.ctx.db, {});
  if (!request) throw new Error("nothing was stored");
  return linkPath(app.ctx, purpose, request);
}

/** Subscribes an address and returns the path of a link in its mails. */
async function subscribed(
  installation: ActionInstallation,
  purpose: "manage" | "unsubscribe",
): Promise<string> {
  const { app } = installation;
  await app.call(await requested(installation, "confirm"), { method: "POST", form: {} });
  const [subscriber] = listSubscribers(app.ctx.db, {});
  if (!subscriber) throw new Error("there is no subscriber");
  return linkPath(app.ctx, purpose, subscriber);
}

/** Forms of people who subscribe to a page by e-mail. */
export const VISITOR_VERBS: Verbs = {
  "POST /status/:slug/subscribe": { leaves: [], because: OWN, prepare: signUp },
  "POST /mail/confirm/:token": {
    leaves: [],
    because: OWN,
    prepare: async (installation) => ({
      path: await requested(installation, "confirm"),
      options: { form: {} },
    }),
  },
  "POST /mail/decline/:token": {
    leaves: [],
    because: OWN,
    prepare: async (installation) => ({
      path: await requested(installation, "decline"),
      options: { form: {} },
    }),
  },
  "POST /mail/manage/:token": {
    leaves: [],
    because: OWN,
    prepare: async (installation) => ({
      path: await subscribed(installation, "manage"),
      options: { form: { action: "unsubscribe" } },
    }),
  },
  "POST /mail/unsubscribe/:token": {
    leaves: [],
    because: OWN,
    prepare: async (installation) => ({
      path: await subscribed(installation, "unsubscribe"),
      options: { form: { action: "unsubscribe" } },
    }),
  },
};
