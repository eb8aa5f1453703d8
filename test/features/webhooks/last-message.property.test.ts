import { expect, test } from "bun:test";
import fc from "fast-check";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import {
  createGatheringSite,
  type GatheringSite,
  monitorEvent,
} from "../../support/gathering-site";
import { updateWebhook } from "../../support/examined";

const NAMES = ["a", "b", "c"];
const STATES = ["down", "up", "degraded"] as const;
type State = (typeof STATES)[number];

/** A monitor that enters a state, or a change of endpoint or clock, after some seconds. */
const step = fc.record({
  seconds: fc.constantFrom(0, 1, 4, 6, 20, 31, 70, 400),
  change: fc.oneof(
    { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...STATES)) },
    { weight: 2, arbitrary: fc.constantFrom("restart", "set_back", "regroup") },
  ),
});

/** Returns the state of each monitor that a message names. */
function saidBy(title: string, lines: readonly string[]): [name: string, state: State][] {
  const alone = /^Monitor (down|up|degraded|was down)\b.*: (\w)$/.exec(title);
  if (alone) return [[alone[2] ?? "", alone[1] === "was down" ? "up" : (alone[1] as State)]];
  return lines.flatMap((line): [string, State][] => {
    const [, name, text = ""] = /^- \*\*(\w)\*\* (.*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const state = text.includes("is degraded")
      ? "degraded"
      : text.startsWith("is down")
        ? "down"
        : "up";
    return [[name, state]];
  });
}

/** Returns the state that each monitor has by the messages that were accepted. */
function statesShown(chat: GatheringSite, accepted: readonly boolean[]): Map<string, State> {
  const states = new Map<string, State>();
  for (const [index, { title, lines }] of chat.seen().entries()) {
    if (accepted[index] !== true) continue;
    for (const [name, state] of saidBy(title, lines)) states.set(name, state);
  }
  return states;
}

test("the last message that an endpoint accepted about a monitor says its state, or a newer one is pending", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      // A lost answer belongs to a message that the receiver read.
      fc.array(fc.constantFrom("ok", "refused", "lost"), { minLength: 20, maxLength: 20 }),
      fc.constantFrom(0, 30, 60),
      async (steps, outcomes, groupSecondsAtFirst) => {
        let groupSeconds = groupSecondsAtFirst;
        const accepted: boolean[] = [];
        await using chat = await createGatheringSite(
          { group_seconds: groupSeconds },
          (_message, count) => {
            const outcome = outcomes[count - 1] ?? "ok";
            accepted.push(outcome !== "refused");
            return outcome === "ok" ? 200 : 500;
          },
        );
        const { site } = chat;
        const states = new Map<string, State>();
        const hasPending = (name: string) =>
          site.deliveries().some(({ status, monitorId }) => {
            return status === "pending" && monitorId === `mon_${name}`;
          });
        const check = () => {
          const shown = statesShown(chat, accepted);
          for (const [name, state] of states) {
            if (!hasPending(name)) expect(`${name} ${shown.get(name)}`).toBe(`${name} ${state}`);
          }
        };
        for (const { seconds, change } of steps) {
          await site.pass(seconds * SECOND_MS);
          const { clock, ctx } = site.app;
          if (change === "restart") await site.restart();
          else if (change === "set_back") clock.setWallClock(clock.now() - 10 * MINUTE_MS);
          else if (change === "regroup") {
            groupSeconds = groupSeconds === 0 ? 60 : 0;
            const input = { group_seconds: groupSeconds };
            await ctx.db.write((tx) => updateWebhook(ctx, tx, chat.webhookId, input, CLI_ACTOR));
          } else {
            const [name, state] = change;
            if (states.get(name) === state) continue;
            states.set(name, state);
            await chat.record([monitorEvent(state, name, site.app.clock.now())]);
          }
          check();
        }
        // Longer than all retries take.
        await site.pass(100 * HOUR_MS);
        expect(NAMES.filter(hasPending)).toEqual([]);
        check();
      },
    ),
    { numRuns: 25 },
  );
});
