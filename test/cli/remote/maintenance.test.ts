import { describe, expect, test } from "bun:test";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createClient, type Machine } from "../../../src/cli/remote/client";
import { type Run, runInWindow, runWithSignals } from "../../../src/cli/remote/maintenance";
import type { Maintenance } from "../../../src/features/maintenance/wire";
import { startMaintenanceClock } from "../../../src/features/maintenance/clock";
import { createTestApp, requestOf } from "../../support/app";
import { settle } from "../../support/clock";
import { until } from "../../support/until";

const WORDS = ["./deploy.sh", "--fast"];

/** Serves a page with the clock of maintenance, and runs a program in a window that the test ends. */
async function createSite() {
  const app = await createTestApp();
  const { page } = await app.page({ slug: "shop" }, ["Checkout"]);
  const key = await app.keyWith("write:maintenance", "read:status");
  const { ctx, clock } = app;
  const timer = startMaintenanceClock(ctx);
  let isReachable = true;
  const requests: string[] = [];
  const machine: Machine = {
    async fetch(url, { method = "GET", headers, body }) {
      if (!isReachable) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      const path = url.replace("https://status.test", "");
      requests.push(`${method} ${path}`);
      const json = typeof body === "string" ? (JSON.parse(body) as unknown) : undefined;
      const given = { method, headers: headers as Record<string, string>, json };
      const response = await app.app.handle(requestOf(ctx, path, given), () => "203.0.113.7");
      response.headers.set("date", new Date(ctx.clock.now()).toUTCString());
      return response;
    },
    sleep: async () => {},
    now: () => clock.now() - 3 * 60 * MINUTE_MS,
  };
  const connection = { server: "https://status.test", key, timeoutMs: SECOND_MS };
  const notes: string[] = [];
  const program = Promise.withResolvers<number>();
  const started: (readonly string[])[] = [];
  const plan = {
    page: page.slug,
    components: ["shop:checkout"],
    name: "Release",
    message: "Checkout may be slow.",
    notify: false,
  };
  const parts: Run = {
    client: createClient(connection, machine),
    plan,
    note: (text) => void notes.push(text),
    sleep: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    run: (words) => {
      started.push(words);
      return program.promise;
    },
    hasSignal: () => false,
  };
  const read = async () => {
    const answer = await app.call("/api/v1/maintenance", { key });
    return answer.body.data as Maintenance[];
  };
  return {
    app,
    clock,
    key,
    parts,
    notes,
    requests,
    started,
    program,
    /** Runs the program in a window. */
    run: (changed: Partial<Run> = {}) => runInWindow({ ...parts, ...changed }, WORDS),
    hasStarted: () => until(() => started.length > 0),
    async only(): Promise<Maintenance> {
      const [maintenance, ...others] = await read();
      if (!maintenance || others.length > 0)
        throw new Error("there is not exactly one maintenance");
      return maintenance;
    },
    read,
    async status() {
      return (await app.call("/api/v1/components/shop:checkout", { key })).body.status as string;
    },
    cutOff: (isCut = true) => void (isReachable = !isCut),
    async [Symbol.asyncDispose]() {
      timer.cancel();
      await app[Symbol.asyncDispose]();
    },
  };
}

const minutesLeft = (maintenance: Maintenance, now: number) =>
  (Date.parse(maintenance.scheduled_until) - now) / MINUTE_MS;

