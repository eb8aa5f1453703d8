import { expect } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { SCOPE_NAMES } from "../../src/features/keys/scopes";
import { applyTransition } from "../../src/features/monitors/engine/transitions";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { newEvaluation } from "../../src/features/monitors/rules";
import { logoPath } from "../../src/features/pages/addresses";
import { putPicture } from "../../src/features/pages/logo";
import { makeReportToken } from "../../src/features/mail/reports";
import { setMailSettings } from "../../src/features/mail/settings";
import type { ApiSample } from "./api-commands";
import type { TestApp } from "./app";
import { giveImportedTokens } from "./imported-jobs";
import { listMails } from "./mail-rows";
import { storeSubscriber } from "./mailed-subscriber";
import { createPageAccess, PAGE_PASSWORD } from "./page-access";
import { png } from "./pictures";
import { linkPath, listRequests, RELAY } from "./subscribing";

const EXAMPLE = "01kah2v9w0e0rs6x0h3ye0a1bc";

/** Time of the examples. */
export const SAMPLES_NOW = Date.parse("2026-01-01T12:00:00.000Z");

/** Returns the place of a sample in an order in which no earlier one takes away the object of a later one. */
export function placeOf({ method, path }: ApiSample): number {
  if (method === "GET") return 0;
  if (method === "DELETE") return 3;
  return /\/(cancel|rotate-\w+|updates)$/.test(path) || method === "PATCH" ? 2 : 1;
}

/**
 * Creates the objects that the samples of all operations name. Returns a key with all scopes, and a function that writes
 * their ids into a sample.
 */
export async function createSampleSite(app: TestApp) {
  const { components, page } = await app.page(
    { slug: "acme", name: "Acme", compat: ["uptime-kuma", "gatus"], report: "public" },
    ["API", "Search"],
  );
  const key = await app.keyWith(...SCOPE_NAMES);
  const create = async (path: string, json?: object) => {
    const answer = await app.call(`/api/v1/${path}`, { method: "POST", key, json });
    expect([path, answer.status < 300, answer.text]).toEqual([path, true, answer.text]);
    return answer.body;
  };
  const [group] = (await app.call("/api/v1/status/acme", { key })).body.groups;
  const event = { page: "acme", name: "Trouble", body: "We look into it." };
  const incident = await create("incidents", event);
  const planned = {
    ...event,
    components: [components["API"]],
    scheduled_for: "2026-01-10T02:00:00Z",
    scheduled_until: "2026-01-10T04:00:00Z",
  };
  const [maintenance, running, cancelled] = [
    await create("maintenance", planned),
    await create("maintenance", { ...planned, scheduled_for: "2026-01-01T11:00:00Z" }),
    await create("maintenance", planned),
  ];
  await create(`maintenance/${running.id}/updates`, { status: "in_progress", body: "Begins." });
  const schedule = await create("maintenance-schedules", {
    ...event,
    components: [components["API"]],
    cron: "0 2 * * *",
    duration_minutes: 60,
    time_zone: "UTC",
  });
  const monitor = await create("monitors", {
    type: "http",
    name: "API",
    component_ids: [components["API"]],
    config: { url: "http://127.0.0.1:1/" },
  });
  const push = await create("monitors", { type: "push", name: "Backup", interval_seconds: 60 });
  const down = await create("monitors", { type: "push", name: "Report", interval_seconds: 60 });
  await app.ctx.db.write((tx) => {
    const { row } = getMonitorRecord(tx, down.id);
    const evaluation = newEvaluation("down", app.ctx.clock.now());
    applyTransition(app.ctx, tx, row, { from: "pending", evaluation, message: null });
  });
  await giveImportedTokens(app.ctx, push.id, [
    { kind: "kuma", value: push.token },
    { kind: "healthchecks", value: "6f5a1c9e-3b0d-4c5a-9d55-0f6d2b7d8c11" },
    { kind: "healthchecks", value: "s3cr3t/backup" },
    { kind: "gatus", value: `core_backup\0${push.token}` },
  ]);
  const rules = createPageAccess(app, page.id);
  // The page is public, so the password form and the link redirect to it.
  await rules.password(PAGE_PASSWORD);
  const { token: link } = await rules.link("Partner");
  const tokens: Record<string, string> = {
    ...(await mailTokens(app, page.id)),
    "/status/{slug}/with/{token}": link,
  };
  const webhook = await create("webhooks", {
    url: "https://example.com/hooks/allclear",
    events: ["incident.created"],
  });
  const delivery = await create(`webhooks/${webhook.id}/test`);

  const logo = await app.ctx.db.write((tx) =>
    putPicture(app.ctx, tx, "logo", page.id, { bytes: png(16, 12) }, CLI_ACTOR),
  );
  const { favicon } = await app.ctx.db.write((tx) =>
    putPicture(app.ctx, tx, "favicon", page.id, { bytes: png(16, 16) }, CLI_ACTOR),
  );
  const [{ key: gatusKey }] = (await app.call("/compat/gatus/api/v1/endpoints/statuses")).body;

  /** Names objects of this installation in a sample, as its reader does. */
  function fill({ path, code }: ApiSample): string {
    const updated = path.startsWith("/api/v1/maintenance/") ? maintenance : incident;
    const planOf = path.endsWith("/cancel") ? cancelled : maintenance;
    const token = tokens[path] ?? push.token;
    const ofMonitor = path.endsWith("/rotate-token") ? push : monitor;
    const values: Record<string, string> = {
      [`cmp_${EXAMPLE}`]: components["API"] ?? "",
      [`grp_${EXAMPLE}`]: group.id,
      [`inc_${EXAMPLE}`]: incident.id,
      [`mnt_${EXAMPLE}`]: path.endsWith("/updates") ? running.id : planOf.id,
      [`mon_${EXAMPLE}`]: path.endsWith("/acknowledge") ? down.id : ofMonitor.id,
      [`whk_${EXAMPLE}`]: webhook.id,
      [`upd_${EXAMPLE}`]: updated.updates[0].id,
      DELIVERY_ID: delivery.id,
      "maintenance-schedules/ID": `maintenance-schedules/${schedule.id}`,
      "badge/ID": `badge/${components["API"]}`,
      "logo/FILE": `logo/${logoPath(logo)?.split("/").at(-1)}`,
      "favicon/FILE": `favicon/${favicon}`,
      core_api: gatusKey,
      // Another sample may have changed the version.
      'If-Match: "1"': "If-Match: *",
      [String.raw`"\"1\""`]: '"*"',
      $ALLCLEAR_TOKEN: token,
      'os.environ["ALLCLEAR_TOKEN"]': `"${token}"`,
      "process.env.ALLCLEAR_TOKEN": `"${token}"`,
    };
    return Object.entries(values).reduce((text, [from, to]) => text.replaceAll(from, to), code);
  }

  return { key, fill };
}

