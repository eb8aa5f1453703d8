import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/base/time";

/* A model of the rules by which subscribers get mails about incidents and maintenance, without any database. */

const WINDOW_MS = 120 * SECOND_MS;
const REMINDER_DISTANCE_MS = 15 * MINUTE_MS;
/** Interval of the clock of maintenance. */
const TICK_MS = 500;

/** Choices of a subscriber. */
export interface ModelChoices {
  kinds: readonly ("incidents" | "maintenance")[];
  /** Components, and `Core` for the group of API and Web; undefined for the whole page. */
  selection: readonly string[] | undefined;
}

interface Subscriber extends ModelChoices {
  name: string;
  /** Position in the order of sign-ups and events. */
  order: number;
  isActive: boolean;
}

interface Plan {
  from: number;
  until: number;
  /** Time of the reminder; undefined if there is none any more. */
  remindAt: number | undefined;
  isLoud: boolean;
  status: "scheduled" | "in_progress" | "over";
}

interface Subject {
  id: string;
  kind: "incidents" | "maintenance";
  /** Components that it ever named. */
  reach: Set<string>;
  lastBeganAt: number | undefined;
  isResolved: boolean;
  plan: Plan | undefined;
}

interface Mailing {
  subject: Subject;
  type: string;
  /** Undefined for an event without a text of people. */
  text: string | undefined;
  order: number;
  at: number;
  beginAt: number;
  deadlineAt: number;
  state: "waiting" | "merged" | "contained" | "over";
  isReply: boolean;
  /** Subscribers whom it would have reached at the event. */
  audience: ReadonlySet<Subscriber>;
}

interface EarlierText {
  text: string;
  order: number;
  /** False for a text that may be left out, since its time is over or since it was not for the recipient. */
  isRequired: boolean;
}

interface PendingMail {
  subscriber: Subscriber;
  mailing: Mailing;
  earlier: EarlierText[];
}

/** A mail that the relay should get. */
export interface ExpectedMail {
  to: string;
  subjectId: string;
  type: string;
  isReply: boolean;
  text: string | undefined;
  /** Texts of mails that it replaces, oldest first. */
  earlier: string[];
  /** Further texts that it may contain. */
  optional: string[];
}

type EventOptions = { text?: string | undefined; isLoud?: boolean; isLate?: boolean };

/** Predicts which mails the relay gets. Times are in unix ms. */
export class MailingModel {
  isAway = false;
  #now: number;
  #isPublic = true;
  #order = 0;
  readonly #subscribers = new Map<string, Subscriber>();
  readonly #subjects = new Map<string, Subject>();
  #mailings: Mailing[] = [];
  #pending: PendingMail[] = [];
  /** Number of mails that were sent. */
  sent = 0;

  constructor(now: number) {
    this.#now = now;
  }

  get isPublic(): boolean {
    return this.#isPublic;
  }

  subscribe(name: string, choices: ModelChoices): void {
    this.#subscribers.set(name, { name, ...choices, order: ++this.#order, isActive: true });
  }

  unsubscribe(name: string): void {
    const subscriber = this.#subscribers.get(name);
    if (!subscriber) return;
    subscriber.isActive = false;
    this.#pending = this.#pending.filter((mail) => mail.subscriber !== subscriber);
  }

