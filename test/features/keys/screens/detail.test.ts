import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../../support/app";
import {
  actionsOf,
  HTML,
  KEYS,
  keysOf,
  NEW_KEY,
  openForm,
  sendEdit,
  statusWith,
} from "../../../support/dashboard";
import { createKeyDashboard } from "../../../support/key-dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const DAY = 24 * 60 * 60 * 1_000;

describe("changing a key's name and limit", () => {
  test("changing a key's name and limit applies from its next request, is confirmed once and is audited", async () => {
    await using installation = await createKeyDashboard();
    const { app, session, path, value } = installation;
    const form = { name: "Deploy bot 2", rate_limit: "1,200" };
    const answer = await sendEdit(app, path, { session, form });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, path]);
    expect(keysOf(app)).toMatchObject([{ name: "Deploy bot 2", rate_limit: 1_200 }]);
    const policy = (await app.call("/api/v1/key", { key: value })).headers.get("ratelimit-policy");
    expect(policy).toBe('"key";q=1200;w=60');
    const [once, then] = [await app.call(path, { session }), await app.call(path, { session })];
    expect(readHtml(once.text).texts(".flash")).toEqual(["The key was changed."]);
    expect(readHtml(then.text).texts(".flash")).toEqual([]);
    expect(app.audit().at(-1)).toMatchObject({ action: "key.update", actorKind: "user" });
  });

  test("changing a key changes neither scopes nor expiry, even if they are sent", async () => {
    await using installation = await createKeyDashboard();
    const { app, session, path } = installation;
    const [before] = keysOf(app);
    const extra = { scopes: ["write:incidents"], expires: "7", expires_at: "0", id: "key_x" };
    await sendEdit(app, path, { session, form: { name: "New", rate_limit: "500", ...extra } });
    expect(keysOf(app)).toMatchObject([{ id: before?.id, scopes: ["read:status"], name: "New" }]);
    expect(keysOf(app)[0]?.expires_at).toBeNull();
  });

  for (const { what, form, wrong } of [
    { what: "an empty name", form: { name: "", rate_limit: "500" }, wrong: ["name"] },
    { what: "a long name", form: { name: "x".repeat(256), rate_limit: "5" }, wrong: ["name"] },
    { what: "a limit of 0", form: { name: "New", rate_limit: "0" }, wrong: ["rate_limit"] },
    // In the form for a new key this is the default; here it would change the limit unasked.
    { what: "an empty limit", form: { name: "New", rate_limit: "" }, wrong: ["rate_limit"] },
    {
      what: "a value as the name and no number",
      form: { name: `allclear_${"0".repeat(49)}`, rate_limit: "1.5" },
      wrong: ["name", "rate_limit"],
    },
    { what: "nothing at all", form: {}, wrong: ["name", "rate_limit"] },
  ]) {
    test(`changing a key to ${what} is rejected with an error at the field, and nothing is written`, async () => {
      await using installation = await createKeyDashboard();
      const { app, session, path } = installation;
      const before = { keys: keysOf(app), audit: app.audit() };
      const answer = await sendEdit(app, path, { session, form });
      expect(answer.status).toBe(422);
      expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(wrong);
      expect(typedIn(answer.text, "name")).toEqual([form.name ?? ""]);
      expect(typedIn(answer.text, "rate_limit")).toEqual([form.rate_limit ?? ""]);
      expect({ keys: keysOf(app), audit: app.audit() }).toEqual(before);
      // What the key is called is still on the page.
      expect(readHtml(answer.text).texts("h1")).toEqual(["Deploy bot"]);
    });
  }

  test("submitting an unchanged key writes nothing and shows “Nothing was changed.”", async () => {
    await using installation = await createKeyDashboard();
    const { app, session, path } = installation;
    const before = { keys: keysOf(app), audit: app.audit() };
    const form = { name: "Deploy bot", rate_limit: "500" };
    expect((await sendEdit(app, path, { session, form })).status).toBe(303);
    expect({ keys: keysOf(app), audit: app.audit() }).toEqual(before);
    const page = readHtml((await app.call(path, { session })).text);
    expect(page.texts(".flash")).toEqual(["Nothing was changed."]);
  });
});

describe("a key that has ended", () => {
  test("the confirmations to rotate and to revoke a revoked key redirect to the key", async () => {
    await using installation = await createKeyDashboard();
    const { app, session, path } = installation;
    for (const question of ["rotate", "revoke"]) {
      expect((await app.call(`${path}/${question}`, { session })).status).toBe(200);
    }
    await app.call(`${path}/revoke`, { session, form: {} });
    for (const question of ["rotate", "revoke"]) {
      const answer = await app.call(`${path}/${question}`, { session });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, path]);
    }
  });
});

