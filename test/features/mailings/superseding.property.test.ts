import { expect, test } from "bun:test";
import fc from "fast-check";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createMailingSite } from "../../support/mailing-site";

type Step =
  | { kind: "update"; status: "identified" | "monitoring" | "resolved" | "investigating" }
  | { kind: "advance"; seconds: number }
  | { kind: "send" };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("update" as const),
    status: fc.constantFrom(
      "identified" as const,
      "monitoring" as const,
      "resolved" as const,
      "investigating" as const,
    ),
  }),
  fc.record({ kind: fc.constant("advance" as const), seconds: fc.integer({ min: 1, max: 150 }) }),
  fc.constant({ kind: "send" as const }),
);

test("every text reaches a subscriber once, no older mail follows a newer one, and updates keep their distance", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 14 }), async (steps) => {
      await using site = await createMailingSite();
      await site.subscribe("anna");
      const id = await site.open({ body: "text-0." });
      const written = ["text-0."];
      const sent: string[][] = [];

      async function send(): Promise<void> {
        // Of several mails about the incident, only the newest waits.
        const waiting = site.mails().filter(({ status }) => status === "pending");
        expect(waiting.length).toBeLessThanOrEqual(1);
        for (const { text } of await site.send()) {
          const content = typeof text === "string" ? text : text.quotedPrintable;
          sent.push(content.match(/text-\d+\./g) ?? []);
        }
      }

      for (const step of steps) {
        if (step.kind === "advance") await site.advance(step.seconds * SECOND_MS);
        else if (step.kind === "send") await send();
        else {
          const body = `text-${written.length}.`;
          written.push(body);
          await site.update(id, { body, status: step.status });
        }
      }
      await site.advance(3 * MINUTE_MS);
      await send();

      expect(sent.flat().toSorted()).toEqual(written.toSorted());
      // The newest text is first in each mail, and the others follow in order.
      const newest = sent.map(([first = ""]) => written.indexOf(first));
      expect(newest).toEqual(newest.toSorted((a, b) => a - b));
      for (const [first, ...earlier] of sent) {
        const places = earlier.map((text) => written.indexOf(text));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
        expect(Math.max(-1, ...places)).toBeLessThan(written.indexOf(first ?? ""));
      }
      const begun = site.mailings().filter(({ cursor }) => cursor >= 0);
      for (const [index, mailing] of begun.entries()) {
        const before = begun[index - 1];
        if (before && mailing.kind === "incident.updated") {
          expect(mailing.beginAt - before.beginAt).toBeGreaterThanOrEqual(120 * SECOND_MS);
        }
      }
    }),
    { numRuns: 40 },
  );
});
