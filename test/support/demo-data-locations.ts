import { eq } from "drizzle-orm";
import type { Actor } from "../../src/base/actor";
import { LOCAL, type MonitorState } from "../../src/base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/base/time";
import { mutate, type Tx } from "../../src/db/statements";
import { locationStates, locations } from "../../src/db/tables/locations";
import { createLocation, rotateLocationToken } from "../../src/features/locations/locations";
import { ofLocations, ofMonitors } from "../../src/features/monitors/checks-store";
import { applyTransition } from "../../src/features/monitors/engine/transitions";
import { listLocationStates } from "../../src/features/monitors/location-store";
import { newEvaluation } from "../../src/features/monitors/rules";
import { validate } from "../../src/base/validation";
import { LocationInput } from "../../src/features/locations/wire";
import { VERSION } from "../../src/version";
import type { TestApp } from "./app";
import { createMonitor } from "./examined";

/** Ids of the locations by name, and that of a monitor that is checked from some of them. */
export interface DemoLocations {
  berlin: string;
  oregon: string;
  singapore: string;
  monitor: string;
}

const setContact = mutate((orm, $: { id: string; contactAt: number; agentVersion: string }) =>
  orm
    .update(locations)
    .set({ contactAt: $.contactAt, agentVersion: $.agentVersion })
    .where(eq(locations.id, $.id)),
);

const setState = mutate((orm, $: { num: number; state: MonitorState; since: number }) =>
  orm
    .update(locationStates)
    .set({ state: $.state, since: $.since })
    .where(eq(locationStates.num, $.num)),
);

const TIMED_OUT = "Timed out connecting.";

/**
 * Adds three locations: one with a connected agent and a token that ends, one whose agent is silent, one without an
 * agent. A monitor is up from the server, down from the first and up from the second.
 */
export async function addLocations(
  { ctx, clock }: TestApp,
  now: number,
  by: Actor,
): Promise<DemoLocations> {
  const create = async (name: string, ago: number) => {
    clock.setWallClock(now - ago);
    return ctx.db.write(
      (tx) => createLocation(ctx, tx, validate(LocationInput, { name }), by).row.id,
    );
  };
  const berlin = await create("Berlin", 20 * DAY_MS);
  const oregon = await create("Oregon", 19 * DAY_MS);
  const singapore = await create("Singapore", 5 * MINUTE_MS);
  clock.setWallClock(now - 3 * DAY_MS);
  const input = {
    type: "http",
    name: "Catalogue from three locations",
    config: { url: "https://shop.northwind.example/catalogue" },
    locations: [LOCAL, "berlin", "oregon"],
  } as const;
  const row = await ctx.db.write(
    (tx) => createMonitor(ctx, tx, { ...input, locations: [...input.locations] }, by).record.row,
  );
  clock.setWallClock(now - HOUR_MS);
  await ctx.db.write((tx) => {
    rotateLocationToken(ctx, tx, berlin, "24h", by);
    setContact(tx, { id: berlin, contactAt: now - 4 * SECOND_MS, agentVersion: VERSION });
    setContact(tx, { id: oregon, contactAt: now - 5 * MINUTE_MS, agentVersion: VERSION });
    live(tx, row.num, { berlin, oregon }, now);
    const evaluation = newEvaluation("up", now - 3 * DAY_MS);
    applyTransition(ctx, tx, row, { from: "pending", evaluation, message: null });
  });
  clock.setWallClock(now);
  return { berlin, oregon, singapore, monitor: row.id };
}

function live(
  tx: Tx,
  monitorNum: number,
  { berlin, oregon }: { berlin: string; oregon: string },
  now: number,
): void {
  const states = listLocationStates(tx, { nums: JSON.stringify([monitorNum]) });
  const numAt = (id: string) => states.find(({ locationId }) => locationId === id)?.num ?? 0;
  const since = now - 3 * DAY_MS;
  const failsFor = 12 * MINUTE_MS;
  setState(tx, { num: numAt(LOCAL), state: "up", since });
  setState(tx, { num: numAt(berlin), state: "down", since: now - failsFor });
  setState(tx, { num: numAt(oregon), state: "up", since });
  for (let ago = 3 * DAY_MS; ago > 0; ago -= 5 * MINUTE_MS) {
    const at = now - ago;
    const wave = (ago / MINUTE_MS) % 37;
    const ok = { outcome: "ok", message: null } as const;
    ofMonitors.insertCheck(tx, { monitorNum, at, latencyMs: 40 + wave, ...ok });
    ofLocations.insertCheck(tx, {
      monitorNum: numAt(berlin),
      at: at + 20 * SECOND_MS,
      ...(ago < failsFor
        ? { outcome: "failed", message: TIMED_OUT, latencyMs: null }
        : { ...ok, latencyMs: 95 + wave }),
    });
    if (ago > 5 * MINUTE_MS) {
      ofLocations.insertCheck(tx, {
        monitorNum: numAt(oregon),
        at: at + 40 * SECOND_MS,
        latencyMs: 180 + 2 * wave,
        ...ok,
      });
    }
  }
}
