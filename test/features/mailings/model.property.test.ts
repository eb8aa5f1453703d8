import { expect, test } from "bun:test";
import fc from "fast-check";
import { CLI_ACTOR } from "../../../src/base/actor";
import { deleteIncident } from "../../../src/features/incidents/incidents";
import {
  changeChoices,
  getSubscriber,
  unsubscribe,
} from "../../../src/features/subscribers/subscribers";
import { HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../src/base/time";
import { type ExpectedMail, type ModelChoices, MailingModel } from "../../support/mailing-model";
import type { TakenMail } from "../../support/relay";
import { createSendingSite, type SendingSite } from "../../support/sending-site";

const RUNS = 12;

const which = fc.nat({ max: 3 });
const isLoud = fc.boolean().map((isSilent) => !isSilent);
const mostlyLoud = fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, isLoud);
const components = fc.subarray(["API", "Web", "Search"], { maxLength: 2 });
const choices: fc.Arbitrary<ModelChoices> = fc.record({
  kinds: fc.subarray<"incidents" | "maintenance">(["incidents", "maintenance"], { minLength: 1 }),
  selection: fc.option(fc.subarray(["API", "Web", "Search", "Core"]), { nil: undefined }),
});
const does = <Name extends string>(name: Name) => fc.constant(name);