describe("the window of `maintenance run`", () => {
  test("the program runs while its components are under maintenance, and its exit code is returned", async () => {
    await using site = await createSite();
    const result = site.run();
    await site.hasStarted();
    expect(site.started).toEqual([WORDS]);
    expect(await site.status()).toBe("under_maintenance");
    const open = await site.only();
    expect([open.name, open.status]).toEqual(["Release", "in_progress"]);
    expect(open.remind_minutes_before).toBeNull();
    expect(minutesLeft(open, site.clock.now())).toBeCloseTo(15, 0);

    site.program.resolve(7);
    expect(await result).toBe(7);
    expect(await site.status()).toBe("operational");
    const { status, updates } = await site.only();
    expect(status).toBe("completed");
    expect(updates.map(({ body }) => body)).toEqual([
      "The maintenance has been completed.",
      "The maintenance has begun.",
      "Checkout may be slow.",
    ]);
  });

  test("the end is moved on while the program runs, so that the window outlives its length", async () => {
    await using site = await createSite();
    const result = site.run();
    await site.hasStarted();
    for (let minutes = 0; minutes < 60; minutes += 1) {
      await site.clock.advance(MINUTE_MS);
      expect(await site.status()).toBe("under_maintenance");
      const left = minutesLeft(await site.only(), site.clock.now());
      expect(left).toBeGreaterThan(9);
      expect(left).toBeLessThanOrEqual(15.2);
    }
    expect(site.requests.filter((request) => request.startsWith("PATCH")).length).toBe(12);
    site.program.resolve(0);
    expect(await result).toBe(0);
  });

  test("the window ends by itself if the process is killed", async () => {
    await using site = await createSite();
    void site.run({ sleep: () => Promise.withResolvers<void>().promise });
    await site.hasStarted();
    await site.clock.advance(16 * MINUTE_MS);
    expect(await site.status()).toBe("operational");
    expect((await site.only()).status).toBe("completed");
  });

  test("a window that was planned and not begun begins and ends by itself", async () => {
    await using site = await createSite();
    const { client } = site.parts;
    const post: typeof client.post = (path, body) => {
      if (path.endsWith("/updates")) site.cutOff();
      return client.post(path, body);
    };
    await expect(site.run({ client: { ...client, post } })).rejects.toThrow("No answer");
    site.cutOff(false);
    expect(site.started).toEqual([]);
    const { id, scheduled_until: end } = await site.only();
    expect(site.notes.at(-1)).toBe(`Maintenance ${id} ends by itself at ${end}.`);
    await site.clock.advance(MINUTE_MS);
    expect((await site.only()).status).toBe("in_progress");
    await site.clock.advance(15 * MINUTE_MS);
    expect((await site.only()).status).toBe("completed");
  });

  test("a window whose planning has no answer may have been planned, which is said", async () => {
    await using site = await createSite();
    const { client } = site.parts;
    const post: typeof client.post = async (path, body) => {
      await client.post(path, body);
      site.cutOff();
      return client.post(path, body);
    };
    await expect(site.run({ client: { ...client, post } })).rejects.toThrow("No answer");
    site.cutOff(false);
    expect(site.started).toEqual([]);
    const { scheduled_until: end } = await site.only();
    expect(site.notes).toEqual([`If the maintenance was planned, it ends by itself at ${end}.`]);
  });

  test("a server that is away for a while closes no window, and its end is moved on again", async () => {
    await using site = await createSite();
    const result = site.run();
    await site.hasStarted();
    site.cutOff();
    await site.clock.advance(11 * MINUTE_MS);
    site.cutOff(false);
    const lost = site.notes.filter((note) => note.startsWith("The window is not extended: No"));
    expect(lost.length).toBe(1);
    await site.clock.advance(MINUTE_MS);
    expect(minutesLeft(await site.only(), site.clock.now())).toBeGreaterThan(14);
    await site.clock.advance(5 * MINUTE_MS);
    expect(await site.status()).toBe("under_maintenance");
    site.program.resolve(0);
    expect(await result).toBe(0);
    expect((await site.only()).status).toBe("completed");
  });

  test("a maintenance that a person has completed is left as it is, and the program runs on", async () => {
    await using site = await createSite();
    const result = site.run();
    await site.hasStarted();
    const { id } = await site.only();
    const update = { status: "completed", body: "Enough." };
    const path = `/api/v1/maintenance/${id}/updates`;
    await site.app.call(path, { method: "POST", key: site.key, json: update });
    await site.clock.advance(20 * MINUTE_MS);
    expect(site.notes.filter((note) => note.startsWith("The window is not extended"))).toEqual([
      "The window is not extended: The maintenance is completed, which is final.",
    ]);
    site.program.resolve(4);
    expect(await result).toBe(4);
    const { updates } = await site.only();
    expect(updates[0]?.body).toBe("Enough.");
  });

  test("a later end that a person has set is kept, and moved on once it comes near", async () => {
    await using site = await createSite();
    const result = site.run();
    await site.hasStarted();
    const { id } = await site.only();
    const end = new Date(site.clock.now() + 40 * MINUTE_MS).toISOString();
    const path = `/api/v1/maintenance/${id}`;
    await site.app.call(path, { method: "PATCH", key: site.key, json: { scheduled_until: end } });
    await site.clock.advance(24 * MINUTE_MS);
    expect((await site.only()).scheduled_until).toBe(end);
    const kept = site.notes.filter((note) => note.startsWith("The window is not extended"));
    expect(kept).toEqual([expect.stringContaining(`to a time later than ${end}`)]);
    await site.clock.advance(36 * MINUTE_MS);
    expect(await site.status()).toBe("under_maintenance");
    expect(minutesLeft(await site.only(), site.clock.now())).toBeGreaterThan(9);
    site.program.resolve(0);
    expect(await result).toBe(0);
  });

  test("the exit code stays that of the program if the server cannot be reached at its end", async () => {
    await using site = await createSite();
    const result = site.run();
    await site.hasStarted();
    site.cutOff();
    site.program.resolve(3);
    expect(await result).toBe(3);
    expect(site.notes.at(-1)).toStartWith("The maintenance ends by itself within 15 minutes: No");
    site.cutOff(false);
    await site.clock.advance(16 * MINUTE_MS);
    expect((await site.only()).status).toBe("completed");
  });

  test("a signal before the program has started prevents it, and completes the window", async () => {
    await using site = await createSite();
    await expect(site.run({ hasSignal: () => true })).rejects.toThrow("./deploy.sh was not run.");
    expect(site.started).toEqual([]);
    expect((await site.only()).status).toBe("completed");
  });

  test("a window that is refused runs no program and leaves no maintenance", async () => {
    await using site = await createSite();
    const plan = { ...site.parts.plan, components: ["shop:nothing"] };
    await expect(site.run({ plan })).rejects.toThrow("shop:nothing is not a component of the page");
    expect([site.started, await site.read(), site.notes]).toEqual([[], [], []]);
  });

  test.each([
    [false, [false, false, false]],
    [true, [true, false, true]],
  ])("with notify %p, people get notifications of start and end: %j", async (notify, sent) => {
    await using site = await createSite();
    site.program.resolve(0);
    await site.run({ plan: { ...site.parts.plan, notify } });
    await settle();
    const events = site.app.events().filter(({ type }) => type.startsWith("maintenance."));
    expect(events.map(({ type }) => type)).toEqual([
      "maintenance.scheduled",
      "maintenance.started",
      "maintenance.completed",
    ]);
    expect(events.map(({ data }) => data["notify"])).toEqual(sent);
  });
});