  choose(name: string, choices: ModelChoices): void {
    Object.assign(this.#subscribers.get(name) ?? {}, choices);
  }

  setPublic(isPublic: boolean): void {
    this.#isPublic = isPublic;
    if (!isPublic) this.#end(() => true);
  }

  /** Publishes an incident. */
  openIncident(
    id: string,
    components: readonly string[],
    isResolved: boolean,
    event: EventOptions,
  ) {
    const subject: Subject = {
      id,
      kind: "incidents",
      reach: new Set(components),
      lastBeganAt: undefined,
      isResolved,
      plan: undefined,
    };
    this.#subjects.set(id, subject);
    if (!isResolved) this.#record(subject, "incident.created", event);
  }

  /** Adds an update. `isResolved` is undefined if it keeps the status. */
  updateIncident(
    id: string,
    components: readonly string[],
    isResolved: boolean | undefined,
    event: EventOptions,
  ): void {
    const subject = this.#get(id);
    for (const name of components) subject.reach.add(name);
    const was = subject.isResolved;
    subject.isResolved = isResolved ?? was;
    const change = subject.isResolved ? "resolved" : "reopened";
    const type = subject.isResolved === was ? "updated" : change;
    this.#record(subject, `incident.${type}`, event);
  }

  publishPostmortem(id: string, event: EventOptions): void {
    this.#record(this.#get(id), "incident.postmortem_published", event);
  }

  deleteIncident(id: string): void {
    const subject = this.#get(id);
    this.#end((mailing) => mailing.subject === subject);
  }

  planMaintenance(
    id: string,
    components: readonly string[],
    plan: Omit<Plan, "status">,
    text: string,
  ): void {
    const subject: Subject = {
      id,
      kind: "maintenance",
      reach: new Set(components),
      lastBeganAt: undefined,
      isResolved: false,
      plan: { ...plan, status: "scheduled" },
    };
    if (subject.plan && (plan.remindAt ?? 0) <= this.#now) subject.plan.remindAt = undefined;
    this.#subjects.set(id, subject);
    this.#record(subject, "maintenance.scheduled", { text, isLoud: plan.isLoud });
  }

  /** Names further components, which is not mailed. */
  chooseComponents(id: string, components: readonly string[]): void {
    for (const name of components) this.#get(id).reach.add(name);
  }

  updateMaintenance(id: string, event: EventOptions): void {
    this.#record(this.#get(id), "maintenance.updated", event);
  }

  cancelMaintenance(id: string, event: EventOptions): void {
    const subject = this.#get(id);
    if (subject.plan) subject.plan.status = "over";
    this.#record(subject, "maintenance.cancelled", event);
  }

  isOver(id: string): boolean {
    return this.#get(id).plan?.status === "over";
  }

  /** Returns the time at which something happens by itself, after now. */
  nextTime(): number {
    const nextTick = (Math.floor(this.#now / TICK_MS) + 1) * TICK_MS;
    const begins = this.#mailings.flatMap(({ state, beginAt }) =>
      state === "waiting" && beginAt > this.#now ? [beginAt] : [],
    );
    const steps = [...this.#subjects.values()].flatMap(({ plan }) => (plan ? stepsOf(plan) : []));
    return Math.min(...begins, ...steps.map((at) => Math.max(at, nextTick)));
  }

  /** Moves the clock to a time that is not after `nextTime`, and returns the mails that are sent then. */
  advanceTo(now: number): ExpectedMail[] {
    this.#now = now;
    for (const subject of this.#subjects.values()) this.#takeSteps(subject);
    return this.run();
  }

  /** Moves the clock while the server is off. */
  skipTo(now: number): void {
    this.#now = now;
  }

  /** Returns the mails that are sent now. */
  run(): ExpectedMail[] {
    for (;;) {
      const due = this.#mailings.find(
        ({ state, beginAt }) => state === "waiting" && beginAt <= this.#now,
      );
      if (!due) break;
      this.#begin(due);
    }
    return this.isAway ? [] : this.#send();
  }

  #get(id: string): Subject {
    const subject = this.#subjects.get(id);
    if (!subject) throw new Error(`${id} is unknown`);
    return subject;
  }

  #record(subject: Subject, type: string, event: EventOptions): void {
    const { text, isLoud = true, isLate = false } = event;
    const order = ++this.#order;
    const at = this.#now;
    const audience = new Set(
      [...this.#subscribers.values()].filter((one) => one.isActive && isWanted(one, subject)),
    );
    if (!this.#isPublic || !isLoud || isLate) return;
    const isEnd = type === "maintenance.completed" || type === "maintenance.cancelled";
    const until = isEnd
      ? Number.POSITIVE_INFINITY
      : (subject.plan?.until ?? Number.POSITIVE_INFINITY);
    const deadlineAt = Math.min(at + DAY_MS, until);
    if (deadlineAt <= at) return;
    const afterWindow = (subject.lastBeganAt ?? Number.NEGATIVE_INFINITY) + WINDOW_MS;
    const beginAt = type.endsWith(".updated") ? Math.max(at, afterWindow) : at;
    const times = { at, beginAt, deadlineAt };
    const progress = { state: "waiting" as const, isReply: false };
    this.#mailings.push({ subject, type, text, order, ...times, ...progress, audience });
  }

  /** Begins a mailing, unless its time is over or a newer one of its subject, which is due, contains it. */
  #begin(mailing: Mailing): void {
    const { subject, order } = mailing;
    if (mailing.deadlineAt <= this.#now) {
      mailing.state = "over";
      return;
    }
    const waiting = this.#mailings.filter(
      (one) => one.subject === subject && one.state === "waiting" && one !== mailing,
    );
    if (waiting.some((one) => one.order > order && one.beginAt <= this.#now)) {
      mailing.state = "merged";
      return;
    }
    for (const older of waiting) older.state = "merged";
    const merged = this.#mailings.filter(
      (one) => one.subject === subject && one.state === "merged",
    );
    for (const one of merged) one.state = "contained";
    mailing.state = "over";
    mailing.isReply = subject.lastBeganAt !== undefined;
    subject.lastBeganAt = this.#now;
    for (const subscriber of this.#subscribers.values()) {
      if (!subscriber.isActive || subscriber.order > order) continue;
      if (isWanted(subscriber, subject)) this.#write(subscriber, mailing, merged);
    }
  }

  /** Writes a mail, which replaces those to the same subscriber about the same subject that were not sent. */
  #write(subscriber: Subscriber, mailing: Mailing, merged: readonly Mailing[]): void {
    const isReplaced = (mail: PendingMail) =>
      mail.subscriber === subscriber && mail.mailing.subject === mailing.subject;
    const replaced = this.#pending.filter(isReplaced);
    this.#pending = this.#pending.filter((mail) => !isReplaced(mail));
    const earlier = [
      ...replaced.flatMap((mail) => {
        const isInTime = mail.mailing.deadlineAt > this.#now;
        return [...mail.earlier, ...textOf(mail.mailing, true)].map((one) => ({
          ...one,
          isRequired: one.isRequired && isInTime,
        }));
      }),
      ...merged.flatMap((one) =>
        textOf(one, one.deadlineAt > this.#now && one.audience.has(subscriber)),
      ),
    ];
    earlier.sort((a, b) => a.order - b.order);
    this.#pending.push({ subscriber, mailing, earlier });
  }

  #send(): ExpectedMail[] {
    return this.#pending.splice(0).flatMap(({ subscriber, mailing, earlier }) => {
      const { subject, type, isReply, text } = mailing;
      if (mailing.deadlineAt <= this.#now || !isWanted(subscriber, subject)) return [];
      this.sent += 1;
      const texts = (isRequired: boolean) =>
        earlier.filter((one) => one.isRequired === isRequired).map((one) => one.text);
      const names = { to: subscriber.name, subjectId: subject.id };
      return [{ ...names, type, isReply, text, earlier: texts(true), optional: texts(false) }];
    });
  }

