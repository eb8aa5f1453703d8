import { describe, expect, test } from "bun:test";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { saveContact } from "../../../src/features/locations/store";
import { ofLocations, ofMonitors } from "../../../src/features/monitors/checks-store";
import { latencyOfEach, sparklinesOf } from "../../../src/features/monitors/latency";
import { listLocationStates } from "../../../src/features/monitors/location-store";
import { getMonitorRecord } from "../../../src/features/monitors/records";
import { saveLiveness } from "../../../src/features/monitors/spans-store";
import { saveEvaluation } from "../../../src/features/monitors/store";
import { expectProblem } from "../../support/app";
import { addLocation } from "../../support/locations";
import { createMonitorApi, HTTP, type MonitorApi } from "../../support/monitor-api";

const PUSH = { name: "Job", type: "push", interval_seconds: 60 };

function statesOf({ app }: MonitorApi, id: string) {
  const { num } = getMonitorRecord(app.ctx.db, id).row;
  const states = listLocationStates(app.ctx.db, { nums: JSON.stringify([num]) });
  return states.toSorted((a, b) => a.num - b.num);
}

/** Creates a monitor at the server, Berlin and Oregon, with results there, and returns it with the numbers of its results. */
async function located(api: MonitorApi) {
  const { ctx } = api.app;
  const berlin = (await addLocation(api.app, "Berlin")).row.id;
  const oregon = (await addLocation(api.app, "Oregon")).row.id;
  const monitor = await api.create({ locations: ["local", "berlin", "oregon"] });
  const states = statesOf(api, monitor.id);
  const numAt = (id: string) => states.find(({ locationId }) => locationId === id)?.num ?? 0;
  const { num } = getMonitorRecord(ctx.db, monitor.id).row;
  const write = (where: string, at: number, latencyMs: number) =>
    ctx.db.write((tx) => {
      const check = { at, outcome: "ok", latencyMs, message: null } as const;
      if (where === "local") ofMonitors.insertCheck(tx, { monitorNum: num, ...check });
      else ofLocations.insertCheck(tx, { monitorNum: numAt(where), ...check });
    });
  return { monitor, num, berlin, oregon, write };
}