test("a form of a key that another user changed meanwhile is a conflict, and undoes nothing", async () => {
  await using installation = await createKeyDashboard();
  const { app, session, path } = installation;
  const [version = ""] = typedIn((await app.call(path, { session })).text, "version");
  const other = await app.signedIn("admin");
  await sendEdit(app, path, { session: other, form: { name: "Deploy bot", rate_limit: "5" } });
  const before = keysOf(app);
  const form = { version, name: "Renamed", rate_limit: "1000" };
  const answer = await app.call(path, { session, form });
  expect(answer.status).toBe(409);
  expect(readHtml(answer.text).texts('[role="alert"]')[0]).toContain("Someone changed this");
  expect(typedIn(answer.text, "name")).toEqual(["Renamed"]);
  expect(keysOf(app)).toEqual(before);
  const [fresh = ""] = typedIn(answer.text, "version");
  expect((await app.call(path, { session, form: { ...form, version: fresh } })).status).toBe(303);
});

describe("a key's name", () => {
  test("a key's name is trimmed when it is created and when it is changed", async () => {
    await using installation = await createKeyDashboard({ name: " Deploy bot " });
    const { app, session, path } = installation;
    expect(keysOf(app)[0]?.name).toBe("Deploy bot");
    await sendEdit(app, path, { session, form: { name: " Other bot ", rate_limit: "500" } });
    expect(keysOf(app)[0]?.name).toBe("Other bot");
  });
});

describe("revoking a key", () => {
  test("the confirmation to revoke a key shows its name, its last use and its requests of the last 24 hours", async () => {
    await using installation = await createKeyDashboard();
    const { app, session, path, value } = installation;
    for (let request = 0; request < 3; request++) await statusWith(app, value);
    await app.clock.advance(6_000);
    const page = readHtml((await app.call(`${path}/revoke`, { session })).text);
    expect(page.texts("h1")).toEqual(["Revoke “Deploy bot”?"]);
    expect(page.texts(".dialog-body p").join(" ")).toContain(
      "Last 24 hours: 3 requests, no failures.",
    );
    expect(page.texts(".dialog-body p").join(" ")).toContain("from 203.0.113.7");
    expect(await statusWith(app, value)).toBe(200);
  });

  test("the confirmation to revoke a key counts failed requests by reason", async () => {
    await using installation = await createKeyDashboard({ rate_limit: "2" });
    const { app, session, path, value } = installation;
    for (let request = 0; request < 3; request++) await statusWith(app, value);
    await app.clock.advance(6_000);
    const page = readHtml((await app.call(`${path}/revoke`, { session })).text);
    expect(page.texts(".dialog-body p").join(" ")).toContain(
      "Last 24 hours: 3 requests (2 succeeded, 1 rate-limited).",
    );
  });

  test("revoking a key rejects its next request and keeps the key listed", async () => {
    await using installation = await createKeyDashboard();
    const { app, session, path, value, id } = installation;
    expect(await statusWith(app, value)).toBe(200);
    const answer = await app.call(`${path}/revoke`, { session, form: {} });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, KEYS]);
    expectProblem(await app.call("/api/v1/key", { key: value }), "revoked_key");
    const list = readHtml((await app.call(KEYS, { session })).text);
    expect(list.texts(".flash")[0]).toContain("“Deploy bot” was revoked.");
    expect(list.texts("tbody tr")[0]).toContain("Revoked");
    expect(list.attributes("a.row-link", "href")).toEqual([`${KEYS}/${id}`]);
  });

  test("revoking a key in a fleet says if all nodes have confirmed it", async () => {
    for (const [behind, text] of [
      [[], "It is revoked on all nodes."],
      [["n2", "n3"], "Not confirmed yet: n2, n3."],
    ] as const) {
      await using installation = await createKeyDashboard();
      const { app, session, path } = installation;
      app.ctx.findNodesBehind = () => Promise.resolve([...behind]);
      await app.call(`${path}/revoke`, { session, form: {} });
      const list = readHtml((await app.call(KEYS, { session })).text);
      expect(list.texts(".flash")[0]).toContain(text);
    }
  });

  test("revoking a key twice is audited once and cannot be undone", async () => {
    await using installation = await createKeyDashboard();
    const { app, session, path, value } = installation;
    const revoke = () => app.call(`${path}/revoke`, { session, form: {} });
    await revoke();
    const [first] = keysOf(app);
    await app.clock.advance(1_000);
    expect((await revoke()).status).toBe(303);
    expect(keysOf(app)).toEqual(first ? [first] : []);
    expect(actionsOf(app).filter((action) => action === "key.revoke")).toHaveLength(1);
    expect(await statusWith(app, value)).toBe(401);
  });
});

