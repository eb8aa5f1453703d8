import { describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../../support/app";
import {
  type Fields,
  KEY_FIELDS,
  KEYS,
  keysOf,
  makeKey,
  NEW_KEY,
  sendKeyForm,
} from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { shareSite } from "../../../support/shared-site";

const VALUE = `allclear_${"x".repeat(49)}`;
const WHOLE_NUMBER = "Rate limit must be a whole number from 1 to 1,000,000.";

/** Forms with one invalid field, and its error. */
const WRONG: { what: string; fields: Fields; error: RegExp | string; at: string }[] = [
  { what: "no name", fields: { name: "" }, at: "name", error: "Name is empty." },
  { what: "a blank name", fields: { name: " \u00a0 " }, at: "name", error: "Name is empty." },
  {
    what: "a name of 256 characters",
    fields: { name: "😀".repeat(256) },
    at: "name",
    error: "Name is 256 characters long; 255 is the most.",
  },
  {
    what: "a control character in the name",
    fields: { name: "a\u0007b" },
    at: "name",
    error: "Name holds control characters or bidirectional overrides.",
  },
  {
    what: "a bidirectional override in the name",
    fields: { name: "a\u202eb" },
    at: "name",
    error: "Name holds control characters or bidirectional overrides.",
  },
  {
    what: "a key's value as its name",
    fields: { name: `bot ${VALUE}` },
    at: "name",
    error: "Name contains an API key; type a name instead.",
  },
  { what: "no scope", fields: { scopes: [] }, at: "scopes", error: /^Scopes .+\.$/ },
  {
    what: "an unknown scope",
    fields: { scopes: ["read:status", "write:everything"] },
    at: "scopes",
    error: /^Scopes must be one of read:status, .+\.$/,
  },
  {
    what: "the same scope twice",
    fields: { scopes: ["read:status", "read:status"] },
    at: "scopes",
    error: /^Scopes .+\.$/,
  },
  ...["0", "1000001", "abc", "1.5", "-1", "1,5", "1,00,0", "9".repeat(400)].map((limit) => ({
    what: `a limit of ${limit.slice(0, 20)}`,
    fields: { rate_limit: limit },
    at: "rate_limit",
    error: WHOLE_NUMBER,
  })),
  {
    what: "an unknown expiration",
    fields: { expires: "weekly" },
    at: "expires",
    error: /^Expires must be never, 7, .+\.$/,
  },
  {
    what: "a day that is over",
    fields: { expires: "date", expires_date: "2026-03-09" },
    at: "expires_date",
    error: "Expiration date is in the past.",
  },
  ...["", "tomorrow", "2026-02-30", "2026-03-11T00:00:00Z", "<b>"].map((date) => ({
    what: `the date “${date}”`,
    fields: { expires: "date", expires_date: date },
    at: "expires_date",
    error: "Expiration date must be a day such as 2027-01-31.",
  })),
  {
    what: "a date that is not there",
    fields: { expires: "date", expires_date: [] },
    at: "expires_date",
    error: "Expiration date must be a day such as 2027-01-31.",
  },
];

const KNOWN_SCOPES = ["read:status", "write:incidents"];
const EXPIRATIONS = ["never", "7", "30", "90", "365", "date"];

/** Expects the form to contain what was sent, except values that it cannot display. */
function expectKept(html: string, sent: Fields): void {
  const all = (name: string) => [sent[name] ?? []].flat();
  const one = (name: string) => [all(name)[0] ?? ""];
  expect(typedIn(html, "name")).toEqual(one("name"));
  expect(typedIn(html, "rate_limit")).toEqual(one("rate_limit"));
  expect(typedIn(html, "expires_date")).toEqual(one("expires_date"));
  expect(typedIn(html, "expires")).toEqual(EXPIRATIONS.filter((it) => it === sent["expires"]));
  expect(typedIn(html, "scopes")).toEqual(KNOWN_SCOPES.filter((it) => all("scopes").includes(it)));
}

async function expectRejected(app: TestApp, session: string, fields: Fields) {
  const before = [keysOf(app), app.audit()];
  const answer = await sendKeyForm(app, session, fields);
  expect(answer.status).toBe(422);
  expect([keysOf(app), app.audit()]).toEqual(before);
  expectKept(answer.text, { ...KEY_FIELDS, ...fields });
  return fieldErrorsOn(answer.text);
}

describe("the form for a new key", () => {
  const shared = shareSite(createTestApp);
  for (const { what, fields, at, error } of WRONG) {
    test(`a new key with ${what} is redisplayed with an error at the field and all typed values, and is not created`, async () => {
      const app = await shared();
      const session = await app.signedIn("admin");
      const before = keysOf(app);
      const errors = await expectRejected(app, session, fields);
      expect(Object.keys(errors)).toEqual([at]);
      if (typeof error === "string") expect(errors[at]).toBe(error);
      else expect(errors[at]).toMatch(error);
      // The form that is right but for this is taken.
      expect((await sendKeyForm(app, session)).status).toBe(200);
      expect(keysOf(app)).toHaveLength(before.length + 1);
    });
  }

  test("a new key with several invalid fields is rejected with an error for each", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const fields = {
      name: "\u202e",
      scopes: ["write:incidents", "nonsense"],
      rate_limit: "many",
      expires: "date",
      expires_date: "2020-01-01",
    };
    const errors = await expectRejected(app, session, fields);
    expect(Object.keys(errors)).toEqual(["name", "scopes", "rate_limit", "expires_date"]);
    const other = await expectRejected(app, session, { ...fields, expires: "soon" });
    expect(Object.keys(other)).toEqual(["name", "scopes", "rate_limit", "expires"]);
  });

  test("an empty form for a new key is rejected with an error for each required field", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const answer = await app.call(NEW_KEY, { session, form: {} });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["name", "scopes"]);
    expect(keysOf(app)).toEqual([]);
  });

  for (const [typed, limit] of [
    ["1,000", 1_000],
    [" 500 ", 500],
    ["1 000 000", 1_000_000],
    ["1_000", 1_000],
    ["", 1_000],
    ["0050", 50],
  ] as const) {
    test(`the rate limit “${typed}” is read as ${limit}`, async () => {
      await using app = await createTestApp();
      const session = await app.signedIn("admin");
      expect((await sendKeyForm(app, session, { rate_limit: typed })).status).toBe(200);
      expect(keysOf(app).map((key) => key.rate_limit)).toEqual([limit]);
    });
  }

  test("a new key has the typed values and its creator, and is audited", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await sendKeyForm(app, session, {
      scopes: ["write:incidents", "read:status"],
      expires: "date",
      expires_date: "2026-03-10",
    });
    expect(keysOf(app)).toMatchObject([
      {
        name: "Deploy bot",
        scopes: ["write:incidents", "read:status"],
        rate_limit: 500,
        expires_at: "2026-03-11T00:00:00.000Z",
        created_by: { kind: "user", label: "Test admin" },
      },
    ]);
    expect(app.audit().at(-1)).toMatchObject({ action: "key.create", actorKind: "user" });
  });

  test("a key for 7 days works until the end of the seventh day", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await sendKeyForm(app, session, {
      expires: "7",
      expires_date: "nonsense in a hidden field",
    });
    expect(keysOf(app)[0]?.expires_at).toBe("2026-03-18T00:00:00.000Z");
  });

  test.each([
    { what: "an empty form", typed: {}, name: "CI incident bot", scopes: [] },
    {
      what: "a form with another preset",
      typed: { name: "Prometheus scrape", scopes: ["read:analytics"] },
      name: "CI incident bot",
      scopes: [],
    },
    {
      what: "a typed name and selected scopes",
      typed: { name: "Deploy bot", scopes: ["manage:webhooks"], rate_limit: "77" },
      name: "Deploy bot",
      scopes: ["manage:webhooks"],
    },
  ])(
    "the button of a preset fills in $what without a script, and creates nothing",
    async (given) => {
      await using app = await createTestApp();
      const session = await app.signedIn("admin");
      const form: Fields = {
        ...KEY_FIELDS,
        name: "",
        scopes: [],
        ...(given.typed as Fields),
        preset: "ci-incident-bot",
      };
      const { status, text } = await app.call(NEW_KEY, { session, form });
      expect(status).toBe(200);
      expect(typedIn(text, "name")).toEqual([given.name]);
      const filled = ["read:status", "write:components", "write:incidents", ...given.scopes];
      expect(typedIn(text, "scopes").sort()).toEqual(filled.sort());
      expect(typedIn(text, "rate_limit")).toEqual([form["rate_limit"] as string]);
      expect(keysOf(app)).toEqual([]);
    },
  );

  test("the form for a new key starts with the values of a preset", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const { text } = await app.call(`${NEW_KEY}?preset=ci-incident-bot`, { session });
    expect(typedIn(text, "name")).toEqual(["CI incident bot"]);
    expect(typedIn(text, "scopes").sort()).toEqual([
      "read:status",
      "write:components",
      "write:incidents",
    ]);
    expect(typedIn(text, "expires")).toEqual(["never"]);
  });

  test("the expiry is never unless another one is chosen, and the form says what that means and suggests 90 days", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const { text } = await app.call(NEW_KEY, { session });
    expect(typedIn(text, "expires")).toEqual(["never"]);
    expect(readHtml(text).texts("#field-expires-hint, #expires-hint")[0]).toBe(
      "90 days are suggested. A key that never expires works until you revoke it, also for others who get hold of its value.",
    );
  });

  test("the form for another key like one has its scopes, limit and period, and a free name", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const { id } = await makeKey(app, session, {
      scopes: ["write:incidents", "read:status"],
      expires: "date",
      expires_date: "2026-04-24",
    });
    app.clock.setWallClock(app.clock.now() + 100 * 24 * 60 * 60 * 1_000);
    const admin = await app.signedIn("admin");
    const detail = readHtml((await app.call(`${KEYS}/${id}`, { session: admin })).text);
    const path = `${NEW_KEY}?from=${id}`;
    expect(detail.attributes("main a", "href")).toContain(path);
    const { text } = await app.call(path, { session: admin });
    expect(typedIn(text, "name")).toEqual(["Deploy bot 2"]);
    expect(typedIn(text, "scopes").sort()).toEqual(["read:status", "write:incidents"]);
    expect(typedIn(text, "rate_limit")).toEqual(["500"]);
    expect(typedIn(text, "expires")).toEqual(["date"]);
    expect(typedIn(text, "expires_date")).toEqual(["2026-08-02"]);
    expect((await app.call(`${NEW_KEY}?from=key_unknown`, { session: admin })).status).toBe(404);
  });

  test("a new key says what it can do, and nothing about addresses, which it is not limited to", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const { text } = await sendKeyForm(app, session);
    expect(readHtml(text).texts(".abilities-foot")).toEqual(["500 requests a minute"]);
    expect(text).not.toContain("any address");
  });
});