describe("locations of monitors", () => {
  test("a monitor is checked by the server alone unless it names locations, and then it has no further rows", async () => {
    await using api = await createMonitorApi();
    const shop = await api.create();
    expect(shop).toMatchObject({ locations: ["local"], down_when: "majority" });
    expect(shop).not.toHaveProperty("at_locations");
    expect(statesOf(api, shop.id)).toEqual([]);
    expect((await api.post(PUSH)).body).toMatchObject({ locations: [] });
  });

  test("locations are named by id or ref, shown by ref in their order, and audited", async () => {
    await using api = await createMonitorApi();
    const { row } = await addLocation(api.app, "Berlin");
    const shop = await api.create({ locations: [row.id, "local"], down_when: "any" });
    expect(shop).toMatchObject({ locations: ["berlin", "local"], down_when: "any" });
    const same = await api.patch(shop.id, { locations: ["berlin", "local"] });
    expect(same.body.version).toBe(1);
    const changed = await api.patch(shop.id, { locations: ["local"], down_when: "all" });
    expect(changed.body).toMatchObject({ locations: ["local"], down_when: "all", version: 2 });
    expect(api.app.audit().at(-1)?.summary).toBe(
      "Changed the monitor “Shop”: locations, down when",
    );
  });

  test("wrong locations are rejected, each with its error, and nothing is written", async () => {
    await using api = await createMonitorApi();
    await addLocation(api.app, "Berlin");
    const before = api.written();
    const errorsOf = async (json: object) => {
      const answer = await api.post(json);
      expectProblem(answer, "validation_failed");
      return answer.body.errors;
    };
    expect(await errorsOf({ ...HTTP, locations: ["tokyo", "berlin"] })).toEqual([
      { pointer: "#/locations/0", detail: "does not exist" },
    ]);
    expect(await errorsOf({ ...HTTP, locations: [] })).toEqual([
      { pointer: "#/locations", detail: "must have at least one entry" },
    ]);
    expect(await errorsOf({ ...PUSH, locations: ["berlin"] })).toEqual([
      { pointer: "#/locations", detail: "must be empty for the type push" },
    ]);
    const many = Array.from({ length: 11 }, (_, index) => `l${index}`);
    expect((await errorsOf({ ...HTTP, locations: many }))[0].pointer).toBe("#/locations");
    const docker = { name: "D", type: "docker", config: { host: "local", container: "web" } };
    const [error] = await errorsOf({ ...docker, locations: ["local", "berlin"] });
    expect(error.detail).toStartWith("must be local for the type docker");
    expect(api.written()).toEqual(before);
  });

  test("a monitor gets an evaluation for each location, and the server goes on where it was", async () => {
    await using api = await createMonitorApi();
    const { ctx, clock } = api.app;
    const { row } = await addLocation(api.app, "Berlin");
    const shop = await api.create();
    const { num: monitorNum, createdAt } = getMonitorRecord(ctx.db, shop.id).row;
    const down = {
      state: "down",
      since: createdAt + 5,
      failures: 3,
      failingSince: createdAt + 5,
      successes: 0,
      succeedingSince: null,
      slow: 0,
      slowSince: null,
      unreachableVia: null,
    } as const;
    await ctx.db.write((tx) => saveEvaluation(tx, { ...down, monitorNum }));
    await clock.advance(MINUTE_MS);
    await api.patch(shop.id, { locations: ["local", "berlin"] });
    const { unreachableVia: _, ...kept } = down;
    expect(statesOf(api, shop.id)).toMatchObject([
      { locationId: "local", ...kept },
      { locationId: row.id, state: "pending", since: clock.now(), failures: 0 },
    ]);
    await api.patch(shop.id, { locations: ["local"] });
    await clock.advance(MINUTE_MS);
    await api.patch(shop.id, { locations: ["berlin"] });
    const again = statesOf(api, shop.id).filter(({ locationId }) => locationId === row.id);
    expect(again).toMatchObject([{ state: "pending", since: clock.now() }]);
  });

  test("a pause pauses the evaluations at all locations, and resuming begins them again", async () => {
    await using api = await createMonitorApi();
    await addLocation(api.app, "Berlin");
    const shop = await api.create({ locations: ["local", "berlin"] });
    const states = () => statesOf(api, shop.id).map(({ state }) => state);
    await api.call(`/${shop.id}/pause`, { method: "POST" });
    expect(states()).toEqual(["paused", "paused"]);
    await api.call(`/${shop.id}/resume`, { method: "POST" });
    expect(states()).toEqual(["pending", "pending"]);
  });

  test("a single monitor shows its state at each location with the last result from there", async () => {
    await using api = await createMonitorApi();
    const { monitor, berlin, write } = await located(api);
    const at = api.app.clock.now();
    await write("local", at - 2_000, 40);
    await write(berlin, at - 1_000, 90);
    const { body } = await api.call(`/${monitor.id}`);
    expect(body.last_check).toMatchObject({ latency_ms: 90 });
    expect(body.at_locations).toMatchObject([
      { location: "local", name: "local", state: "pending", last_check: { latency_ms: 40 } },
      { location: "berlin", name: "Berlin", is_silent: false, last_check: { latency_ms: 90 } },
      { location: "oregon", name: "Oregon", is_left_out: false, last_check: null },
    ]);
    const list = await api.call();
    expect(list.body.data[0]).not.toHaveProperty("at_locations");
  });
});

test("a server that runs no checks shows the contact of agents as the one that does has stored it", async () => {
  await using api = await createMonitorApi();
  const { monitor, berlin } = await located(api);
  const { ctx, clock } = api.app;
  const contactAt = clock.now();
  const agentsAfter = async (ms: number) => {
    await ctx.db.write((tx) => {
      saveContact(tx, { id: berlin, contactAt, agentVersion: "0.3.0", offlineSince: null });
      saveLiveness(tx, { at: contactAt + ms });
    });
    const { body } = await api.call(`/${monitor.id}`);
    const [local, { is_silent: isSilent, is_left_out: isLeftOut }] = body.at_locations;
    expect(local).toMatchObject({ is_silent: false, is_left_out: false });
    return { isSilent, isLeftOut };
  };
  expect(await agentsAfter(90_000 - 1)).toEqual({ isSilent: false, isLeftOut: false });
  expect(await agentsAfter(90_000)).toEqual({ isSilent: true, isLeftOut: false });
  expect(await agentsAfter(690_000 - 1)).toEqual({ isSilent: true, isLeftOut: false });
  expect(await agentsAfter(690_000)).toEqual({ isSilent: true, isLeftOut: true });
  // While no server is there to be called, no agent is silent.
  await clock.advance(HOUR_MS);
  expect(await agentsAfter(0)).toEqual({ isSilent: false, isLeftOut: false });
});

