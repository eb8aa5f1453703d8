import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { OperatorError } from "../../src/db/errors";
import { readUptimeKuma } from "../../src/imports/uptime-kuma/read";
import { monitorNamed, readFixture } from "../support/kuma-fixture";
import { temporaryFolder } from "../support/temporary-folder";

const found = await readFixture("1.23.17", "json");
const ofDatabase = await readFixture("1.23.17");

/** Reads a file with the given text. */
async function readText(text: string) {
  using folder = temporaryFolder();
  const path = join(folder.path, "backup.json");
  await Bun.write(path, text);
  return await readUptimeKuma(path);
}

const backup = (more: object) =>
  JSON.stringify({ version: "1.23.17", notificationList: [], monitorList: [], ...more });

describe("a JSON backup of Uptime Kuma 1.23.17", () => {
  test("has only fields and types that are known, but for the planted type", () => {
    expect(found.notRead).toEqual(["monitor type of-the-future"]);
    expect(found.fingerprint).toBeNull();
  });

  test("gives the monitors of the database, without proxies, Docker hosts and pages", () => {
    expect(found.monitors).toHaveLength(ofDatabase.monitors.length);
    for (const { body, tokens, changes, disabled, held } of found.monitors) {
      const { name } = body;
      if (["Request", "SOCKS", "Container", "Container on the NAS"].includes(name)) continue;
      const same = monitorNamed(ofDatabase, name);
      const { config: _, ...settings } = body;
      const { config: __, ...others } = same.body;
      expect(settings as object).toEqual(others as object);
      // Its settings, such as the days before the expiry of a certificate, are only in the database.
      const withoutDays = { certificate_warning_days: undefined };
      if (held === undefined) {
        expect({ ...body.config, ...withoutDays }).toEqual({ ...same.body.config, ...withoutDays });
      }
      expect([name, tokens, changes, disabled, held]).toEqual([
        name,
        same.tokens,
        same.changes,
        same.disabled,
        same.held,
      ]);
    }
  });

  test("switches off what it has only by its id", () => {
    expect(monitorNamed(found, "Request").disabled).toContain("does not say what its proxy is");
    expect(monitorNamed(found, "Container")).toMatchObject({
      body: { config: { host: "docker-1" } },
      disabled: expect.stringContaining("docker-1") as string,
    });
  });

  test("gives webhooks for the same monitors", () => {
    const summary = (list: typeof found.webhooks) =>
      list.map(({ body, monitors }) => [body.description, body.url, monitors]);
    expect(summary(found.webhooks)).toEqual(summary(ofDatabase.webhooks));
  });

  test("has proxies in older versions", async () => {
    const proxy = { id: 7, protocol: "http", host: "proxy.test", port: 80, auth: 0, active: true };
    const monitor = { id: 1, name: "Shop", type: "http", url: "http://shop.test", proxyId: 7 };
    const { monitors } = await readText(backup({ proxyList: [proxy], monitorList: [monitor] }));
    expect(monitors[0]?.body.config).toMatchObject({ proxy: { url: "http://proxy.test:80" } });
  });

  test("names fields that this version does not know", async () => {
    const { notRead } = await readText(backup({ monitorList: [{ id: 1, newField: 1 }], more: 1 }));
    expect(notRead).toEqual(["monitorList[].newField", "more"]);
  });

  test.each([
    ["{", "it is no JSON object"],
    ['{"monitorList": []}', "its field version is required"],
    [backup({ monitorList: [{ name: "Without an id" }] }), "its field monitorList/0/id"],
    ["[]", "is no SQLite database"],
  ])("is refused if it is %s", async (text, reason) => {
    const error = await readText(text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OperatorError);
    expect((error as Error).message).toContain(reason);
  });
});
