import type { Browser } from "playwright-core";
import { startSession } from "../../src/features/auth";
import { setPublicAddress } from "../../src/features/settings";
import { createUser, issueSetUpLink } from "../../src/features/users";
import { CLI_ACTOR } from "../../src/domain/actor";
import type { TestApp } from "./app";
import { type BrowserSite, openSite } from "./browser-site";
import { fillDemoData, type DemoData, demoClock } from "./demo-data";
import { PUBLIC_ADDRESS } from "./demo-data-people";

/**
 * Installations to look at: without a user, with an owner and nothing else, one in use, and one whose
 * database fails as each screen of it says.
 */
export interface DemoSites extends AsyncDisposable {
  bare: BrowserSite & { setUpToken: string };
  empty: BrowserSite & { session: string };
  demoData: BrowserSite & DemoData;
  failing: BrowserSite & { session: string };
}

/** Their clocks stand still. `prepare` is called with each before anything is made in it. */
export async function openDemoSites(
  browser: Browser,
  prepare: (site: BrowserSite) => void = () => {},
): Promise<DemoSites> {
  const [bare, empty, demoData, failing] = await Promise.all(
    Array.from({ length: 4 }, () => openSite(browser, { clock: demoClock() })),
  );
  if (!bare || !empty || !demoData || !failing) throw new Error("four were opened");
  const sites = [bare, empty, demoData, failing];
  for (const site of sites) prepare(site);
  return {
    bare: { ...bare, setUpToken: await issueToken(bare.app) },
    empty: { ...empty, session: await enterAlone(empty.app) },
    demoData: { ...demoData, ...(await fillDemoData(demoData.app)) },
    failing: { ...failing, session: await enterAlone(failing.app) },
    async [Symbol.asyncDispose]() {
      await Promise.all(sites.map((site) => site[Symbol.asyncDispose]()));
    },
  };
}

async function issueToken({ ctx }: TestApp): Promise<string> {
  return (await ctx.db.write((tx) => issueSetUpLink(ctx, tx))) ?? "";
}

/** A session of the first user, who is all that there is. */
async function enterAlone({ ctx }: TestApp): Promise<string> {
  const { id } = await ctx.db.write((tx) => {
    setPublicAddress(ctx, tx, PUBLIC_ADDRESS, CLI_ACTOR);
    const owner = { email: "maya@northwind.example", name: "Maya Lindqvist" };
    return createUser(ctx, tx, owner, CLI_ACTOR);
  });
  // Afterwards: a session is for the scheme of the address that is in force when it begins.
  return ctx.db.write((tx) => startSession(ctx, tx, id, { ip: "127.0.0.1", userAgent: "" }));
}