describe("a signal after the program has ended", () => {
  /** Runs a program that ends by SIGINT. The work after it never ends, unless `isDone` does. */
  function runToEnd(isDone: Promise<void>, now: () => number) {
    const hasEnded = Promise.withResolvers<void>();
    const others = new Set<unknown>(process.listeners("SIGINT"));
    const client = { stopRetrying: () => {} };
    const result = runWithSignals(
      client,
      async (run) => {
        const exitCode = await run(["sh", "-c", "kill -INT $$"]);
        hasEnded.resolve();
        await isDone;
        return exitCode;
      },
      now,
    );
    const listeners = process.listeners("SIGINT") as NodeJS.SignalsListener[];
    const receive = listeners.find((listener) => !others.has(listener));
    if (!receive) throw new Error("no signal is awaited");
    // Other listeners are those of browsers of this test process, which would end it.
    return {
      result,
      hasEnded: hasEnded.promise,
      send: (signal: NodeJS.Signals) => receive(signal),
    };
  }

  test("it is that of Ctrl-C, which reaches both at once, and the window is completed", async () => {
    const completion = Promise.withResolvers<void>();
    let isCompleted = false;
    const { result, hasEnded, send } = runToEnd(completion.promise, () => 0);
    const outcome = result.then((exitCode) => [exitCode, isCompleted]);
    await hasEnded;
    send("SIGINT");
    await settle();
    isCompleted = true;
    completion.resolve();
    expect(await outcome).toEqual([130, true]);
  });

  test("a later one ends the work", async () => {
    let now = 0;
    const { result, hasEnded, send } = runToEnd(Promise.withResolvers<void>().promise, () => now);
    await hasEnded;
    now = SECOND_MS;
    send("SIGTERM");
    expect(await result).toBe(130);
  });
});