  /** Starts, ends and reminders that are due. What is an hour late or more was not seen in time, and is silent. */
  #takeSteps(subject: Subject): void {
    const { plan } = subject;
    if (!plan) return;
    const now = this.#now;
    const isLate = (at: number) => now - at > HOUR_MS;
    const { from, until, isLoud } = plan;
    const { remindAt = Number.POSITIVE_INFINITY } = plan;
    if (plan.status === "scheduled" && remindAt <= now && now < from) {
      plan.remindAt = undefined;
      if (!this.#isReminderNear(subject)) this.#record(subject, "maintenance.reminder", { isLoud });
    }
    if (plan.status === "scheduled" && from <= now) {
      plan.status = "in_progress";
      this.#record(subject, "maintenance.started", { isLoud, isLate: isLate(from) });
    }
    if (plan.status === "in_progress" && until <= now) {
      plan.status = "over";
      this.#record(subject, "maintenance.completed", { isLoud, isLate: isLate(until) });
    }
  }

  /** True if the plan or the start was mailed in the last 15 minutes. */
  #isReminderNear(subject: Subject): boolean {
    return this.#mailings.some(
      ({ subject: of, type, at }) =>
        of === subject &&
        (type === "maintenance.scheduled" || type === "maintenance.started") &&
        this.#now - at < REMINDER_DISTANCE_MS,
    );
  }

  #end(isEnded: (mailing: Mailing) => boolean): void {
    this.#pending = this.#pending.filter(({ mailing }) => !isEnded(mailing));
    for (const mailing of this.#mailings) if (isEnded(mailing)) mailing.state = "over";
  }
}

function stepsOf({ status, from, until, remindAt }: Plan): number[] {
  if (status === "over") return [];
  if (status === "in_progress") return [until];
  return remindAt === undefined ? [from] : [remindAt, from];
}

function textOf({ text, order }: Mailing, isRequired: boolean): EarlierText[] {
  return text === undefined ? [] : [{ text, order, isRequired }];
}

function isWanted({ kinds, selection }: Subscriber, { kind, reach }: Subject): boolean {
  if (!kinds.includes(kind)) return false;
  if (!selection) return true;
  return selection.some((name) =>
    name === "Core" ? reach.has("API") || reach.has("Web") : reach.has(name),
  );
}
