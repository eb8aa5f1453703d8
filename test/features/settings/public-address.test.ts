import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Ctx } from "../../../src/context";
import {
  followSettings,
  readPublicAddress,
  setPublicAddress,
} from "../../../src/features/settings/settings";
import { createSnapshots } from "../../../src/features/status/snapshots";
import { CLI_ACTOR } from "../../../src/base/actor";
import {
  fieldErrorsOf,
  openPeopleInstallation,
  type PeopleInstallation,
} from "../../support/user-installation";
import { temporaryFolder } from "../../support/temporary-folder";
import { createPage } from "../../support/examined";

const ADDRESS = "https://status.acme.test";

function set(installation: PeopleInstallation, text: string, ctx: Ctx = installation.ctx) {
  return ctx.db.write((tx) => setPublicAddress(ctx, tx, text, CLI_ACTOR));
}

/** Creates a page and returns a function that reads its URL. A signal applies the settings, as in the server. */
async function shownAddress(installation: PeopleInstallation): Promise<() => string | undefined> {
  await installation.write((tx) =>
    createPage(installation.ctx, tx, { slug: "acme", name: "Acme" }, CLI_ACTOR),
  );
  installation.ctx.signals.settingsChanged.on(() => followSettings(installation.ctx));
  const snapshots = createSnapshots(installation.ctx);
  return () => snapshots.read("acme", installation.clock.now())?.document.page.url;
}

describe("the public address", () => {
  test.each([
    [ADDRESS, ADDRESS],
    ["http://nas", "http://nas"],
    ["https://status.acme.test:8443/", "https://status.acme.test:8443"],
    [" HTTPS://Status.ACME.test ", ADDRESS],
  ])("the public address %p is stored as %p with an audit entry", async (text, kept) => {
    await using installation = openPeopleInstallation();
    expect(readPublicAddress(installation.ctx.db)).toBeUndefined();
    expect(await set(installation, text)).toBe(kept);
    expect(readPublicAddress(installation.ctx.db)).toBe(kept);
    expect(installation.ctx.baseUrl).toBe(kept);
    expect(installation.audit()).toMatchObject([
      {
        action: "settings.public_address",
        actor_kind: "cli",
        target_id: "public_address",
        summary: `Set the public address to ${kept}`,
      },
    ]);
  });

  test.each([
    ["https://acme.test/status", "must be an address without path or query"],
    ["https://acme.test/?a=b", "must be an address without path or query"],
    ["https://acme.test/#top", "must be an address without path or query"],
    ["https://ada:secret@acme.test", "must be an address without path or query"],
    ["http://x;{touch,pwned};", "must name a host"],
    ["https://$(id).acme.test", "must name a host"],
    ["ftp://acme.test", "must begin with http:// or https://"],
    ["javascript:alert(1)", "must begin with http:// or https://"],
    ["acme.test", "must be a URL"],
    ["", "must be a URL"],
  ])("the public address %p is rejected, and the previous one is kept", async (text, detail) => {
    await using installation = openPeopleInstallation();
    await set(installation, ADDRESS);
    const { ctx } = installation;
    const rejection = await installation.rejectionFrom((tx) =>
      setPublicAddress(ctx, tx, text, CLI_ACTOR),
    );
    expect(fieldErrorsOf(rejection)).toEqual({
      "#/public_address": expect.stringContaining(detail),
    });
    expect([readPublicAddress(ctx.db), ctx.baseUrl]).toEqual([ADDRESS, ADDRESS]);
  });

  test("a new public address is used in links at once and signalled once", async () => {
    await using installation = openPeopleInstallation();
    const shown = await shownAddress(installation);
    let signalCount = 0;
    installation.ctx.signals.settingsChanged.on(() => (signalCount += 1));
    expect(shown()).toBe("http://127.0.0.1:8080/status/acme");
    await set(installation, ADDRESS);
    expect([shown(), signalCount]).toEqual([`${ADDRESS}/status/acme`, 1]);
    await set(installation, "https://other.acme.test");
    expect([shown(), signalCount]).toEqual(["https://other.acme.test/status/acme", 2]);
  });

  test("setting the current public address again changes nothing", async () => {
    await using installation = openPeopleInstallation();
    await set(installation, ADDRESS);
    let signalCount = 0;
    installation.ctx.signals.settingsChanged.on(() => (signalCount += 1));
    expect(await set(installation, `${ADDRESS}/`)).toBe(ADDRESS);
    expect([signalCount, installation.audit().length]).toEqual([0, 1]);
  });

  test("a public address that is rolled back is not used", async () => {
    await using installation = openPeopleInstallation();
    const { ctx } = installation;
    const undone = ctx.db.write((tx) => {
      setPublicAddress(ctx, tx, ADDRESS, CLI_ACTOR);
      throw new Error("undone");
    });
    expect(await undone.catch((error: Error) => error.message)).toBe("undone");
    expect([readPublicAddress(ctx.db), ctx.baseUrl]).toEqual([undefined, "http://127.0.0.1:8080"]);
  });

  test("--base-url overrides the stored public address, which is used again without it", async () => {
    await using installation = openPeopleInstallation();
    const { ctx } = installation;
    const unset = ctx.config;
    ctx.config = { ...unset, baseUrl: "https://flag.acme.test" };
    const shown = await shownAddress(installation);
    await set(installation, ADDRESS);
    expect(shown()).toBe("https://flag.acme.test/status/acme");
    expect(readPublicAddress(ctx.db)).toBe(ADDRESS);
    ctx.config = unset;
    ctx.signals.settingsChanged.emit();
    expect(shown()).toBe(`${ADDRESS}/status/acme`);
  });

  test("links without a public address use the listening address", async () => {
    await using installation = openPeopleInstallation();
    const { ctx } = installation;
    const shown = await shownAddress(installation);
    for (const [host, url] of [
      ["0.0.0.0", "http://localhost:8081"],
      ["::1", "http://[::1]:8081"],
    ] as const) {
      ctx.config = { ...ctx.config, listen: { host, port: 8081 } };
      ctx.signals.settingsChanged.emit();
      expect(shown()).toBe(`${url}/status/acme`);
    }
  });

  test("a public address set by another process is used once that is noticed", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    await using installation = openPeopleInstallation(path);
    await using other = openPeopleInstallation(path);
    const shown = await shownAddress(installation);
    expect(shown()).toBe("http://127.0.0.1:8080/status/acme");
    const before = installation.ctx.db.foreignVersion();
    await set(other, ADDRESS);
    expect(installation.ctx.db.foreignVersion()).not.toBe(before);
    installation.ctx.signals.databaseChangedElsewhere.emit();
    expect(shown()).toBe(`${ADDRESS}/status/acme`);
  });
});
