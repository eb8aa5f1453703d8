import type { Figure } from "../support/figure";
import { createStormSite, type StormSite, untilQuiet } from "../support/storm-site";
import type { Workspace } from "../support/workspace";

const MONITORS = 30;
const PHASES = ["down", "up", "down", "up"] as const;
const MESSAGES_REACH = 3;
const MAILS_REACH = 2;
/** More than the time after which a waiting update or group is sent. */
const QUIET_MS = 75_000;
const KEY_INCIDENTS = 200;
const KEY_QUIET_MS = 5_000;
const AT_ONCE_MS = 2_000;
const HELD_MS = 15_000;
const LOOK_EVERY_MS = 20;

/**
 * Measures what two outages of thirty monitors of two components cause: incidents, chat messages and mails. Then
 * measures the mail of an incident that a person opens, also after 200 incidents by a key.
 */
export async function measureStorm(workspace: Workspace): Promise<Figure[]> {
  await using site = await createStormSite(workspace);
  const chat = await site.endpoint({ format: "slack" });
  const program = await site.endpoint({
    format: "standard",
    events: ["monitor.down", "monitor.up"],
  });
  await site.watch({ count: MONITORS, componentIds: site.componentIds.slice(0, 2) });
  const messages: number[] = [];
  const mails: number[] = [];
  for (const [index, state] of PHASES.entries()) {
    const before = { messages: chat.messages.length, mails: (await site.mails()).count };
    await site.turn(state);
    const total = async () => chat.messages.length + (await site.mails()).count;
    await untilQuiet(total, QUIET_MS);
    messages.push(chat.messages.length - before.messages);
    mails.push((await site.mails()).count - before.mails);
    const events = program.messages.length;
    if (events !== MONITORS * (index + 1)) {
      throw new Error(`${events} events of monitors arrived after ${index + 1} phases`);
    }
  }
  const incidents = await site.incidentCount();
  const what = `${MONITORS} monitors of two components fail, recover, fail and recover:`;
  return [
    {
      what: `${what} incidents`,
      target: "1",
      measured: String(incidents),
      isReached: incidents === 1,
      numbers: { incidents },
    },
    {
      what: `${what} chat messages in each phase`,
      target: String(MESSAGES_REACH),
      measured: messages.join(" · "),
      isReached: Math.max(...messages) <= MESSAGES_REACH,
      numbers: { messages: Math.max(...messages) },
    },
    {
      what: `${what} mails to a subscriber in each phase`,
      target: String(MAILS_REACH),
      measured: mails.join(" · "),
      isReached: Math.max(...mails) <= MAILS_REACH,
      numbers: { mails: Math.max(...mails) },
    },
    await measurePerson(site, "the mail of a person's incident after these outages"),
    await measureAfterKey(site),
  ];
}

async function measureAfterKey(site: StormSite): Promise<Figure> {
  for (let n = 1; n <= KEY_INCIDENTS; n++) {
    const body = { page: site.slug, name: `Incident ${n}`, body: "We are looking into it." };
    await site.call("POST", "incidents", body);
  }
  await untilQuiet(async () => (await site.mails()).count, KEY_QUIET_MS);
  return measurePerson(site, `the same after ${KEY_INCIDENTS} incidents by a key`);
}

/** Measures the time from the request of a person until the mail to the subscriber. */
async function measurePerson(site: StormSite, what: string): Promise<Figure> {
  const { count } = await site.mails();
  const startedAt = performance.now();
  await site.openAsPerson(what);
  let tookMs: number;
  do {
    await Bun.sleep(LOOK_EVERY_MS);
    tookMs = performance.now() - startedAt;
  } while (tookMs < HELD_MS && (await site.mails()).count === count);
  const isHeld = tookMs >= HELD_MS;
  return {
    what,
    target: `${AT_ONCE_MS / 1_000} s`,
    measured: isHeld ? "held" : `${(tookMs / 1_000).toFixed(2)} s`,
    isReached: tookMs <= AT_ONCE_MS,
    numbers: { seconds: tookMs / 1_000 },
  };
}
