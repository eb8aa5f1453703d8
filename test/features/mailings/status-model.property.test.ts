import { expect, test } from "bun:test";
import fc from "fast-check";
import { NAMED_STATUSES, type NamedStatus } from "../../../src/base/status";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { capitalised, spaced } from "../../../src/base/text";
import { createMailingSite, type MailingSite } from "../../support/mailing-site";

const WAIT_MS = 2 * MINUTE_MS;
const MERGE_MS = 15 * MINUTE_MS;
const RUNS = 40;
const component = fc.constantFrom("API", "Search");
const outage = fc.constantFrom(...NAMED_STATUSES.slice(1));
const which = fc.nat({ max: 2 });

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      component,
      status: fc.constantFrom(...NAMED_STATUSES),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("open" as const), component, status: outage }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("name" as const), which, component, status: outage }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("resolve" as const), which }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      seconds: fc.oneof(fc.integer({ min: 1, max: 150 }), fc.integer({ min: 1, max: 1_000 })),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Predicts the mails about statuses. */
class StatusModel {
  readonly #manual = new Map<string, NamedStatus>();
  /** Statuses of components by open incident. */
  readonly #incidents = new Map<string, Map<string, NamedStatus>>();
  /** Changes that are not mailed yet. */
  readonly #waiting = new Map<string, { before: NamedStatus; dueAt: number }>();
  readonly #mailedAt = new Map<string, number>();

  get open(): string[] {
    return [...this.#incidents.keys()];
  }

  set(name: string, status: NamedStatus, now: number): void {
    const before = this.#statusOf(name);
    this.#manual.set(name, status);
    if (this.#statusOf(name) === before) return;
    const waiting = this.#waiting.get(name) ?? { before, dueAt: 0 };
    const merged = (this.#mailedAt.get(name) ?? Number.NEGATIVE_INFINITY) + MERGE_MS;
    waiting.dueAt = Math.max(waiting.dueAt, now + WAIT_MS, merged);
    this.#waiting.set(name, waiting);
  }

  /** An event of a published incident that names a component replaces mails about its status. */
  name(id: string, name: string, status: NamedStatus): void {
    const named = this.#incidents.get(id) ?? new Map<string, NamedStatus>();
    named.set(name, status);
    this.#incidents.set(id, named);
    for (const one of named.keys()) this.#waiting.delete(one);
  }

  resolve(id: string): void {
    for (const one of this.#incidents.get(id)?.keys() ?? []) this.#waiting.delete(one);
    this.#incidents.delete(id);
  }

  nextTime(): number {
    return Math.min(...[...this.#waiting.values()].map(({ dueAt }) => dueAt));
  }

  /** Returns the mails that are due: the component, its status and the one before. */
  run(now: number): string[] {
    return [...this.#waiting].flatMap(([name, { before, dueAt }]) => {
      if (dueAt > now) return [];
      this.#waiting.delete(name);
      const status = this.#statusOf(name);
      if (status === before) return [];
      this.#mailedAt.set(name, now);
      return [`${name}: ${inWords(status)}, before: ${inWords(before)}`];
    });
  }

  #statusOf(name: string): NamedStatus {
    const all = [...this.#incidents.values()].flatMap((named) => named.get(name) ?? []);
    all.push(this.#manual.get(name) ?? "operational");
    const worst = Math.max(...all.map((status) => NAMED_STATUSES.indexOf(status)));
    return NAMED_STATUSES[worst] ?? "operational";
  }
}

function inWords(status: NamedStatus): string {
  return capitalised(spaced(status));
}

async function take(site: MailingSite, model: StatusModel, next: Action): Promise<void> {
  const now = site.app.clock.now();
  const named = (name: string, status: NamedStatus) => ({ [site.ids[name] ?? ""]: status });
  const incident = "which" in next ? model.open[next.which] : undefined;
  if (next.do === "set") {
    const { component: name, status } = next;
    await site.call(`components/${site.ids[name]}`, { status }, "PATCH");
    model.set(name, status, now);
  } else if (next.do === "open") {
    const { component: name, status } = next;
    model.name(await site.open({ components: named(name, status) }), name, status);
  } else if (next.do === "name" && incident !== undefined) {
    const { component: name, status } = next;
    await site.update(incident, { components: named(name, status) });
    model.name(incident, name, status);
  } else if (next.do === "resolve" && incident !== undefined) {
    await site.update(incident, { status: "resolved" });
    model.resolve(incident);
  }
}

/** Sends all mails, and returns those about statuses. */
async function sent(site: MailingSite): Promise<string[]> {
  return (await site.send()).flatMap(({ subject, text }) => {
    const plain = typeof text === "string" ? text : text.quotedPrintable.replaceAll("=\r\n", "");
    const [, before] = /^Before: (.+?)\r?$/m.exec(plain) ?? [];
    if (before === undefined) return [];
    const [, , status] = plain.split(/\r?\n/);
    return [`${subject.replace(/^.*\] /, "")}: ${status}, before: ${before}`];
  });
}

test("changes of a status are mailed after two minutes, merged for 15 minutes, and not if an incident names the component", async () => {
  let mailed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 20 }), async (actions) => {
      await using site = await createMailingSite();
      await site.subscribe("anna", { events: ["status"] });
      const model = new StatusModel();
      const { clock } = site.app;
      for (const next of actions) {
        await take(site, model, next);
        const end = clock.now() + (next.do === "wait" ? next.seconds : 1) * SECOND_MS;
        while (clock.now() < end) {
          await site.advance(Math.min(end, model.nextTime()) - clock.now());
          const expected = model.run(clock.now());
          mailed += expected.length;
          expect((await sent(site)).sort()).toEqual(expected.sort());
        }
      }
    }),
    { numRuns: RUNS },
  );
  expect(mailed).toBeGreaterThan(0);
});
