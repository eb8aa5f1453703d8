import { expect, test } from "bun:test";
import fc from "fast-check";
import { CLI_ACTOR } from "../../../../src/base/actor";
import type { Egress } from "../../../../src/egress/egress";
import type { HttpAnswer } from "../../../../src/egress/model";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { createTestClock } from "../../../support/clock";
import { createDeliverySite, type DeliverySite } from "../../../support/delivery-site";
import { monitorEvent } from "../../../support/gathering-site";
import { updateWebhook } from "../../../support/examined";

const PATHS = ["/a", "/b"] as const;
const FORMATS = ["standard", "statuspage", "slack", "teams"] as const;
type Format = (typeof FORMATS)[number];

const urlOf = (pathname: string) => `http://127.0.0.1:9${pathname}`;

/** Answer of a receiver, after `latencyMs`. `pauseS` is its `Retry-After`. */
interface Answer {
  status: number;
  pauseS?: number;
  latencyMs: number;
}

type Action =
  | { kind: "events"; subjects: ("incident" | "down" | "up")[] }
  | { kind: "answer"; path: string; answer: Answer }
  | {
      kind: "change";
      endpoint: number;
      change: { enabled: boolean } | { url: string; format: Format };
    }
  | { kind: "restart" }
  | { kind: "pass"; ms: number };

const path = fc.constantFrom(...PATHS);
const answer: fc.Arbitrary<Answer> = fc.record(
  {
    status: fc.constantFrom(200, 429, 429, 503, 500),
    pauseS: fc.constantFrom(0.1, 1, 60, 5_000),
    latencyMs: fc.constantFrom(0, 80, 2_000),
  },
  { requiredKeys: ["status", "latencyMs"] },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    kind: fc.constant("events" as const),
    subjects: fc.array(fc.constantFrom("incident" as const, "down" as const, "up" as const), {
      minLength: 1,
      maxLength: 8,
    }),
  }),
  fc.record({ kind: fc.constant("answer" as const), path, answer }),
  fc.record({
    kind: fc.constant("change" as const),
    endpoint: fc.nat({ max: 3 }),
    change: fc.oneof(
      fc.record({ enabled: fc.boolean() }),
      fc.record({ url: path.map(urlOf), format: fc.constantFrom(...FORMATS) }),
    ),
  }),
  fc.record({ kind: fc.constant("restart" as const) }),
  fc.record({
    kind: fc.constant("pass" as const),
    ms: fc.constantFrom(1, 200, SECOND_MS, 5 * SECOND_MS, MINUTE_MS),
  }),
);

/** Receivers whose answers the test decides. They note what was sent to them in a pause that they had asked for. */
function createReceivers(clock: ReturnType<typeof createTestClock>) {
  const answers = new Map<string, Answer>();
  const pauses = new Map<string, { from: number; until: number }>();
  const early: string[] = [];
  const request = ({ url, signal }: Parameters<Egress["request"]>[0]) => {
    const { pathname } = new URL(url);
    const now = clock.monotonic();
    const pause = pauses.get(pathname);
    // What starts in the turns of a refusal, or within steps of 1 ms after it, does not know of it.
    if (pause && pause.from + 10 < now && now < pause.until) early.push(`${pathname} at ${now}`);
    const { status, pauseS, latencyMs } = answers.get(pathname) ?? { status: 200, latencyMs: 0 };
    return new Promise<HttpAnswer>((resolve, reject) => {
      const abort = () => reject(new Error("aborted"));
      // A restart may have begun before the request.
      if (signal?.aborted) abort();
      const end = () => {
        if (signal?.aborted) return;
        if (status === 429 || (status === 503 && pauseS !== undefined)) {
          const from = clock.monotonic();
          const until = from + Math.min(15 * MINUTE_MS, (pauseS ?? 5) * SECOND_MS);
          const longest = Math.max(until, pauses.get(pathname)?.until ?? 0);
          pauses.set(pathname, { from, until: longest });
        }
        const headers = new Headers(pauseS === undefined ? {} : { "retry-after": `${pauseS}` });
        resolve({ status, headers, body: new Uint8Array() } as unknown as HttpAnswer);
      };
      signal?.addEventListener("abort", abort);
      if (latencyMs === 0) end();
      else clock.after(latencyMs, end);
    });
  };
  return { answers, early, egress: { request } as unknown as Egress };
}

const INCIDENT = {
  type: "incident.created",
  subjectId: "inc_1",
  data: { name: "Outage", notify: true },
} as const;

async function run(site: DeliverySite, ids: string[], answers: Map<string, Answer>, one: Action) {
  const { clock, ctx } = site.app;
  if (one.kind === "events") {
    await site.recordEvents(
      ...one.subjects.map((subject) =>
        subject === "incident" ? INCIDENT : monitorEvent(subject, "a", clock.now()),
      ),
    );
  } else if (one.kind === "answer") answers.set(one.path, one.answer);
  else if (one.kind === "pass") await clock.advance(one.ms);
  else if (one.kind === "restart") {
    const restarted = site.restart();
    // Aborts what is under way.
    await clock.advance(0);
    await restarted;
  } else {
    const id = ids[one.endpoint] ?? "";
    await ctx.db.write((tx) => updateWebhook(ctx, tx, id, one.change, CLI_ACTOR));
  }
}

test("with any answers of receivers, nothing is sent to them in their pauses, and at the end nothing waits", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(...FORMATS.map(() => path)),
      fc.array(action, { minLength: 5, maxLength: 40 }),
      async (paths, actions) => {
        const clock = createTestClock();
        const { answers, early, egress } = createReceivers(clock);
        await using site = await createDeliverySite({ egress, clock });
        const ids: string[] = [];
        for (const [index, format] of FORMATS.entries()) {
          // oxlint-disable-next-line no-await-in-loop
          ids.push((await site.endpoint(urlOf(paths[index] ?? "/a"), { format })).id);
        }
        // oxlint-disable-next-line no-await-in-loop
        for (const one of actions) await run(site, ids, answers, one);
        answers.clear();
        const isAnyPending = () => site.deliveries().some(({ status }) => status === "pending");
        // Failed ones have their retries.
        for (let hours = 0; hours < 100 && isAnyPending(); hours++) {
          // oxlint-disable-next-line no-await-in-loop
          for (let minute = 0; minute < 60; minute++) await clock.advance(MINUTE_MS);
        }
        expect(isAnyPending()).toBe(false);
        expect(early).toEqual([]);
      },
    ),
    { numRuns: 50 },
  );
});
