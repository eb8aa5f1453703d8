import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../../src/base/time";
import { createMonitoring } from "../../../../src/features/monitors/engine/engine";
import type { CreateMonitorBody } from "../../../../src/features/monitors/wire";
import { VERSION } from "../../../../src/version";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { createTestApp, type TestApp } from "../../../support/app";
import { openForm } from "../../../support/dashboard";
import { createMonitor } from "../../../support/examined";
import { readHtml } from "../../../support/html";
import { addLocation } from "../../../support/locations";

const LOCATIONS = "/admin/settings/locations";

interface Site extends AsyncDisposable {
  app: TestApp;
  session: string;
  /** Id of the only location. */
  id: string;
  call(): void;
  read(path: string): Promise<string>;
  /** Rotates the token by its form. Returns the screen that shows it. */
  rotate(): Promise<string>;
}

async function openSite(baseUrl = "https://status.test"): Promise<Site> {
  let engine: ReturnType<typeof createMonitoring> | undefined;
  const app = await createTestApp({
    env: { ALLCLEAR_BASE_URL: baseUrl },
    monitoring: (ctx) => (engine = createMonitoring(ctx)),
  });
  engine?.start();
  const { row } = await addLocation(app, "Berlin");
  const session = await app.signedIn("owner");
  const path = `${LOCATIONS}/${row.id}/rotate`;
  return {
    app,
    session,
    id: row.id,
    call: () => engine?.noteCall(row.id, VERSION),
    read: async (from) => (await app.call(from, { session })).text,
    async rotate() {
      const form = { form: await openForm(app, path, session), overlap: "now" };
      return (await app.call(path, { session, form })).text;
    },
    async [Symbol.asyncDispose]() {
      await engine?.stop();
      await app[Symbol.asyncDispose]();
    },
  };
}

describe("the agent of a location", () => {
  test("has the same state on all screens: never called, connected, silent and left out", async () => {
    await using site = await openSite();
    const { app, id } = site;
    const body = {
      name: "Shop",
      type: "http",
      config: { url: "https://shop.test/" },
      locations: [id],
    } as CreateMonitorBody;
    const { record } = await app.ctx.db.write((tx) => createMonitor(app.ctx, tx, body, CLI_ACTOR));
    const paths = [LOCATIONS, `${LOCATIONS}/${id}`, `/admin/monitors/${record.row.id}`];
    const WORDS = ["Never called", "Connected", "Silent", "Left out"];
    const words = async () =>
      Promise.all(
        paths.map(async (path) => {
          const texts = readHtml(await site.read(path)).texts("main .state");
          return texts.filter((text) => WORDS.includes(text));
        }),
      );
    const silent = async () => (await site.read("/admin/settings")).includes("1 silent");
    expect(await words()).toEqual(paths.map(() => ["Never called"]));
    await app.clock.advance(2 * MINUTE_MS);
    expect([await words(), await silent()]).toEqual([paths.map(() => ["Never called"]), false]);
    site.call();
    expect(await words()).toEqual(paths.map(() => ["Connected"]));
    await app.clock.advance(2 * MINUTE_MS);
    expect([await words(), await silent()]).toEqual([paths.map(() => ["Silent"]), true]);
    await app.clock.advance(10 * MINUTE_MS);
    expect([await words(), await silent()]).toEqual([paths.map(() => ["Left out"]), true]);
  });

  test("gets another token with all steps before its first call, and then with the step that stores it", async () => {
    await using site = await openSite();
    const before = await site.rotate();
    expect(before).toContain("1. Install Allclear on the other machine");
    expect(before).toContain("sudo /usr/local/bin/allclear probe --server https://status.test");
    site.call();
    await site.app.clock.advance(MINUTE_MS);
    const after = await site.rotate();
    expect(after).toContain("sudo install -m 600 /dev/stdin /etc/allclear-agent.token");
    expect(after).not.toContain("Install Allclear on the other machine");
    expect(after).not.toContain("allclear probe");
  });

  test("is said to refuse http:// for an address of another machine, and not for one of this machine", async () => {
    const hint = "which an agent on another machine refuses";
    await using other = await openSite("http://status.test");
    expect(
      readHtml(await other.rotate())
        .texts("main")
        .join(),
    ).toContain(hint);
    await using same = await openSite("http://127.0.0.1:8080");
    expect(
      readHtml(await same.rotate())
        .texts("main")
        .join(),
    ).not.toContain(hint);
  });
});
