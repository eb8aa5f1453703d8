import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Actor, CLI_ACTOR, SYSTEM_ACTOR } from "../../../src/base/actor";
import { releaseMailing } from "../../../src/features/mailings/mailings";
import { MAILINGS_PER_DAY } from "../../../src/features/mailings/rules";
import { DAY_MS, HOUR_MS } from "../../../src/base/time";
import { createMailingSite } from "../../support/mailing-site";
import { createIncident } from "../../support/examined";

const KEY_ACTOR: Actor = { kind: "key", id: "key_1", label: "Deploys" };
const ACTORS = { monitor: SYSTEM_ACTOR, key: KEY_ACTOR, person: CLI_ACTOR } as const;

const author = fc.constantFrom("monitor", "key", "person");
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("write" as const), author }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("pass"), hours: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("release" as const), author }) },
);

test("a mailing is held if and only if its author has used up the limit in the last 24 hours", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await using site = await createMailingSite();
      await site.subscribe("anna");
      await site.stopWorker();
      const { clock, ctx } = site.app;
      /** Times of the mailings of each author that go out without an admin or were released. */
      const out: Record<keyof typeof ACTORS, number[]> = { monitor: [], key: [], person: [] };
      const held: { id: string; author: keyof typeof ACTORS; at: number }[] = [];
      for (const each of ["monitor", "key", "person"] as const) {
        const used = MAILINGS_PER_DAY[each] - 2;
        await site.count(each, used);
        out[each] = Array.from({ length: used }, () => clock.now());
      }
      for (const each of steps) {
        const now = clock.now();
        if ("hours" in each) clock.setWallClock(now + each.hours * HOUR_MS);
        else if (each.kind === "release") {
          const index = held.findIndex(
            (one) => one.author === each.author && now < one.at + DAY_MS,
          );
          const [released] = index < 0 ? [] : held.splice(index, 1);
          if (!released) continue;
          await site.control((_, tx) => releaseMailing(ctx, tx, released.id, CLI_ACTOR));
          out[each.author].push(released.at);
        } else {
          await ctx.db.write((tx) => {
            const input = { page: "acme", name: "Errors", body: "We look into it." };
            createIncident(ctx, tx, input, "api", ACTORS[each.author]);
          });
          const recent = out[each.author].filter((at) => at > now - DAY_MS).length;
          const isHeld = recent >= MAILINGS_PER_DAY[each.author];
          const mailing = site.mailings().at(-1);
          expect(mailing).toMatchObject({
            author: each.author,
            state: isHeld ? "held" : "expanding",
          });
          if (isHeld) held.push({ id: mailing?.id ?? "", author: each.author, at: now });
          else out[each.author].push(now);
        }
      }
    }),
    { numRuns: 30 },
  );
});
