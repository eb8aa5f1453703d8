import { describe, expect, test } from "bun:test";
import type { Ctx } from "../../../src/context";
import type { Tx } from "../../../src/db/statements";
import { touchPage } from "../../../src/features/pages/pages";
import { CLI_ACTOR } from "../../../src/base/actor";
import { openForCommand } from "../../../src/installation";
import { startCdn } from "../../../src/fleet/cdn";
import { holdForms } from "../../../src/fleet/fleet";
import { startServer } from "../../../src/server";
import { createTestApp, testConfig } from "../../support/app";
import { settle } from "../../support/clock";
import { createTestEgress } from "../../support/egress";
import { type Receiver, startReceiver } from "../../support/receiver";
import { temporaryFolder } from "../../support/temporary-folder";
import { createPage, updatePage } from "../../support/examined";
import { until } from "../../support/until";

const CDN = "203.0.113.50";
const MODE = { ALLCLEAR_CDN: "15", ALLCLEAR_TRUSTED_PROXIES: CDN };

/** An application in CDN mode, with the alarms that hold. */
async function createCdnSite(env: Record<string, string> = {}) {
  const app = await createTestApp({ env: { ...MODE, ...env } });
  const { egress } = await createTestEgress({}, { clock: app.clock });
  const alarms = new Map<string, string>();
  const cdn = startCdn(app.ctx, {
    egress,
    addresses: app.app.addresses,
    alarms: {
      raise: (kind, detail) => void alarms.set(kind, detail),
      clear: (kind) => void alarms.delete(kind),
      list: () => [],
      stop: async () => {},
    },
  });
  const visit = async (from: string, headers: Record<string, string> = {}) => {
    const request = new Request("http://status.test/status/acme", { headers });
    return (await app.app.handle(request, () => from)).status;
  };
  return { app, alarms, cdn, visit, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

describe("a forwarding header in CDN mode", () => {
  test.each([
    ["x-forwarded-for", "198.51.100.7"],
    ["forwarded", "for=198.51.100.7"],
  ])("%s from a peer that is not trusted raises an alarm with its address", async (name, value) => {
    await using site = await createCdnSite();
    const { app, alarms, visit } = site;
    await app.page();
    expect(await visit("198.51.100.99", { [name]: value })).toBe(200);
    await app.clock.advance(5_000);
    expect([...alarms.keys()]).toEqual(["untrusted_proxy"]);
    expect(alarms.get("untrusted_proxy")).toContain("198.51.100.99");
    expect(app.logged.filter(({ msg }) => msg.includes("TRUSTED_PROXIES"))).toEqual([]);
    await app.clock.advance(9 * 60_000);
    expect(alarms.size).toBe(1);
    await app.clock.advance(60_000);
    expect(alarms.size).toBe(0);
  });

  test("a trusted peer, and a client without such a header, raise none", async () => {
    await using site = await createCdnSite();
    const { app, alarms, visit } = site;
    await app.page();
    await visit(CDN, { "x-forwarded-for": "198.51.100.7" });
    await visit("198.51.100.99");
    await app.clock.advance(60_000);
    expect(alarms.size).toBe(0);
  });

  test("visitors behind a trusted CDN have a rate limit each", async () => {
    await using site = await createCdnSite({ ALLCLEAR_PUBLIC_RATE_LIMIT: "1" });
    const { app, visit } = site;
    await app.page();
    const answers = [];
    for (const client of ["198.51.100.1", "198.51.100.2", "198.51.100.1"]) {
      answers.push(await visit(CDN, { "x-forwarded-for": client }));
    }
    expect(answers).toEqual([200, 200, 429]);
  });
});

/** A CDN mode with a purge address that has got its first purge, and a page. */
async function createPurgedSite(receiver: Receiver) {
  const site = await createCdnSite({ ALLCLEAR_CDN: "600", ALLCLEAR_PURGE_URL: receiver.url });
  const { app, cdn } = site;
  const { page } = await app.page();
  await app.clock.advance(100);
  await until(() => cdn.state().purgedAt !== undefined);
  const hold = holdForms([cdn]);
  /** Changes the page as a form of the dashboard. Returns a function that is true once the form is answered. */
  function submit(input: Parameters<typeof updatePage>[3]) {
    const answer = app.ctx.db
      .write((tx) => updatePage(app.ctx, tx, page.id, input, CLI_ACTOR))
      .then(() => new Response());
    let isAnswered = false;
    const request = new Request("http://status.test/admin/pages/x/access", { method: "POST" });
    void Promise.resolve(hold(request, answer)).then(() => (isAnswered = true));
    return () => isAnswered;
  }
  return { ...site, page, submit };
}

describe("a form that makes a page private", () => {
  test("is answered once the CDN is purged, and a form that does not is answered at once", async () => {
    await using receiver = startReceiver();
    await using site = await createPurgedSite(receiver);
    const { app } = site;
    const isRenamed = site.submit({ name: "Renamed" });
    await settle();
    expect(isRenamed()).toBe(true);
    const isPrivate = site.submit({ visibility: "private" });
    await app.clock.advance(100);
    expect([isPrivate(), receiver.received.length]).toEqual([false, 1]);
    await app.clock.advance(1_000);
    await until(isPrivate);
    expect(receiver.received.map(({ headers }) => headers["surrogate-key"])).toEqual([
      "all",
      "all",
    ]);
    const isPublic = site.submit({ visibility: "public" });
    await settle();
    expect(isPublic()).toBe(true);
  });

  test("is answered after ten seconds if the purge fails, and an alarm says so", async () => {
    await using receiver = startReceiver((_, count) => (count === 1 ? 200 : 503));
    await using site = await createPurgedSite(receiver);
    const { app, alarms, cdn } = site;
    const isPrivate = site.submit({ visibility: "private" });
    await settle();
    await app.clock.advance(2_000);
    await until(() => cdn.state().error !== undefined);
    await app.clock.advance(2_000);
    await until(() => alarms.has("purge_failing"));
    expect(isPrivate()).toBe(false);
    await app.clock.advance(6_000);
    await until(isPrivate);
    // While the purge goes on failing, other forms are answered at once.
    const isRenamed = site.submit({ name: "Renamed" });
    await settle();
    expect(isRenamed()).toBe(true);
  });
});

test("the state names the time and the host of the purge address, without its path", async () => {
  await using without = await createCdnSite();
  expect(without.cdn.state()).toEqual({ seconds: 15 });
  await using receiver = startReceiver();
  await using site = await createCdnSite({
    ALLCLEAR_CDN: "600",
    ALLCLEAR_PURGE_URL: `${receiver.url}?key=kept-secret`,
  });
  const purgeHost = new URL(receiver.url).host;
  expect(site.cdn.state()).toEqual({
    seconds: 600,
    purgeHost,
    purgedAt: undefined,
    error: undefined,
  });
});

/** Runs a change as a command does. */
async function asCommand<T>(
  env: Record<string, string>,
  work: (ctx: Ctx, tx: Tx) => T,
): Promise<T> {
  const { ctx, close } = openForCommand(testConfig(env), "page", { canCreate: true });
  try {
    return await ctx.db.write((tx) => work(ctx, tx));
  } finally {
    close();
  }
}

test("a server purges all answers at its start, and the page that a command changes meanwhile", async () => {
  using folder = temporaryFolder();
  await using receiver = startReceiver();
  const env = {
    ALLCLEAR_DATA_DIR: folder.path,
    ALLCLEAR_LISTEN: "127.0.0.1:0",
    ALLCLEAR_LOG_LEVEL: "silent",
    ALLCLEAR_CDN: "600",
    ALLCLEAR_PURGE_URL: receiver.url,
    ALLCLEAR_PURGE_HEADER: "Authorization: Bearer kept-secret",
  };
  const page = await asCommand(env, (ctx, tx) =>
    createPage(ctx, tx, { slug: "acme", name: "Acme" }, CLI_ACTOR),
  );
  const server = await startServer(testConfig(env));
  await receiver.until(1);
  const [first] = receiver.received;
  expect([first?.headers["surrogate-key"], first?.headers["authorization"]]).toEqual([
    "all",
    "Bearer kept-secret",
  ]);
  await asCommand(env, (ctx, tx) => touchPage(ctx, tx, page.id));
  const isPurged = () =>
    receiver.received.some(({ headers }) => headers["surrogate-key"] === `page-${page.id}`);
  while (!isPurged()) await receiver.until(receiver.received.length + 1);
  await server.stop();
});