/** Changes of the product, each with a weight. Objects and subscribers are counted from the newest. */
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: does("open"),
      components,
      isLoud: mostlyLoud,
      kind: fc.constantFrom("open", "open", "open", "draft", "resolved"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: does("publish"), which }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: does("update"),
      which,
      components,
      isLoud: mostlyLoud,
      status: fc.constantFrom(undefined, "identified", "monitoring", "resolved", "investigating"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: does("explain"), which, isLoud: mostlyLoud }) },
  { weight: 1, arbitrary: fc.record({ do: does("delete"), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: does("plan"),
      components: fc.subarray(["API", "Web", "Search"], { minLength: 1, maxLength: 2 }),
      isLoud: mostlyLoud,
      inMinutes: fc.constantFrom(1, 4, 17, 90),
      minutes: fc.constantFrom(1, 3, 20, 90),
      remind: fc.constantFrom(null, 5, 60),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: does("note"), which, isLoud: mostlyLoud }) },
  { weight: 2, arbitrary: fc.record({ do: does("move"), which, components }) },
  { weight: 1, arbitrary: fc.record({ do: does("cancel"), which, isLoud: mostlyLoud }) },
  { weight: 1, arbitrary: fc.record({ do: does("hide") }) },
  { weight: 5, arbitrary: fc.record({ do: does("show") }) },
  { weight: 3, arbitrary: fc.record({ do: does("subscribe"), choices }) },
  { weight: 1, arbitrary: fc.record({ do: does("unsubscribe"), which }) },
  { weight: 4, arbitrary: fc.record({ do: does("choose"), which, choices }) },
  { weight: 6, arbitrary: fc.record({ do: does("relay") }) },
  { weight: 2, arbitrary: fc.record({ do: does("off"), hours: fc.constantFrom(1, 5, 23, 30) }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: does("wait"), seconds: fc.integer({ max: 300, min: 1 }) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** A site and the model, to which the same happens. */
class Comparison {
  readonly #sending: SendingSite;
  readonly model: MailingModel;
  readonly #drafts = new Map<string, { components: string[]; isLoud: boolean; text: string }>();
  readonly #incidents: string[] = [];
  readonly #explained = new Set<string>();
  readonly #maintenances: string[] = [];
  readonly #subscribers: { name: string; id: string }[] = [];
  #texts = 0;

  constructor(sending: SendingSite) {
    this.#sending = sending;
    this.model = new MailingModel(sending.site.app.clock.now());
  }

  async subscribe(given: ModelChoices): Promise<void> {
    const { site } = this.#sending;
    const name = `person${this.#subscribers.length}`;
    const targets = given.selection?.map((one) => this.#targetOf(one));
    const events = [...given.kinds];
    const id = await site.subscribe(name, targets ? { targets, events } : { events });
    this.model.subscribe(name, given);
    this.#subscribers.push({ name, id });
  }

  /** Does something, lets a second pass, and compares all mails of that time. */
  async take(next: Action): Promise<void> {
    const { model } = this;
    await this.#do(next);
    await this.#compare(model.run());
    await this.#pass((next.do === "wait" ? next.seconds : 1) * SECOND_MS);
  }

  async #do(next: Action): Promise<void> {
    const { model } = this;
    const { site, setAway, restart } = this.#sending;
    const { app } = site;
    switch (next.do) {
      case "open": {
        const text = this.#newText();
        const fields = { draft: next.kind === "draft", notify: next.isLoud, body: text };
        const status = next.kind === "resolved" ? "resolved" : "investigating";
        const id = await site.open({
          ...fields,
          status,
          components: this.#outages(next.components),
        });
        if (next.kind === "draft") return void this.#drafts.set(id, { ...next, text });
        this.#incidents.push(id);
        const isResolved = next.kind === "resolved";
        return model.openIncident(id, next.components, isResolved, { text, isLoud: next.isLoud });
      }
      case "publish": {
        const [id, draft] = at([...this.#drafts], next.which) ?? [];
        if (id === undefined || !draft) return;
        await site.call(`incidents/${id}`, { draft: false }, "PATCH");
        this.#drafts.delete(id);
        this.#incidents.push(id);
        return model.openIncident(id, draft.components, false, draft);
      }
      case "update": {
        const id = at(this.#incidents, next.which);
        if (id === undefined) return;
        const text = this.#newText();
        const { isLoud: notify, status } = next;
        const named = this.#outages(next.components);
        await site.update(id, { body: text, notify, components: named, ...(status && { status }) });
        const isResolved = status && status === "resolved";
        return model.updateIncident(id, next.components, isResolved, { text, isLoud: notify });
      }
      case "explain": {
        const id = at(this.#incidents, next.which);
        if (id === undefined || this.#explained.has(id)) return;
        this.#explained.add(id);
        const text = this.#newText();
        const json = { body: text, publish: true, notify: next.isLoud };
        await site.call(`incidents/${id}/postmortem`, json, "PUT");
        return model.publishPostmortem(id, { text, isLoud: next.isLoud });
      }
      case "delete": {
        const id = at(this.#incidents, next.which);
        if (id === undefined) return;
        this.#incidents.splice(this.#incidents.indexOf(id), 1);
        await site.control((ctx, tx) => deleteIncident(ctx, tx, id, CLI_ACTOR));
        return model.deleteIncident(id);
      }
      case "plan": {
        const text = this.#newText();
        // Half a second apart from all other times, so that the order is known.
        const from = app.clock.now() + next.inMinutes * MINUTE_MS + 500;
        const until = from + next.minutes * MINUTE_MS;
        const id = await site.plan({
          body: text,
          components: next.components.map((name) => this.#targetOf(name)),
          scheduled_for: toIso(from),
          scheduled_until: toIso(until),
          remind_minutes_before: next.remind,
          notify: next.isLoud,
        });
        this.#maintenances.push(id);
        const remindAt = next.remind === null ? undefined : from - next.remind * MINUTE_MS;
        const plan = { from, until, remindAt, isLoud: next.isLoud };
        return model.planMaintenance(id, next.components, plan, text);
      }
      case "note":
      case "cancel": {
        const id = at(this.#maintenances, next.which);
        if (id === undefined || model.isOver(id)) return;
        const event = { text: this.#newText(), isLoud: next.isLoud };
        const isNote = next.do === "note";
        const path = `maintenance/${id}/${isNote ? "updates" : "cancel"}`;
        await site.call(path, { body: event.text, notify: event.isLoud });
        return isNote ? model.updateMaintenance(id, event) : model.cancelMaintenance(id, event);
      }
      case "move": {
        const id = at(this.#maintenances, next.which);
        if (id === undefined || model.isOver(id)) return;
        const ids = next.components.map((name) => this.#targetOf(name));
        await site.call(`maintenance/${id}`, { components: ids }, "PATCH");
        return model.chooseComponents(id, next.components);
      }
      case "hide":
      case "show":
        await site.change({ visibility: next.do === "hide" ? "private" : "public" });
        return model.setPublic(next.do === "show");
      case "subscribe":
        return this.subscribe(next.choices);
      case "unsubscribe":
      case "choose": {
        // The first one stays, since nothing is recorded while a page has no subscribers.
        const one = at(this.#subscribers.slice(1), next.which);
        if (!one) return;
        if (next.do === "unsubscribe") {
          await site.control((ctx, tx) => unsubscribe(ctx, tx, getSubscriber(tx, one.id)));
          return model.unsubscribe(one.name);
        }
        const { kinds, selection } = next.choices;
        const targets = (selection ?? []).map((name) => this.#targetOf(name));
        const scope = selection ? ("selection" as const) : ("page" as const);
        const given = { scope, targets, events: [...kinds] };
        await site.control((ctx, tx) => changeChoices(ctx, tx, getSubscriber(tx, one.id), given));
        return model.choose(one.name, next.choices);
      }
      case "relay":
        model.isAway = !model.isAway;
        setAway(model.isAway);
        return model.isAway ? undefined : restart();
      case "off":
        await restart(next.hours * HOUR_MS);
        return model.skipTo(app.clock.now());
      case "wait":
    }
  }

  /** Lets the relay accept mails again. */
  async end(): Promise<void> {
    if (this.model.isAway) await this.take({ do: "relay" });
    await this.#pass(3 * MINUTE_MS);
  }

  /** Advances both clocks from one time at which something happens to the next. */
  async #pass(ms: number): Promise<void> {
    const { clock } = this.#sending.site.app;
    const end = clock.now() + ms;
    while (clock.now() < end) {
      const next = Math.min(end, this.model.nextTime());
      await this.#sending.site.advance(next - clock.now());
      await this.#compare(this.model.advanceTo(next));
    }
  }

  async #compare(expected: readonly ExpectedMail[]): Promise<void> {
    await this.#sending.finish();
    const taken = this.#sending.taken().map(readMail);
    const names = ({ to, subjectId }: { to: string; subjectId: string }) => `${to} ${subjectId}`;
    const optional = new Map(expected.map((mail) => [names(mail), mail.optional]));
    for (const { earlier } of taken) expect(earlier).toEqual(earlier.toSorted(byNumber));
    const actual = taken.map(({ earlier, ...mail }) => ({
      ...mail,
      earlier: earlier.filter((text) => !optional.get(names(mail))?.includes(text)),
    }));
    const sorted = <Mail extends { to: string; subjectId: string }>(mails: readonly Mail[]) =>
      mails.toSorted((a, b) => (names(a) < names(b) ? -1 : 1));
    const predicted = expected.map((mail) => {
      const { optional: _, ...required } = mail;
      return required;
    });
    expect(sorted(actual)).toEqual(sorted(predicted));
  }

  #newText(): string {
    this.#texts += 1;
    return `text-${this.#texts}.`;
  }

  #targetOf(name: string): string {
    const { ids, group } = this.#sending.site;
    return name === "Core" ? group : (ids[name] ?? "");
  }

  #outages(names: readonly string[]): Record<string, string> {
    return Object.fromEntries(names.map((name) => [this.#targetOf(name), "partial_outage"]));
  }
}

/** Returns the entry that is so many before the last one, beginning again at the end. */
function at<Entry>(entries: readonly Entry[], index: number): Entry | undefined {
  return entries.at(-1 - (index % Math.max(1, entries.length)));
}

function byNumber(a: string, b: string): number {
  return Number(a.slice(5, -1)) - Number(b.slice(5, -1));
}

/** Reads the header and the text part of a mail. */
function readMail({ to, text: message }: TakenMail): Omit<ExpectedMail, "optional"> {
  const [header = "", plain = ""] = message.split(/\r?\n--/);
  const [own = "", earlier = ""] = plain.replaceAll(/=\r?\n/g, "").split("Earlier updates");
  const textsIn = (part: string) => part.match(/text-\d+\./g) ?? [];
  return {
    to: (to[0] ?? "").replace("@example.net", ""),
    subjectId: /^References: <(\w+)@/m.exec(header)?.[1] ?? "",
    type: /^Feedback-ID: ([\w.]+):/m.exec(header)?.[1] ?? "",
    isReply: /^In-Reply-To: /m.test(header),
    text: textsIn(own)[0],
    earlier: textsIn(earlier),
  };
}

test("the relay gets the mails that a model of the rules predicts, at the same times and with the same texts", async () => {
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(choices, { minLength: 2, maxLength: 4 }),
      fc.array(action, { minLength: 10, maxLength: 30, size: "max" }),
      async (given, actions) => {
        await using sending = await createSendingSite();
        const comparison = new Comparison(sending);
        await comparison.subscribe({ kinds: ["incidents", "maintenance"], selection: undefined });
        for (const one of given) await comparison.subscribe(one);
        for (const next of actions) await comparison.take(next);
        await comparison.end();
        sent += comparison.model.sent;
      },
    ),
    { numRuns: RUNS },
  );
  expect(sent).toBeGreaterThan(0);
});