/** Sets mail up and returns the tokens of links in mails, by the path of an operation. */
async function mailTokens(app: TestApp, pageId: string): Promise<Record<string, string>> {
  const { ctx } = app;
  ctx.baseUrl = "http://status.test";
  const reports = await ctx.db.write((tx) => {
    setMailSettings(ctx, tx, RELAY, CLI_ACTOR);
    return makeReportToken(ctx, tx, CLI_ACTOR);
  });
  const form = { email: "ann@example.com" };
  expect((await app.call("/status/acme/subscribe", { method: "POST", form })).status).toBe(303);
  const [signUp] = listRequests(ctx.db, {});
  const subscriber = (address: string) =>
    ctx.db.write((tx) => storeSubscriber(ctx, tx, { pageId, address }));
  const key = await app.keyWith("manage:webhooks");
  const json = { url: "mailto:cleo@example.com", format: "email" };
  await app.call("/api/v1/webhooks", { method: "POST", key, json });
  const alert = listMails(ctx.db, {}).find(({ recipient }) => recipient === "cleo@example.com");
  const tokenOf = (purpose: Parameters<typeof linkPath>[1], row: Parameters<typeof linkPath>[2]) =>
    linkPath(ctx, purpose, row).split("/").at(-1) ?? "";
  return {
    "/mail/decline/{token}": tokenOf("decline", { id: signUp?.id ?? "" }),
    "/mail/manage/{token}": tokenOf("manage", await subscriber("dan@example.com")),
    "/mail/unsubscribe/{token}": tokenOf("unsubscribe", await subscriber("eve@example.com")),
    "/mail/alerts/{token}": tokenOf("alerts", { id: alert?.id ?? "" }),
    "/api/v1/mail/bounces/{token}": reports,
    "/api/v1/mail/bounces": reports,
  };
}
