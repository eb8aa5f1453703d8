import { describe, expect, test } from "bun:test";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../../src/base/time";
import { apply, linesOf } from "../../../support/apply";
import { openForm } from "../../../support/dashboard";
import { fails, openEngineSite, type EngineSite } from "../../../support/engine-site";

const LIVE = "{slug: live, name: Live, components: [{name: Shop}]}";

interface Site {
  engineSite: EngineSite;
  /** The monitor of a component on each of the pages live and old. */
  monitorId: string;
  oldPageId: string;
  /** The component on the page that stays. */
  liveComponent: string;
  key: string;
}

/** Two pages, a monitor of a component on both, and a maintenance in progress on the page old. */
async function openSite(): Promise<Site> {
  const engineSite = await openEngineSite();
  const { app, clock } = engineSite;
  await apply(app, `pages: [${LIVE}, {slug: old, name: Old, components: [{name: Mirror}]}]`);
  const key = await app.keyWith("read:status", "write:maintenance");
  const statusOf = async (slug: string) => (await app.call(`/api/v1/status/${slug}`, { key })).body;
  const {
    components: [{ id: liveComponent }],
  } = await statusOf("live");
  const {
    page,
    components: [{ id: mirror }],
  } = await statusOf("old");
  const monitor = await engineSite.monitor({
    component_ids: [liveComponent, mirror],
    failure_threshold: 1,
  });
  await clock.advance(MINUTE_MS + SECOND_MS);
  const planned = await app.call("/api/v1/maintenance", {
    method: "POST",
    key,
    json: {
      page: "old",
      name: "Upgrade",
      body: "A moment.",
      components: [mirror],
      scheduled_for: toIso(clock.now() + MINUTE_MS),
      scheduled_until: toIso(clock.now() + 60 * MINUTE_MS),
    },
  });
  const began = await app.call(`/api/v1/maintenance/${planned.body.id}/updates`, {
    method: "POST",
    key,
    json: { status: "in_progress", body: "It begins." },
  });
  expect(began.status).toBe(201);
  await clock.advance(MINUTE_MS);
  expect(engineSite.state(monitor.id)).toBe("maintenance");
  return { engineSite, monitorId: monitor.id, oldPageId: page.id, liveComponent, key };
}

async function deleteInDashboard({ engineSite: { app }, oldPageId }: Site): Promise<void> {
  const session = await app.signedIn("admin");
  const path = `/admin/pages/${oldPageId}/delete`;
  const form = { form: await openForm(app, path, session), slug: "old" };
  expect((await app.call(path, { session, form })).status).toBe(303);
}

/** Applies a file that no longer holds the page. */
async function prune({ engineSite: { app } }: Site): Promise<void> {
  const outcome = await apply(app, `pages: [${LIVE}]`, true);
  expect(linesOf(outcome)).toContain("- page old");
}

describe.each([
  ["in the dashboard", deleteInDashboard],
  ["by apply --prune", prune],
])("deleting a page %s during its maintenance", (_, remove) => {
  test("after the deletion, a monitor of another page still sets the status of its component", async () => {
    const site = await openSite();
    const { engineSite, monitorId, liveComponent, key } = site;
    await using _ = engineSite;
    await remove(site);
    engineSite.let("api.test", fails());
    await engineSite.clock.advance(2 * MINUTE_MS);
    expect(engineSite.state(monitorId)).toBe("down");
    expect(engineSite.status(liveComponent)).toBe("major_outage");
    const { body } = await engineSite.app.call("/api/v1/status/live", { key });
    expect(body.status.indicator).toBe("critical");
  });

  test("after the deletion and a restart, the monitor is not in maintenance", async () => {
    const site = await openSite();
    const { engineSite, monitorId } = site;
    await using _ = engineSite;
    await engineSite.stop();
    await remove(site);
    engineSite.let("api.test", fails());
    await engineSite.start();
    await engineSite.clock.advance(2 * MINUTE_MS);
    expect(engineSite.state(monitorId)).toBe("down");
  });
});
