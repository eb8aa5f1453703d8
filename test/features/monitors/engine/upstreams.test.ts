import { expect, test } from "bun:test";
import { type AlertSite, openAlertSite } from "../../../support/alert-reports";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { formOf, NEW_MONITOR } from "../../../support/monitor-dashboard";

/** Serves an installation on a port, so that another one can watch its page. */
function serve({ app }: AlertSite) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => app.app.handle(request, () => "203.0.113.7"),
  });
  return {
    page: `http://127.0.0.1:${server.port}/status/acme`,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** Lets a site watch a page. Returns the id of the monitor. */
async function watch(site: AlertSite, url: string, more: object = {}): Promise<string> {
  const json = {
    type: "upstream",
    name: "Provider",
    component_ids: [site.components["API"]],
    config: { url, components: ["Checkout"], format: "allclear" },
    ...more,
  };
  const answer = await site.app.call("/api/v1/monitors", { method: "POST", key: site.key, json });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

/** Checks a monitor now. Returns its state. */
async function check(site: AlertSite, id: string): Promise<string> {
  const path = `/api/v1/monitors/${id}/check`;
  const answer = await site.app.call(path, { method: "POST", key: site.key });
  expect(answer.status).toBe(200);
  await site.clock.advance(SECOND_MS);
  return site.state(id);
}

async function setStatus(site: AlertSite, name: string, status: string): Promise<void> {
  const key = await site.app.keyWith("write:components");
  const json = { components: { [site.components[name] ?? ""]: status } };
  const answer = await site.app.call("/api/v1/components", { method: "PATCH", key, json });
  expect(answer.status).toBe(200);
}

test("another Allclear is a provider: its component is up, degraded or down here as well", async () => {
  await using provider = await openAlertSite();
  await using site = await openAlertSite();
  using served = serve(provider);
  const id = await watch(site, served.page);
  expect(await check(site, id)).toBe("up");
  await setStatus(provider, "Checkout", "degraded_performance");
  expect(await check(site, id)).toBe("degraded");
  await setStatus(provider, "Checkout", "major_outage");
  expect(await check(site, id)).toBe("down");
  await setStatus(provider, "Checkout", "operational");
  expect(await check(site, id)).toBe("up");
});

test("a page behind which this installation itself stands is refused, also when its components are loaded", async () => {
  await using site = await openAlertSite();
  using served = serve(site);
  const id = await watch(site, served.page);
  expect(await check(site, id)).toBe("no_data");
  const path = `/api/v1/monitors/${id}`;
  const { body } = await site.app.call(path, { key: site.key });
  const reason = "The page follows from what this Allclear shows, so it says nothing new.";
  expect(body.last_check.message).toBe(reason);
  const session = await site.app.signedIn("admin");
  const { text } = await site.app.call(`${NEW_MONITOR}?type=upstream`, { session });
  const form = { ...formOf(text), name: "Own", config_url: served.page, intent: "check" };
  const tried = await site.app.call(NEW_MONITOR, { method: "POST", session, form });
  expect(tried.status).toBe(200);
  expect(tried.text).toContain(reason);
});

test("of two that watch each other, neither holds the other down", async () => {
  await using one = await openAlertSite();
  await using other = await openAlertSite();
  using served = serve(one);
  using servedOther = serve(other);
  const down = { on_down: "major_outage" };
  const first = await watch(one, servedOther.page, {
    ...down,
    component_ids: [one.components["Checkout"]],
  });
  const second = await watch(other, served.page, {
    ...down,
    component_ids: [other.components["Checkout"]],
  });
  for (let round = 0; round < 3; round += 1) {
    await check(one, first);
    await check(other, second);
    for (const { clock } of [one, other]) await clock.advance(10 * SECOND_MS);
  }
  const states = [one.state(first), other.state(second)];
  expect(states).toContain("no_data");
  await setStatus(one, "Checkout", "major_outage");
  for (let round = 0; round < 3; round += 1) {
    await check(one, first);
    await check(other, second);
    for (const { clock } of [one, other]) await clock.advance(10 * SECOND_MS);
  }
  await setStatus(one, "Checkout", "operational");
  for (let round = 0; round < 3; round += 1) {
    await check(one, first);
    await check(other, second);
    for (const { clock } of [one, other]) await clock.advance(10 * SECOND_MS);
  }
  for (const { app } of [one, other]) {
    const key = await app.keyWith("read:status");
    const { body } = await app.call("/api/v1/status/acme", { key });
    expect(body.components.map(({ status }: { status: string }) => status)).toEqual([
      "operational",
      "operational",
    ]);
  }
});

test("the answers of an installation name it and all that its providers named, and a deleted monitor is forgotten", async () => {
  await using provider = await openAlertSite();
  await using site = await openAlertSite();
  using served = serve(provider);
  const viaOf = async ({ app, clock }: AlertSite) => {
    await clock.advance(10 * SECOND_MS);
    const { headers } = await app.call("/api/v2/summary.json");
    return headers.get("allclear-via")?.split(", ") ?? [];
  };
  const [own] = await viaOf(site);
  const [behind] = await viaOf(provider);
  expect(own).not.toBe(behind);
  const id = await watch(site, served.page);
  await check(site, id);
  expect(await viaOf(site)).toEqual([own ?? "", behind ?? ""]);
  await site.app.call(`/api/v1/monitors/${id}`, { method: "DELETE", key: site.key });
  await site.clock.advance(MINUTE_MS);
  expect(await viaOf(site)).toEqual([own ?? ""]);
});
