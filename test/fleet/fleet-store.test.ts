import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/base/config/load";
import { type FleetStore, probeStore } from "../../src/fleet/store";
import { systemRandom } from "../../src/base/hash";
import { createMemoryStore } from "../support/fleet/memory-store";
import { createTestLog } from "../support/log";

function createProbe() {
  const store = createMemoryStore();
  const { log, lines } = createTestLog("warn");
  const probe = (isAutomatic: boolean) =>
    probeStore({ leader: store } as unknown as FleetStore, {
      random: systemRandom,
      log,
      isAutomatic,
    });
  return { lines, probe, store };
}

describe("the probe of a store", () => {
  test("leaves nothing behind", async () => {
    const { lines, probe, store } = createProbe();
    await probe(true);
    expect([...store.objects.keys()]).toEqual([]);
    expect(lines).toEqual([]);
  });

  test("refuses automatic failover, and warns otherwise, if conditions are ignored", async () => {
    const { lines, probe, store } = createProbe();
    const { put } = store;
    store.put = (key, bytes) => put(key, bytes);
    await expect(probe(true)).rejects.toThrow("--failover automatic cannot be used");
    await probe(false);
    expect(lines.map(({ msg }) => msg)).toEqual([expect.stringContaining("If-None-Match")]);
    expect([...store.objects.keys()]).toEqual([]);
  });

  test.each([
    [0, "starts"],
    [-2_500, "warns"],
    [59_000, "warns"],
    [60_000, "fails"],
    [-3_600_000, "fails"],
  ])("with a clock that is %p ms off %s", async (skewMs, outcome) => {
    const { lines, probe, store } = createProbe();
    store.clockSkewMs = () => skewMs;
    if (outcome === "fails") await expect(probe(false)).rejects.toThrow("differ by");
    else await probe(false);
    expect(lines.length).toBe(outcome === "warns" ? 1 : 0);
  });
});

describe("the options of a fleet", () => {
  const problemsOf = (env: Record<string, string>) => {
    const loaded = loadConfig({}, env);
    return "problems" in loaded ? loaded.problems : [];
  };
  const BUCKET = {
    ALLCLEAR_FLEET_STORE: "s3://bucket/fleet?endpoint=https://storage.example.com",
    ALLCLEAR_FLEET_STORE_KEY_ID: "id",
    ALLCLEAR_FLEET_STORE_SECRET: "secret",
    ALLCLEAR_FLEET_SECRET: "a secret with at least 32 characters",
  };

  test("are valid together", () => {
    expect(problemsOf({ ...BUCKET, ALLCLEAR_FAILOVER: "automatic" })).toEqual([]);
    expect(problemsOf({ ...BUCKET, ALLCLEAR_FLEET_STORE: "file:///var/fleet" })).toEqual([]);
  });

  test("need credentials for a bucket", () => {
    const { ALLCLEAR_FLEET_STORE_SECRET: _, ...rest } = BUCKET;
    expect(problemsOf(rest)).toEqual(["ALLCLEAR_FLEET_STORE_SECRET is required with a bucket."]);
  });

  test("exclude automatic failover with a folder", () => {
    const env = { ALLCLEAR_FLEET_STORE: "file:///var/fleet", ALLCLEAR_FAILOVER: "automatic" };
    expect(problemsOf({ ...BUCKET, ...env })).toEqual([
      "ALLCLEAR_FAILOVER must be manual with a folder as the store.",
    ]);
  });

  test("never show a secret in an error", () => {
    const secret = "\u0007bell-in-secret";
    const problems = problemsOf({ ...BUCKET, ALLCLEAR_FLEET_STORE_SECRET: secret });
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain("bell-in-secret");
  });
});
