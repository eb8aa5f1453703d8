import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { MINUTE_MS } from "../../../../src/base/time";
import { createLocation } from "../../../../src/features/locations/locations";
import { createMonitoring } from "../../../../src/features/monitors/engine/engine";
import { VERSION } from "../../../../src/version";
import { createTestApp } from "../../../support/app";
import { readHtml } from "../../../support/html";

test("the overview names an agent that has called and does not any longer, until it calls again", async () => {
  let engine: ReturnType<typeof createMonitoring> | undefined;
  await using app = await createTestApp({
    monitoring: (ctx) => (engine = createMonitoring(ctx)),
  });
  const { ctx, clock } = app;
  await app.page();
  engine?.start();
  const [berlin] = await Promise.all(
    ["Berlin", "Oregon"].map((name) =>
      ctx.db.write((tx) => createLocation(ctx, tx, { name } as never, CLI_ACTOR).row),
    ),
  );
  const session = await app.signedIn("viewer");
  const notices = async () =>
    readHtml((await app.call("/admin", { session })).text).texts("#agents .notice");
  const id = berlin?.id ?? "";
  engine?.noteCall(id, VERSION);
  await clock.advance(MINUTE_MS);
  expect(await notices()).toEqual([]);
  await clock.advance(MINUTE_MS);
  // The agent of Oregon has never called: it is not set up yet.
  const [notice = "", ...others] = await notices();
  expect(others).toEqual([]);
  expect(notice).toContain("The agent of Berlin is silent");
  expect(notice).toContain("11.5 minutes after its last call the location is left out.");
  await clock.advance(10 * MINUTE_MS);
  expect((await notices()).join()).toContain("Its location is left out");
  engine?.noteCall(id, VERSION);
  expect(await notices()).toEqual([]);
  await engine?.stop();
});
