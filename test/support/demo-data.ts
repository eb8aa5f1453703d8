import { revokeKey, rotateKey } from "../../src/features/keys";
import { issuePasswordLink } from "../../src/features/users";
import { CLI_ACTOR } from "../../src/domain/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/kernel/time";
import type { TestApp } from "./app";
import { createTestClock, type TestClock } from "./clock";
import { live } from "./demo-data-entry";
import { incidentEntries } from "./demo-data-incidents";
import { type DemoKey, makeKeys, useKeys } from "./demo-data-keys";
import { maintenanceDiary } from "./demo-data-maintenance";
import { addMonitors } from "./demo-data-monitors";
import { addPages } from "./demo-data-pages";
import {
  addPeople,
  asActor,
  type People,
  type Sessions,
  signEverybodyIn,
} from "./demo-data-people";
import { incidentStories } from "./demo-data-stories";
import { deliverAll, type DemoWebhooks, webhookEntries } from "./demo-data-webhooks";

/** The moment at which a furnished installation is looked at. */
const NOW = Date.parse("2026-03-10T14:32:20.000Z");
const FIRST_DAY = 210;

/** Objects of the demo data by name. */
export interface DemoData {
  /** Tokens of sessions, by role. */
  sessions: Sessions;
  /** Ids by name. */
  keys: Record<string, string>;
  users: Record<"maya" | "jonas" | "elif" | "priya", string>;
  /** Ids by what they are for, and of a delivery that was tried twice. */
  webhooks: DemoWebhooks;
  /** Tokens of an invitation that waits, and of a link for a new password. */
  links: { invitation: string; newPassword: string };
}

/** The clock that an installation to be furnished begins with. */
export function demoClock(): TestClock {
  return createTestClock(NOW - FIRST_DAY * DAY_MS);
}

/**
 * Makes an empty installation what a small team's is after half a year: four users, one more who was
 * disabled and one who is invited; two pages, not all well, with what went wrong, what was planned and what
 * is watched; nine keys and the last day's use of them; four webhooks, not all of which get through.
 * Every run makes the same, but for what is random. Needs a `demoClock`, which then stands still.
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
    ...incidentStories(pages, { noor, jonas, bot }).flatMap((story) =>
      incidentEntries(installation, story),
    ),
    ...maintenanceDiary(installation, NOW, pages, jonas),
    ...webhookEntries(installation, pages, jonas),
  ]);
  await addMonitors(installation, NOW, [pages.shop, pages.inside], jonas);
  const webhooks = await deliverAll(installation, NOW, pages);
  const sessions = await signEverybodyIn(installation, NOW);
  clock.setWallClock(NOW - 7 * MINUTE_MS);
  const links = await ctx.db.write((tx) => ({
    invitation: issuePasswordLink(ctx, tx, people.priya.id, asActor(people.maya)).token,
    newPassword: issuePasswordLink(ctx, tx, people.jonas.id, asActor(people.maya)).token,
  }));
  clock.setWallClock(NOW);
  await useKeys(installation, NOW, [...keys.values(), oldValue]);
  return {
    sessions,
    webhooks,
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

/** Revokes one key and rotates another, whose old value, the answer, somebody still uses. */
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