for (const state of ["revoked", "expired"] as const) {
  describe(`a key that is ${state}`, () => {
    async function withDeadKey() {
      const installation = await createKeyDashboard({ expires: "7" });
      const { app, path, session } = installation;
      if (state === "revoked") await app.call(`${path}/revoke`, { session, form: {} });
      else app.clock.setWallClock(app.clock.now() + 9 * DAY);
      return { ...installation, session: await app.signedIn("admin") };
    }

    test("the screen of an ended key shows its state and offers no action", async () => {
      await using installation = await withDeadKey();
      const { app, session, path, value } = installation;
      expectProblem(await app.call("/api/v1/key", { key: value }), `${state}_key`);
      const { status, text } = await app.call(path, { session });
      expect(status).toBe(200);
      const page = readHtml(text);
      expect(page.texts(".notice .strong")[0]).toMatch(new RegExp(`This key (is|has) ${state}`));
      const end = state === "revoked" ? "Revoked just now" : "Expired 17 Mar 2026";
      expect(page.texts(".facts dd")).toContain(end);
      expect(page.texts(".facts dt")).not.toContain("Expires");
      expect(page.attributes("main form", "action")).toEqual([]);
      const another = `${NEW_KEY}?from=${keysOf(app)[0]?.id}`;
      expect(page.attributes("main a", "href")).toEqual(["/admin/settings", KEYS, another]);
    });

    test("the form of a key that ended meanwhile is rejected with the reason, and changes nothing", async () => {
      await using installation = await withDeadKey();
      const { app, session, path } = installation;
      const before = keysOf(app);
      const form = { version: "0", name: "Other", rate_limit: "5" };
      const answer = await app.call(path, { session, form });
      expect(answer.status).toBe(409);
      expect(answer.text).toContain("Someone changed this while you were editing");
      expect(keysOf(app)).toEqual(before);
    });

    test("an ended key cannot be rotated, and no value is created", async () => {
      await using installation = await withDeadKey();
      const { app, session, path } = installation;
      const before = { keys: keysOf(app), audit: app.audit() };
      const form = { overlap: "1h" };
      const answer = await app.call(`${path}/rotate`, { session, form, headers: HTML });
      expect(answer.status).toBe(409);
      expect(answer.text).toContain(`The key is ${state}`);
      expect(answer.text).not.toMatch(/allclear_\w{20}/);
      expect({ keys: keysOf(app), audit: app.audit() }).toEqual(before);
    });

    test("ending the old value of an ended key writes nothing", async () => {
      await using installation = await withDeadKey();
      const { app, session, path } = installation;
      const before = { keys: keysOf(app), audit: app.audit() };
      const answer = await app.call(`${path}/end-old-value`, { session, form: {} });
      expect(answer.status).toBe(303);
      expect({ keys: keysOf(app), audit: app.audit() }).toEqual(before);
    });
  });
}

describe("an unknown key", () => {
  test("screens and actions of an unknown key are not_found, and nothing is written", async () => {
    await using installation = await createKeyDashboard();
    const { app, session } = installation;
    const before = { keys: keysOf(app), audit: app.audit() };
    for (const id of [
      "key_x",
      "key_01kah2v9w0e0rs6x0h3ye0a1bc",
      "usr_x",
      "%00",
      "a%2Fb",
      "new%20",
    ]) {
      for (const path of [`${KEYS}/${id}`, `${KEYS}/${id}/rotate`, `${KEYS}/${id}/revoke`]) {
        const answer = await app.call(path, { session, headers: HTML });
        expect([path, answer.status]).toEqual([path, 404]);
        expect(readHtml(answer.text).texts("h1")).toEqual(["Not found"]);
      }
      for (const action of ["", "/rotate", "/end-old-value", "/revoke"]) {
        const form = { name: "New", rate_limit: "5", overlap: "now" };
        const answer = await app.call(`${KEYS}/${id}${action}`, { session, form });
        expectProblem(answer, "not_found");
      }
    }
    expect({ keys: keysOf(app), audit: app.audit() }).toEqual(before);
    expect(await openForm(app, NEW_KEY, session)).not.toBe("");
  });
});
