import { revokeKey, rotateKey } from "../../src/features/keys/keys";
import { issuePasswordLink } from "../../src/features/users/invitations";
import { CLI_ACTOR } from "../../src/base/actor";
import { type Entry, incidentEntries } from "../../src/demo/year";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";
import type { TestApp } from "./app";
import { createTestClock, type TestClock } from "./clock";
import { type DemoKey, makeKeys, useKeys } from "./demo-data-keys";
import { addMailings, type DemoMailings } from "./demo-data-mailings";
import { addLocations, type DemoLocations } from "./demo-data-locations";
import { maintenanceDiary } from "./demo-data-maintenance";
import { addMonitors } from "./demo-data-monitors";
import { addPages } from "./demo-data-pages";
import { addTemplates } from "./demo-data-templates";
import {
  addPeople,
  addSecondFactor,
  asActor,
  type People,
  type Sessions,
  signEverybodyIn,
} from "./demo-data-people";
import { incidentStories } from "./demo-data-stories";
import { deliverAll, type DemoWebhooks, webhookEntries } from "./demo-data-webhooks";

/** The time of the screenshots. */
const NOW = Date.parse("2026-03-10T14:32:20.000Z");
const FIRST_DAY = 210;

/** Objects of the demo data by name. */
export interface DemoData {
  /** Session tokens by role. */
  sessions: Sessions;
  /** Ids by name. */
  keys: Record<string, string>;
  users: Record<"maya" | "jonas" | "elif" | "priya", string>;
  /** Ids by purpose, and that of a delivery with two attempts. */
  webhooks: DemoWebhooks;
  /** Ids by purpose. */
  mailings: DemoMailings;
  locations: DemoLocations;
  /** Tokens of a pending invitation and of a password link. */
  links: { invitation: string; newPassword: string };
}

/** Returns the clock that an installation with demo data needs. */
export function demoClock(): TestClock {
  return createTestClock(NOW - FIRST_DAY * DAY_MS);
}

/**
 * Fills an empty installation with half a year of a small team: four active users, one disabled and
 * one invited; two pages with incidents, maintenance and monitors; nine keys with a day of use;
 * four webhooks, some of which fail. Every run creates the same, except random values. Needs a
 * `demoClock`, which then stops.
 */
export async function fillDemoData(installation: TestApp): Promise<DemoData> {
  const { ctx, clock } = installation;
  const people = await addPeople(installation, NOW);
  const keys = await makeKeys(installation, NOW, {
    owner: asActor(people.maya),
    admin: asActor(people.jonas),
    cli: CLI_ACTOR,
  });
  const oldValue = await changeKeys(installation, keys, people);
  const pages = await addPages(installation, NOW, asActor(people.maya));
  const [noor, jonas] = [asActor(people.noor), asActor(people.jonas)];
  const bot = { kind: "key", id: keys.get("On-call bot")?.id ?? "", label: "On-call bot" } as const;
  await live(installation, NOW, [
    ...incidentStories(pages, { noor, jonas, bot }).flatMap((incident) =>
      incidentEntries(installation, incident),
    ),
    ...maintenanceDiary(installation, NOW, pages, jonas),
    ...webhookEntries(installation, pages, jonas),
  ]);
  await addMonitors(installation, NOW, [pages.shop, pages.inside], jonas);
  const locations = await addLocations(installation, NOW, jonas);
  await addTemplates(installation, jonas);
  const webhooks = await deliverAll(installation, NOW, pages);
  const mailings = await addMailings(installation, NOW, pages);
  const sessions = await signEverybodyIn(installation, NOW);
  await addSecondFactor(installation, people.jonas, NOW - 40 * DAY_MS);
  clock.setWallClock(NOW - 7 * MINUTE_MS);
  const links = await ctx.db.write((tx) => ({
    invitation: issuePasswordLink(ctx, tx, people.priya.id, asActor(people.maya)).token,
    newPassword: issuePasswordLink(ctx, tx, people.jonas.id, asActor(people.maya)).token,
  }));
  clock.setWallClock(NOW);
  await useKeys(installation, NOW, [...keys.values(), oldValue]);
  return {
    sessions,
    locations,
    webhooks,
    mailings,
    links,
    keys: Object.fromEntries([...keys].map(([name, { id }]) => [name, id])),
    users: {
      maya: people.maya.id,
      jonas: people.jonas.id,
      elif: people.elif.id,
      priya: people.priya.id,
    },
  };
}

/** Performs all actions, each at its own time. */
async function live({ ctx, clock }: TestApp, now: number, diary: readonly Entry[]): Promise<void> {
  for (const { ago, act } of diary.toSorted((a, b) => b.ago - a.ago)) {
    clock.setWallClock(now - ago);
    // In order, since later actions depend on earlier ones.
    // oxlint-disable-next-line no-await-in-loop
    await ctx.db.write(act);
  }
}

/** Revokes one key and rotates another, whose old value is still in use and is returned. */
async function changeKeys(
  { ctx, clock }: TestApp,
  keys: Map<string, DemoKey>,
  people: People,
): Promise<DemoKey> {
  const [bot, jenkins] = [keys.get("On-call bot"), keys.get("Old Jenkins")];
  if (!bot || !jenkins) throw new Error("two keys are to be there");
  clock.setWallClock(NOW - 5 * DAY_MS);
  await ctx.db.write((tx) => revokeKey(ctx, tx, jenkins.id, asActor(people.jonas)));
  clock.setWallClock(NOW - 20 * HOUR_MS);
  const oldValue = { ...bot, use: { from: "10.0.9.5", lastAgo: 2 * HOUR_MS } };
  await ctx.db.write((tx) => {
    bot.value = rotateKey(ctx, tx, bot.id, "24h", asActor(people.maya)).value;
  });
  return oldValue;
}
