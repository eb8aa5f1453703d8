import { describe, expect, test } from "bun:test";
import { Results } from "../../src/agent/results";
import { RejectedRequest, Server } from "../../src/agent/server";
import { Problem, unavailable } from "../../src/base/errors";
import { systemRandom } from "../../src/base/hash";
import type { Ctx } from "../../src/context";
import type { Egress } from "../../src/egress/egress";
import { Fault, type HttpAnswer, type HttpRequest } from "../../src/egress/model";
import { StepRecorder } from "../../src/egress/steps";
import { AgentResult, type SentResults } from "../../src/features/locations/agent-wire";
import { schemaErrors } from "../../src/base/validation";
import { createTestClock } from "../support/clock";
import { createTestLog } from "../support/log";

type Entry = Parameters<Results["store"]>[0][number];

/** Creates a sender of results, and a server that keeps its batches or fails as `failures` has it. */
function createSite() {
  const clock = createTestClock();
  const sent: SentResults[] = [];
  const failures: Error[] = [];
  const server = {
    send: async (batch: SentResults) => {
      const failure = failures.shift();
      if (failure) throw failure;
      sent.push(structuredClone(batch));
      return { taken: batch.results.length, invalid: 0 };
    },
  } as unknown as Server;
  const ctx = { clock, log: createTestLog("info").log, random: systemRandom } as unknown as Ctx;
  const entryOf = (num: number, more: Partial<Entry> = {}): Entry =>
    ({
      kind: "check",
      scheduled: { id: `mon_${num}`, num, version: 3 },
      version: 2,
      at: clock.now(),
      outcome: "ok",
      latencyMs: 12.4,
      message: null,
      ...more,
    }) as Entry;
  const results = new Results(ctx, server);
  return { clock, ctx, sent, failures, results, entryOf };
}

const numbersOf = (batches: readonly SentResults[]) =>
  batches.flatMap(({ results }) => results.map(({ number }) => number));

