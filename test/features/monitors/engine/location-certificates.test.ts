import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { DAY_MS, SECOND_MS } from "../../../../src/base/time";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { openEngineSite } from "../../../support/engine-site";
import { updateMonitor } from "../../../support/examined";
import { addAgent } from "../../../support/location-agents";

test("the expiry of a certificate that an agent saw is that of the monitor, with and without local", async () => {
  await using site = await openEngineSite();
  const { ctx } = site.app;
  const berlin = await addAgent(site, "berlin");
  const { id } = await site.monitor({ locations: [berlin.id] });
  await site.clock.advance(SECOND_MS);
  const expiry = () => getMonitorRecord(ctx.db, id).state.certificateExpiresAt;
  const seen = (expires_at: number) => ({
    certificate: { host: "api.test", fingerprint: "ab".repeat(32), expires_at },
  });
  expect(expiry()).toBeNull();
  const first = site.clock.now() + 5 * DAY_MS;
  await berlin.send(id, seen(first));
  expect(expiry()).toBe(first);
  expect(site.eventTypes()).toEqual(["monitor.certificate_expiring"]);
  await ctx.db.write((tx) =>
    updateMonitor(ctx, tx, id, { locations: ["local", berlin.id] }, CLI_ACTOR),
  );
  await site.clock.advance(SECOND_MS);
  // A result without a certificate leaves the last one.
  await berlin.report(id, ".");
  expect(expiry()).toBe(first);
  const renewed = first + 90 * DAY_MS;
  await berlin.send(id, seen(renewed));
  expect(expiry()).toBe(renewed);
  expect(site.eventTypes()).toEqual(["monitor.certificate_expiring"]);
});
