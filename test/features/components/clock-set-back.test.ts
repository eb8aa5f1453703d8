import { expect, test } from "bun:test";
import { HOUR_MS } from "../../../src/base/time";
import { createComponentSite } from "../../support/component-site";

test("a status can be changed after the clock was set back before the last change", async () => {
  await using site = await createComponentSite();
  await site.patch({ json: { status: "major_outage" } });
  const { clock } = site.app;
  clock.setWallClock(clock.now() - HOUR_MS);
  const { status, body } = await site.patch({ json: { status: "operational" } });
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "operational", causes: [] });
});
