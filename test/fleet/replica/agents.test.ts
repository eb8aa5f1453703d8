import { describe, expect, test } from "bun:test";
import { AGENT_VERSION } from "../../../src/features/locations/agent-wire";
import { VERSION } from "../../../src/version";
import { type Answer, chargeOf, expectProblem } from "../../support/app";
import { createReplicaPair } from "../../support/fleet/replica-pair";
import { createLocationSite, PROCESS, resultOf } from "../../support/location-site";

describe("an agent that talks to a replica", () => {
  test("gets its work from the primary at once, with the time of the next poll, and sends its results there", async () => {
    const site = await createLocationSite();
    await using pair = await createReplicaPair({ primary: site });
    const { id, token } = await site.addLocation("Berlin");
    const monitor = await site.addMonitor([id]);
    const ask = (etag?: string): Promise<Answer> =>
      pair.call("/api/v1/probe/work", {
        key: token,
        headers: { [AGENT_VERSION]: VERSION, ...(etag && { "if-none-match": etag }) },
      });
    const first = await ask();
    expect(first.status).toBe(200);
    expect(first.headers.get("cache-control")).toBe("no-store");
    expect(first.body).toMatchObject({ location: id, poll_after_ms: 5_000 });
    expect(first.body.monitors).toMatchObject([
      { id: monitor, config: { headers: { Authorization: "very-secret" } } },
    ]);
    // The clock of the test stands still: a poll that waits would have no answer.
    const second = await ask(first.headers.get("etag") ?? "");
    expect(second.body).not.toHaveProperty("monitors");
    const results = [resultOf(monitor, 1)];
    const sent = await pair.call("/api/v1/probe/results", {
      method: "POST",
      key: token,
      json: { process: PROCESS, results },
      headers: { [AGENT_VERSION]: VERSION },
    });
    expect(sent.body).toEqual({ taken: 1, invalid: 0 });
    expect(chargeOf(sent)).toBe("location 597");
    expect(site.taken).toEqual([{ locationId: id, process: PROCESS, results }]);
    expect(site.calls).toHaveLength(3);
    expect(pair.logged.map((line) => JSON.stringify(line)).join()).not.toContain(token);
    await site.replaceToken(id);
    expectProblem(await ask(), "invalid_key");
  });

  test("is asked to come again while there is no primary", async () => {
    const site = await createLocationSite();
    await using pair = await createReplicaPair({ primary: site });
    const { token } = await site.addLocation("Berlin");
    pair.state.address = undefined;
    const headers = { [AGENT_VERSION]: VERSION };
    expectProblem(await pair.call("/api/v1/probe/work", { key: token, headers }), "unavailable");
    const json = { process: PROCESS, results: [] };
    const post = { method: "POST", key: token, json, headers };
    expectProblem(await pair.call("/api/v1/probe/results", post), "unavailable");
  });
});
