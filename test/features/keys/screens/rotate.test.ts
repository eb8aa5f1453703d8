import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../../support/app";
import {
  actionsOf,
  KEYS,
  keysOf,
  openForm,
  revealedValue,
  statusWith,
} from "../../../support/dashboard";
import { createKeyDashboard } from "../../../support/key-dashboard";
import { readHtml, typedIn } from "../../../support/html";

const HOUR = 60 * 60 * 1_000;

async function withKey() {
  const dashboard = await createKeyDashboard();
  const { app, session, path } = dashboard;

  /** Rotates the key by its form and returns the new value. */
  async function rotate(overlap: string): Promise<string> {
    const form = { form: await openForm(app, `${path}/rotate`, session), overlap };
    return revealedValue(await app.call(`${path}/rotate`, { session, form }));
  }

  const statuses = async (...values: string[]) =>
    Promise.all(values.map((it) => statusWith(app, it)));
  return { ...dashboard, rotate, statuses };
}

describe("rotating a key", () => {
  test("rotating a key with immediate end leaves only the new value", async () => {
    await using installation = await withKey();
    const fresh = await installation.rotate("now");
    expect(fresh).not.toBe(installation.value);
    expect(await installation.statuses(installation.value, fresh)).toEqual([401, 200]);
    const answer = await installation.app.call("/api/v1/key", { key: installation.value });
    expect(expectProblem(answer, "expired_key").detail).toContain("replaced");
  });

  for (const [overlap, ms] of [
    ["1h", HOUR],
    ["24h", 24 * HOUR],
    ["7d", 7 * 24 * HOUR],
  ] as const) {
    test(`rotating a key with an overlap of ${overlap} keeps both values until it ends, then only the new one`, async () => {
      await using installation = await withKey();
      const { app, value, statuses } = installation;
      const fresh = await installation.rotate(overlap);
      expect(await statuses(value, fresh)).toEqual([200, 200]);
      await app.clock.advance(ms - 1);
      expect(await statuses(value, fresh)).toEqual([200, 200]);
      await app.clock.advance(1);
      expect(await statuses(value, fresh)).toEqual([401, 200]);
    });
  }

  test("rotating a key keeps id, name, scopes, limit, expiry and bucket", async () => {
    await using installation = await withKey();
    const { app, value } = installation;
    const before = (await app.call("/api/v1/key", { key: value })).body;
    const fresh = await installation.rotate("1h");
    const after = (await app.call("/api/v1/key", { key: fresh })).body;
    for (const same of ["id", "name", "scopes", "rate_limit", "expires_at", "created_at"]) {
      expect(after[same]).toEqual(before[same]);
    }
    expect(after.start).not.toBe(before.start);
    expect(after.remaining).toBe(before.remaining - 1);
    expect(keysOf(app)).toHaveLength(1);
    expect(app.audit().at(-1)).toMatchObject({ action: "key.rotate", targetId: installation.id });
  });

  test("the form to rotate a key proposes an overlap of a day and shows the last use of the value", async () => {
    await using installation = await withKey();
    const { app, session, path, value } = installation;
    const unused = await app.call(`${path}/rotate`, { session });
    expect(typedIn(unused.text, "overlap")).toEqual(["24h"]);
    expect(readHtml(unused.text).texts(".dialog-body p")[0]).toContain("never used");
    await statusWith(app, value);
    const used = await app.call(`${path}/rotate`, { session });
    expect(readHtml(used.text).texts(".dialog-body p")[0]).toContain("last used");
  });

  for (const overlap of ["", "2h", "forever", "__proto__", "toString", "0"]) {
    test(`rotating a key with the overlap “${overlap}” is rejected with an error, and nothing is written`, async () => {
      await using installation = await withKey();
      const { app, session, path, value } = installation;
      const before = { keys: keysOf(app), audit: app.audit() };
      const answer = await app.call(`${path}/rotate`, { session, form: { overlap } });
      expect(answer.status).toBe(422);
      expect(readHtml(answer.text).texts("#field-overlap-error")).toEqual([
        "Select when the old value ends.",
      ]);
      expect({ keys: keysOf(app), audit: app.audit() }).toEqual(before);
      expect(await statusWith(app, value)).toBe(200);
    });
  }
});

describe("the old value of a rotated key", () => {
  test("an old value can be ended early, and the new value keeps working", async () => {
    await using installation = await withKey();
    const { app, session, path, value, statuses } = installation;
    const fresh = await installation.rotate("7d");
    const page = await app.call(path, { session });
    expect(page.text).toContain("This value was never used, so you can end it safely.");
    const answer = await app.call(`${path}/end-old-value`, { session, form: {} });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, path]);
    expect(await statuses(value, fresh)).toEqual([401, 200]);
    expect(actionsOf(app).at(-1)).toBe("key.end_old_value");
    const after = readHtml((await app.call(path, { session })).text);
    expect(after.attributes("form", "action")).not.toContain(`${path}/end-old-value`);
    expect(after.texts("tbody tr").filter((row) => row.includes("Ended"))).toHaveLength(1);
  });

  test("the last use of an old value is shown, even if it was a second ago", async () => {
    await using installation = await withKey();
    const { app, session, path, value } = installation;
    await installation.rotate("7d");
    await statusWith(app, value);
    await app.clock.advance(1_000);
    const { text } = await app.call(path, { session });
    expect(text).toContain("a program may still need this value");
    expect(text).not.toContain("safe to end now");
  });

  test("ending an old value twice is audited once, and ending none writes nothing", async () => {
    await using installation = await withKey();
    const { app, session, path, value, statuses } = installation;
    const end = () => app.call(`${path}/end-old-value`, { session, form: {} });
    const before = app.audit();
    expect((await end()).status).toBe(303);
    expect(app.audit()).toEqual(before);
    expect(await statusWith(app, value)).toBe(200);
    const fresh = await installation.rotate("1h");
    await Promise.all([end(), end()]);
    expect(actionsOf(app).filter((action) => action === "key.end_old_value")).toHaveLength(1);
    expect(await statuses(value, fresh)).toEqual([401, 200]);
  });

  test("revoking a key ends its old and its new value", async () => {
    await using installation = await withKey();
    const { app, session, path, value, statuses } = installation;
    const fresh = await installation.rotate("7d");
    await app.call(`${path}/revoke`, { session, form: {} });
    expect(await statuses(value, fresh)).toEqual([401, 401]);
  });

  test("the list of keys shows an old value until it ends", async () => {
    await using installation = await withKey();
    const { app, session } = installation;
    await installation.rotate("1h");
    const row = async () => readHtml((await app.call(KEYS, { session })).text).texts("tbody tr")[0];
    expect(await row()).toContain("Old value ends in");
    await app.clock.advance(HOUR);
    expect(await row()).not.toContain("Old value");
  });
});