describe("results by location", () => {
  test("the list of results has those of all locations, newest first, and each once over its pages", async () => {
    await using api = await createMonitorApi();
    const { monitor, berlin, oregon, write } = await located(api);
    const at = api.app.clock.now();
    // Three of the same millisecond.
    for (const where of ["local", berlin, oregon]) await write(where, at - 5_000, 1);
    for (const [index, where] of [berlin, "local", oregon, berlin].entries()) {
      await write(where, at - 4_000 + index, 10 + index);
    }
    const read = async (query: string) => {
      const seen: string[] = [];
      let cursor = "";
      for (;;) {
        const { body } = await api.call(`/${monitor.id}/checks?limit=2${query}${cursor}`);
        for (const one of body.data) seen.push(`${one.location} ${one.latency_ms}`);
        if (body.next_cursor === null) return seen;
        cursor = `&cursor=${body.next_cursor}`;
      }
    };
    expect(await read("")).toEqual([
      "berlin 13",
      "oregon 12",
      "local 11",
      "berlin 10",
      "local 1",
      "berlin 1",
      "oregon 1",
    ]);
    expect(await read("&location=berlin")).toEqual(["berlin 13", "berlin 10", "berlin 1"]);
    expect(await read("&location=local")).toEqual(["local 11", "local 1"]);
    expectProblem(await api.call(`/${monitor.id}/checks?location=tokyo`), "invalid_request");
  });

  test("response times are those of all locations together or of one, and a former location still counts", async () => {
    await using api = await createMonitorApi();
    const { monitor, num, berlin, oregon, write } = await located(api);
    const { db, clock } = { db: api.app.ctx.db, clock: api.app.clock };
    await clock.advance(MINUTE_MS);
    const at = clock.now();
    await write("local", at - 3_000, 10);
    await write(berlin, at - 2_000, 20);
    await write(oregon, at - 1_000, 60);
    const span = [{ from: at - HOUR_MS, to: at }];
    const average = (location?: string) => latencyOfEach(db, [num], span, location).total.avgMs;
    expect([average(), average("local"), average(berlin)]).toEqual([30, 10, 20]);
    const key = await api.app.keyWith("read:analytics");
    const answer = (query: string) =>
      api.app.call(`/api/v1/analytics/latency?monitor=${monitor.id}${query}`, { key });
    await clock.advance(SECOND_MS);
    expect((await answer("")).body.total).toMatchObject({ count: 3, avg_ms: 30 });
    expect((await answer("&location=oregon")).body.total).toMatchObject({ count: 1, avg_ms: 60 });
    expectProblem(await answer("&location=tokyo"), "invalid_request");
    await api.patch(monitor.id, { locations: ["local"] });
    expect(average()).toBe(30);
  });

  test("a sparkline has the median of the locations in each hour", async () => {
    await using api = await createMonitorApi();
    const { num, berlin, oregon } = await located(api);
    const { db, clock } = { db: api.app.ctx.db, clock: api.app.clock };
    const hour = clock.now() - (clock.now() % HOUR_MS);
    const rollup = (monitorNum: number, at: number, latencySum: number) => ({
      monitorNum,
      at,
      latencySum,
      size: HOUR_MS,
      checks: 2,
      failures: 0,
      answers: 2,
      latencyMin: 1,
      latencyMax: latencySum,
      sketch: null,
    });
    const numAt = new Map(
      listLocationStates(db, { nums: JSON.stringify([num]) }).map((own) => [
        own.locationId,
        own.num,
      ]),
    );
    await db.write((tx) => {
      const { saveRollup } = ofLocations;
      for (const [ago, berlinSum, oregonSum] of [
        [3, 200, 600],
        [2, 100, 800],
      ] as const) {
        saveRollup(tx, rollup(numAt.get(berlin) ?? 0, hour - ago * HOUR_MS, berlinSum));
        saveRollup(tx, rollup(numAt.get(oregon) ?? 0, hour - ago * HOUR_MS, oregonSum));
      }
    });
    const line = sparklinesOf(db, [num], clock.now()).get(num);
    expect(line?.of).toBe("hours");
    expect(line?.values.slice(-3)).toEqual([200, 225, null]);
  });
});