describe("results of an agent", () => {
  test("results are sent with rising numbers, their age and the version that was checked", async () => {
    const { clock, sent, results, entryOf } = createSite();
    const first = entryOf(1, { elapsedMs: 60_000 });
    await clock.advance(1_500);
    await results.store([
      first,
      entryOf(2, { outcome: "failed", latencyMs: null, message: "No." }),
    ]);
    await results.store([entryOf(1)]);
    expect(numbersOf(sent)).toEqual([1, 2, 3]);
    expect(sent[0]?.process).toMatch(/^[0-9a-f]{24}$/);
    expect(sent[1]?.process).toBe(sent[0]?.process ?? "");
    expect(sent[0]?.results[0]).toEqual({
      number: 1,
      monitor_id: "mon_1",
      version: 2,
      kind: "check",
      age_ms: 1_500,
      outcome: "ok",
      latency_ms: 12,
      message: null,
      elapsed_ms: 60_000,
    });
    for (const { results: batch } of sent) {
      for (const result of batch) expect(schemaErrors(AgentResult, result)).toEqual([]);
    }
  });

  test("a batch that is sent again has the same numbers", async () => {
    const { sent, failures, results, entryOf } = createSite();
    failures.push(unavailable("no server", 1), unavailable("no server", 1));
    const entries = [entryOf(1), entryOf(2)];
    expect(results.store(entries)).rejects.toThrow("no server");
    await expect(results.store([...entries, entryOf(3)])).rejects.toThrow("no server");
    await results.store([...entries, entryOf(4)]);
    expect(numbersOf(sent)).toEqual([1, 2, 4]);
  });

  test("a failure says if the server was not reached since its check began", async () => {
    const { clock, ctx, entryOf } = createSite();
    const sent: SentResults[] = [];
    /** Answers of the server, by their status and the time that they take; none for a lost connection. */
    const answers: ({ status: number; ms: number } | undefined)[] = [];
    const request = async ({ body }: HttpRequest): Promise<HttpAnswer | Fault> => {
      const answer = answers.length > 0 ? answers.shift() : { status: 200, ms: 0 };
      await clock.advance(answer?.ms ?? 0);
      if (!answer) return new Fault("connect", "The connection failed.");
      sent.push(JSON.parse(String(body)));
      const sentBody = new TextEncoder().encode('{"taken":1,"invalid":0}');
      const rest = { isTruncated: false, certificate: null, address: "192.0.2.1" };
      return { status: answer.status, headers: new Map(), sentBody, ...rest };
    };
    const options = { server: "https://s.test", readToken: () => "token", onContact: () => {} };
    const server = new Server(ctx, { request } as unknown as Egress, options);
    const results = new Results(ctx, server);
    const failed = () => entryOf(1, { outcome: "failed", latencyMs: null });
    const areCutOff = () => sent.at(-1)?.results.map((each) => each.is_cut_off ?? false);

    await results.store([failed()]);
    expect(areCutOff()).toEqual([false]);
    answers.push(undefined);
    const waiting = [failed(), entryOf(2)];
    await expect(results.store(waiting)).rejects.toThrow("connection");
    await clock.advance(10_000);
    const underWay = failed();
    await clock.advance(10_000);
    // That the server is reached again is known after its answer.
    await results.store([...waiting, underWay]);
    expect(areCutOff()).toEqual([true, false, true]);
    await results.store([underWay]);
    expect(areCutOff()).toEqual([true]);

    // A server that refuses has been reached.
    await clock.advance(1);
    answers.push({ status: 503, ms: 0 });
    const refused = failed();
    await expect(results.store([refused])).rejects.toThrow("503");
    await results.store([refused]);
    expect(areCutOff()).toEqual([false]);

    // A batch that took long was held up by the network.
    const before = failed();
    answers.push({ status: 200, ms: 6_000 });
    await results.store([failed()]);
    expect(areCutOff()).toEqual([false]);
    await results.store([before, failed()]);
    expect(areCutOff()).toEqual([true, false]);
    for (const result of sent.flatMap(({ results: batch }) => batch)) {
      expect(schemaErrors(AgentResult, result)).toEqual([]);
    }
  });

  test("a refused token or version is waited for, and a batch that cannot be read is not", async () => {
    const { failures, results, entryOf } = createSite();
    for (const status of [401, 404, 409]) {
      failures.push(new RejectedRequest(status, "refused"));
      const error = await results.store([entryOf(1)]).catch((reason: unknown) => reason);
      expect([status, error instanceof Problem && error.code]).toEqual([status, "unavailable"]);
    }
    for (const status of [400, 413, 422]) {
      failures.push(new RejectedRequest(status, "refused"));
      await expect(results.store([entryOf(1)])).rejects.toBeInstanceOf(RejectedRequest);
    }
  });

  test("a result that has waited for ten minutes is dropped, and the first of each monitor says that there is no data since", async () => {
    const { clock, sent, results, entryOf } = createSite();
    const entries: Entry[] = [];
    for (let minute = 0; minute < 30; minute++) {
      entries.push(entryOf(1), entryOf(2));
      await clock.advance(60_000);
    }
    await results.store(entries.slice(0, 20));
    await results.store(entries.slice(20));
    const kept = sent.flatMap(({ results: batch }) => batch);
    const gaps = kept.filter(({ kind }) => kind === "away");
    expect(gaps.map(({ monitor_id, outcome }) => [monitor_id, outcome])).toEqual([
      ["mon_1", "unknown"],
      ["mon_2", "unknown"],
    ]);
    expect(gaps[0]?.age_ms).toBe(30 * 60_000);
    const checks = kept.filter(({ kind }) => kind === "check");
    expect(checks).toHaveLength(20);
    expect(Math.max(...checks.map(({ age_ms }) => age_ms))).toBe(600_000);
  });

  test("a large batch is divided within the limits of the server, and long messages are cut", async () => {
    const { sent, results, entryOf } = createSite();
    const message = "\u{1F980}".repeat(500);
    const entries = Array.from({ length: 500 }, (_, num) => entryOf(num, { message }));
    await results.store(entries);
    expect(sent.length).toBeGreaterThan(1);
    for (const batch of sent) {
      expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThanOrEqual(256 * 1024);
      for (const result of batch.results) expect(schemaErrors(AgentResult, result)).toEqual([]);
    }
    expect(numbersOf(sent)).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
  });

  test("the check that a user has asked for has the request and its steps, and others have none", async () => {
    const { clock, sent, results, entryOf } = createSite();
    const steps = new StepRecorder(clock);
    steps.add("connect", true, "203.0.113.5");
    results.expect({ requestId: "chk_1", monitorId: "mon_1", steps });
    results.expect({ requestId: "chk_2", monitorId: "mon_1", steps: undefined });
    const waiters = [Promise.withResolvers<undefined>()] as unknown as Entry["waiters"];
    await results.store([entryOf(1), entryOf(2, { waiters }), entryOf(1, { waiters })]);
    const [first, other, asked] = sent[0]?.results ?? [];
    expect([first?.request_ids, other?.request_ids]).toEqual([undefined, undefined]);
    expect(asked?.request_ids).toEqual(["chk_1", "chk_2"]);
    expect(asked?.steps).toEqual([
      { name: "connect", duration_ms: 0, ok: true, detail: "203.0.113.5" },
    ]);
  });

  test("a check that cannot be made is refused, unless its result is on its way", async () => {
    const { sent, results, entryOf } = createSite();
    const asked = { requestId: "chk_1", monitorId: "mon_1", steps: undefined };
    results.expect(asked);
    await results.fail(asked, "The monitor is paused.");
    expect(sent).toEqual([
      expect.objectContaining({
        results: [],
        failed_requests: [{ request_id: "chk_1", detail: "The monitor is paused." }],
      }),
    ]);
    results.expect(asked);
    const waiters = [Promise.withResolvers<undefined>()] as unknown as Entry["waiters"];
    await results.store([entryOf(1, { waiters })]);
    await results.fail(asked, "Too late.");
    expect(sent).toHaveLength(2);
  });
});
