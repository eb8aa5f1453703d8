import { expect, test } from "bun:test";
import { deletePage } from "../../../../src/features/pages";
import { deleteIncident } from "../../../../src/features/incidents";
import { deleteComponent } from "../../../../src/features/components";
import { deleteMonitor, pauseMonitor } from "../../../../src/features/monitors";
import { updateMonitor } from "../../../../src/features/monitors";
import { CLI_ACTOR } from "../../../../src/kernel/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/kernel/time";
import { answers, fails, openWatch } from "../../../support/watch";

async function site(more = {}) {
  const watch = await openWatch();
  const { page, components } = await watch.app.page({}, ["API", "Web"]);
  const { id } = await watch.monitor({ component_ids: [components["API"] ?? ""], failure_threshold: 2, open_incident: "automatic", ...more });
  await watch.clock.advance(MINUTE_MS);
  return { watch, page, api: components["API"] ?? "", web: components["Web"] ?? "", id };
}
const errs = (w: any) => w.app.logged.filter((l: any) => Number(l.level) >= 50).map((l: any) => JSON.stringify(l).slice(0, 600));

for (const what of ["page", "incident", "component"] as const)
test(`${what} deleted while down, then recovery`, async () => {
  const { watch, page, api, id } = await site();
  await using _ = watch;
  const { app } = watch;
  watch.let("api.test", fails());
  await watch.clock.advance(2 * MINUTE_MS);
  expect(watch.state(id)).toBe("down");
  const inc = app.events().find((e: any) => e.type === "incident.created")?.subjectId ?? "";
  await app.ctx.db.write((tx) => what === "page" ? deletePage(app.ctx, tx, page.id, CLI_ACTOR) : what === "incident" ? deleteIncident(app.ctx, tx, inc, CLI_ACTOR) : deleteComponent(app.ctx, tx, api, CLI_ACTOR));
  console.log(what, watch.marks(page.id));
  watch.let("api.test", answers());
  await watch.clock.advance(2 * MINUTE_MS);
  console.log(watch.state(id), watch.told(), watch.timeline(id), watch.marks(page.id), errs(watch));
  watch.let("api.test", fails());
  await watch.clock.advance(2 * MINUTE_MS);
  console.log(watch.state(id), watch.told(), watch.marks(page.id), errs(watch));
});

test("clock forward a day and back", async () => {
  const { watch, page, api, id } = await site();
  await using _ = watch;
  const before = watch.clock.now();
  watch.clock.setWallClock(before + DAY_MS);
  await watch.clock.advance(2 * MINUTE_MS);
  watch.clock.setWallClock(before + 4 * MINUTE_MS);
  await watch.clock.advance(2 * MINUTE_MS);
  watch.let("api.test", fails());
  await watch.clock.advance(3 * MINUTE_MS);
  console.log(watch.state(id), watch.status(api), watch.told(), watch.timeline(id), watch.marks(page.id), errs(watch));
  watch.let("api.test", answers());
  await watch.clock.advance(3 * MINUTE_MS);
  console.log(watch.state(id), watch.status(api), watch.told(), watch.timeline(id), watch.marks(page.id), errs(watch));
  watch.let("api.test", fails());
  await watch.clock.advance(3 * MINUTE_MS);
  console.log(watch.state(id), watch.status(api), watch.told(), watch.timeline(id), watch.marks(page.id), errs(watch));
  await watch.clock.advance(25 * HOUR_MS);
  console.log(watch.state(id), watch.status(api), watch.told(), watch.timeline(id), watch.marks(page.id), errs(watch));
});

test("moved while down, then paused", async () => {
  const { watch, page, api, web, id } = await site();
  await using _ = watch;
  const { app } = watch;
  watch.let("api.test", fails());
  await watch.clock.advance(2 * MINUTE_MS);
  await app.ctx.db.write((tx) => updateMonitor(app.ctx, tx, id, { component_ids: [web] }, CLI_ACTOR));
  await watch.clock.advance(MINUTE_MS);
  console.log(watch.status(api), watch.status(web), watch.marks(page.id));
  await app.ctx.db.write((tx) => updateMonitor(app.ctx, tx, id, { component_ids: [] }, CLI_ACTOR));
  await watch.clock.advance(MINUTE_MS);
  console.log(watch.status(api), watch.status(web), watch.marks(page.id));
  await app.ctx.db.write((tx) => pauseMonitor(app.ctx, tx, id, CLI_ACTOR));
  await watch.clock.advance(MINUTE_MS);
  await app.ctx.db.write((tx) => deleteMonitor(app.ctx, tx, id, CLI_ACTOR));
  await watch.clock.advance(MINUTE_MS);
  console.log(watch.status(api), watch.status(web), watch.marks(page.id), errs(watch));
});
test("no_data then moved, restart while down", async () => {
  const { watch, page, api, web, id } = await site();
  await using _ = watch;
  const { app } = watch;
  watch.let("api.test", fails());
  await watch.clock.advance(2 * MINUTE_MS);
  watch.kill();
  await watch.clock.advance(10 * MINUTE_MS);
  await app.ctx.db.write((tx) => updateMonitor(app.ctx, tx, id, { component_ids: [web] }, CLI_ACTOR));
  console.log("moved while dead", watch.state(id), watch.status(api), watch.status(web), watch.marks(page.id));
  await watch.start();
  console.log(watch.state(id), watch.status(api), watch.status(web), watch.marks(page.id), watch.noData(page.id));
  await app.ctx.db.write((tx) => updateMonitor(app.ctx, tx, id, { component_ids: [api] }, CLI_ACTOR));
  await watch.clock.advance(5 * SECOND_MS);
  console.log(watch.state(id), watch.status(api), watch.status(web), watch.marks(page.id), watch.noData(page.id));
  await watch.clock.advance(5 * MINUTE_MS);
  console.log(watch.state(id), watch.status(api), watch.status(web), watch.marks(page.id), watch.noData(page.id), watch.timeline(id), errs(watch));
});
