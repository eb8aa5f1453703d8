import type { Browser } from "playwright-core";
import { startSession } from "../../src/features/auth/sessions";
import type { LabelReport } from "../../src/features/docker-labels/docker-labels";
import { setPublicAddress } from "../../src/features/settings/settings";
import { createUser } from "../../src/features/users/users";
import { issueSetUpLink } from "../../src/features/users/invitations";
import { CLI_ACTOR } from "../../src/base/actor";
import type { TestApp } from "./app";
import { type BrowserSite, openSite } from "./browser-site";
import { fillDemoData, type DemoData, demoClock } from "./demo-data";
import { PUBLIC_ADDRESS } from "./demo-data-people";
import { createStorm, type Storm } from "./storm-site";
import { createTestFleet, type TestFleet } from "./test-fleet";

/**
 * Installations for screenshots: without a user, with an owner only, with demo data, with twenty monitors that fail
 * together and four that have, and with a failing database.
 */
export interface DemoSites extends AsyncDisposable {
  bare: BrowserSite & { setUpToken: string };
  empty: BrowserSite & { session: string };
  demoData: BrowserSite & DemoData;
  storm: BrowserSite & { session: string; viewer: string; open: Storm; over: Storm };
  failing: BrowserSite & { session: string; fleet: TestFleet; labels: TestLabels };
}

/** Outcome of labels of containers that a test sets; undefined without a Docker host. */
interface TestLabels {
  report: LabelReport | undefined;
}

/**
 * Opens the installations with stopped clocks. `prepare` is called with each before it is filled.
 */
export async function openDemoSites(
  browser: Browser,
  prepare: (site: BrowserSite) => void = () => {},
): Promise<DemoSites> {
  const fleet = createTestFleet();
  const labels: TestLabels = { report: undefined };
  const [bare, empty, demoData, storm, failing] = await Promise.all(
    [undefined, undefined, undefined, undefined, fleet].map((own) =>
      openSite(browser, { clock: demoClock(), fleet: own, labels: own && (() => labels.report) }),
    ),
  );
  if (!bare || !empty || !demoData || !storm || !failing) throw new Error("five were opened");
  const sites = [bare, empty, demoData, storm, failing];
  for (const site of sites) prepare(site);
  return {
    bare: { ...bare, setUpToken: await issueToken(bare.app) },
    empty: { ...empty, session: await enterAlone(empty.app) },
    demoData: { ...demoData, ...(await fillDemoData(demoData.app)) },
    storm: { ...storm, ...(await fillStorm(storm.app)) },
    failing: { ...failing, session: await enterAlone(failing.app), fleet, labels },
    async [Symbol.asyncDispose]() {
      await Promise.all(sites.map((site) => site[Symbol.asyncDispose]()));
    },
  };
}

async function issueToken({ ctx }: TestApp): Promise<string> {
  return (await ctx.db.write((tx) => issueSetUpLink(ctx, tx))) ?? "";
}

/** Starts a session of the first and only user. */
async function enterAlone({ ctx }: TestApp): Promise<string> {
  const { id } = await ctx.db.write((tx) => {
    setPublicAddress(ctx, tx, PUBLIC_ADDRESS, CLI_ACTOR);
    const owner = { email: "maya@northwind.example", name: "Maya Lindqvist" };
    return createUser(ctx, tx, owner, CLI_ACTOR);
  });
  // In a second transaction, since a session depends on the scheme of the stored address.
  return ctx.db.write((tx) => startSession(ctx, tx, id, { ip: "127.0.0.1", userAgent: "" }));
}

/** Lets monitors of two pages fail together. Those of the second page have recovered, but for one that was paused. */
async function fillStorm(app: TestApp) {
  const session = await enterAlone(app);
  const viewer = await app.signedIn("viewer");
  const over = await createStorm(app, { count: 4, slug: "over" });
  const [paused = "", ...others] = over.monitors;
  await over.pause(paused);
  for (const id of others) {
    // In order, as the clock goes on.
    // oxlint-disable-next-line no-await-in-loop
    await over.enter(id, "up");
  }
  return { session, viewer, over, open: await createStorm(app, { count: 20 }) };
}
