import type { Browser } from "playwright-core";
import { startSession } from "../../src/features/auth";
import { setPublicAddress } from "../../src/features/settings";
import { createUser, issueSetUpLink } from "../../src/features/users";
import { CLI_ACTOR } from "../../src/kernel/actor";
import type { TestApp } from "./app";
import { type BrowserSite, openSite } from "./browser-site";
import { furnish, type Furnished, furnishingClock } from "./furnished";
import { PUBLIC_ADDRESS } from "./furnished-people";

/** Three installations to look at: without a user, with an owner and nothing else, and one in use. */
export interface Houses extends AsyncDisposable {
  bare: BrowserSite & { setUpToken: string };
  empty: BrowserSite & { session: string };
  furnished: BrowserSite & Furnished;
}

/** Their clocks stand still. `prepare` is called with each before anything is made in it. */
export async function openHouses(
  browser: Browser,
  prepare: (site: BrowserSite) => void = () => {},
): Promise<Houses> {
  const [bare, empty, furnished] = await Promise.all(
    Array.from({ length: 3 }, () => openSite(browser, { clock: furnishingClock() })),
  );
  if (!bare || !empty || !furnished) throw new Error("three were opened");
  for (const site of [bare, empty, furnished]) prepare(site);
  return {
    bare: { ...bare, setUpToken: await issueToken(bare.app) },
    empty: { ...empty, session: await enterAlone(empty.app) },
    furnished: { ...furnished, ...(await furnish(furnished.app)) },
    async [Symbol.asyncDispose]() {
      await Promise.all([bare, empty, furnished].map((site) => site[Symbol.asyncDispose]()));
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
