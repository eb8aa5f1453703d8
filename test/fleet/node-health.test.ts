import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/base/config/load";
import { SCHEMA_VERSION } from "../../src/db/migrations";
import { nodeHealthRoutes } from "../../src/fleet/health-routes";
import { createReadiness } from "../../src/http/health";
import { createTestApp, expectProblem } from "../support/app";
import { createReplicaPair, FLEET_SECRET } from "../support/fleet/replica-pair";

const FIELDS = {
  role: "replica",
  term: 3,
  txid: "000000000000002a",
  as_of: "2026-03-10T12:00:00.000Z",
  lag_seconds: 90,
  schema: SCHEMA_VERSION,
};

describe("health checks of a replica", () => {
  test("it is ready whatever its lag, and shows role, term, transaction, time and schema", async () => {
    await using pair = await createReplicaPair();
    pair.state.txid = 42;
    await pair.primary.clock.advance(90_000);
    pair.state.address = undefined;
    const ready = await pair.call("/readyz");
    expect(ready.status).toBe(200);
    expect(ready.body).toEqual({ status: "ok", writable: false, reason: null, ...FIELDS });
    const api = await pair.call("/readyz/api");
    expect([api.status, api.body]).toEqual([200, { status: "ok", ...FIELDS }]);
  });

  test("it is not the primary, and stores nothing", async () => {
    await using pair = await createReplicaPair();
    expectProblem(await pair.call("/readyz/primary"), "unavailable");
  });

  test("it is not ready for the API while it cannot know of revoked keys, and still for pages", async () => {
    await using pair = await createReplicaPair();
    pair.state.acceptsKeys = false;
    const api = await pair.call("/readyz/api");
    expectProblem(api, "unavailable");
    expect(api.headers.get("retry-after")).toBe("2");
    expect((await pair.call("/readyz")).status).toBe(200);
  });

  test("it is not ready while it shuts down", async () => {
    await using pair = await createReplicaPair();
    pair.readiness.isDraining = true;
    for (const path of ["/readyz", "/readyz/api", "/readyz/primary"]) {
      expectProblem(await pair.call(path), "unavailable");
    }
    expect((await pair.call("/healthz")).status).toBe(200);
  });

  test("before the first transaction its fields are null", async () => {
    await using pair = await createReplicaPair();
    pair.state.asOf = undefined;
    const { body } = await pair.call("/readyz");
    expect([body.as_of, body.lag_seconds]).toEqual([null, null]);
  });
});

describe("health checks of a primary", () => {
  test("it is ready for everything, and says that it is the primary", async () => {
    await using app = await createTestApp();
    const readiness = createReadiness();
    const state = { role: "primary", term: 4, txid: 7, asOf: app.clock.now(), schema: 19 } as const;
    const routes = nodeHealthRoutes(app.ctx, readiness, () => ({
      ...state,
      apiProblem: undefined,
    }));
    for (const { handle } of routes) {
      const answer = await handle();
      expect(await answer.json()).toMatchObject({ status: "ok", role: "primary", term: 4 });
    }
    expect(readiness.nodeFields?.()).not.toHaveProperty("writable");
  });

  test("one machine has neither the fields nor the further checks", async () => {
    await using app = await createTestApp();
    expect((await app.call("/readyz")).body).toEqual({
      status: "ok",
      writable: true,
      reason: null,
    });
    expectProblem(await app.call("/readyz/api"), "not_found");
    expectProblem(await app.call("/readyz/primary"), "not_found");
  });
});

describe("the options of nodes", () => {
  const load = (env: Record<string, string>, flags = {}) => loadConfig(flags, env);

  test("a secret of 32 characters and addresses are taken", () => {
    const loaded = load(
      { ALLCLEAR_FLEET_SECRET: FLEET_SECRET },
      { fleetListen: "10.0.0.5:8081", fleetAddress: "http://10.0.0.5:8081" },
    );
    expect(loaded).toMatchObject({
      config: {
        fleetSecret: FLEET_SECRET,
        fleetListen: { host: "10.0.0.5", port: 8081 },
        fleetAddress: "http://10.0.0.5:8081",
      },
    });
  });

  test("a short secret, and addresses without what they need, are refused without the secret", () => {
    const short = load({ ALLCLEAR_FLEET_SECRET: "geheim" });
    expect(short).toEqual({
      problems: ["ALLCLEAR_FLEET_SECRET must have at least 32 characters."],
    });
    expect(load({}, { fleetListen: ":8081" })).toEqual({
      problems: [
        "ALLCLEAR_FLEET_SECRET is required with --fleet-listen.",
        "--fleet-address is required with --fleet-listen.",
      ],
    });
    expect(load({}, { fleetAddress: "http://10.0.0.5" })).toEqual({
      problems: ["--fleet-listen is required with --fleet-address."],
    });
  });
});
