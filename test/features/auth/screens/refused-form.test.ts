import { describe, expect, test } from "bun:test";
import { keptNotice } from "../../../../src/ui/forms/form";
import { isSecretInput } from "../../../../src/features/auth/screens/refused-form";
import { settingsOf } from "../../../../src/features/webhooks/screens/forms";
import { WEBHOOK_FORMATS } from "../../../../src/base/webhook";
import { createTestApp, type TestApp } from "../../../support/app";
import {
  ACCOUNT,
  type Fields,
  HTML,
  KEYS,
  makeKey,
  NEW_KEY,
  PASSWORD,
  signIn,
  userWithPassword,
} from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { fieldsOf } from "../../../support/form-site";
import { returnTo, sendWithoutSession, signInOn, wayBackOn } from "../../../support/refused-form";
import { asUpload } from "../../../support/multipart";

const DAY_MS = 86_400_000;
const EMAIL = "ada@example.com";
const REPORT = "/admin/incidents/new";

/** Returns the application with an owner, a page and the typed fields of a report. */
async function createSite() {
  const app = await createTestApp();
  await userWithPassword(app, EMAIL);
  await app.page();
  const session = await signIn(app, EMAIL);
  const open = await app.call(REPORT, { session });
  const typed = {
    ...fieldsOf(open, REPORT),
    name: 'Checkout "fails" & more',
    body: "Line one\r\n\r\nLine “two” = 100 %",
    intent: "publish",
  };
  return { app, session, typed, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const nameIn = (text: string) => readHtml(text).attributes("[name=name]", "value")[0];
const incidentsOf = (app: TestApp) =>
  app.events().filter(({ type }) => type.startsWith("incident"));

describe("a form whose session has ended", () => {
  test("a form submitted without a session shows the sign-in form, and comes back as it was typed", async () => {
    await using site = await createSite();
    const { app, typed } = site;
    const refused = await sendWithoutSession(app, REPORT, typed);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain("Cookie");
    expect(refused.headers.get("cache-control")).toContain("no-store");
    expect(readHtml(refused.text).texts(".notice .strong")).toContain("Your session has ended");
    const { shown, session } = await returnTo(app, REPORT, typed, EMAIL);
    expect(shown.status).toBe(200);
    expect(nameIn(shown.text)).toBe(typed.name);
    expect(shown.text).toContain("Line one\n\nLine “two” = 100 %");
    expect(readHtml(shown.text).texts(".notice .strong")).toEqual(["Nothing was saved yet"]);
    expect(incidentsOf(app)).toEqual([]);
    const again = { ...fieldsOf(shown, REPORT), intent: "publish" };
    expect((await app.call(REPORT, { session, form: again })).status).toBe(303);
    expect(incidentsOf(app).map(({ type }) => type)).toEqual(["incident.created"]);
  });

  test("a form whose session expired is known to be the user's own, and a script continues", async () => {
    await using site = await createSite();
    const { app, typed, session } = site;
    app.clock.setWallClock(app.clock.now() + DAY_MS);
    const refused = await sendWithoutSession(app, REPORT, typed, session);
    const answer = await signInOn(app, refused, EMAIL);
    wayBackOn(answer);
    expect(readHtml(answer.text).attributes("[data-continues]", "data-continues")).toEqual([""]);
    expect(answer.text).toContain("Your form is kept");
  });

  test("a form of an unknown user waits for a person, and the page says so", async () => {
    await using site = await createSite();
    const refused = await sendWithoutSession(site.app, REPORT, site.typed);
    const answer = await signInOn(site.app, refused, EMAIL);
    expect(readHtml(answer.text).attributes("[data-continues]", "data-continues")).toEqual([]);
    expect(answer.text).toContain("It may have been filled in by another user.");
  });

  test("another user who signs in does not get the text, and is told so", async () => {
    await using site = await createSite();
    const { app, typed, session } = site;
    await userWithPassword(app, "grace@example.com");
    app.clock.setWallClock(app.clock.now() + DAY_MS);
    const refused = await sendWithoutSession(app, REPORT, typed, session);
    const answer = await signInOn(app, refused, "grace@example.com");
    expect([answer.status, answer.headers.get("location")]).toEqual([303, REPORT]);
    const own = /=([0-9A-Za-z]{43});/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
    const { text } = await app.call(REPORT, { session: own, headers: HTML });
    expect(nameIn(text)).toBe("");
    expect(readHtml(text).texts(".flash")[0]).toContain("belonged to another user");
  });

  test("a wrong password keeps the form", async () => {
    await using site = await createSite();
    const { app, typed } = site;
    const refused = await sendWithoutSession(app, REPORT, typed);
    const wrong = await signInOn(app, refused, EMAIL, "wrong horse");
    expect(wrong.status).toBe(422);
    const { fields } = wayBackOn(await signInOn(app, wrong, EMAIL));
    expect(fields["name"]).toEqual([typed.name]);
  });

  test("a throttled attempt keeps the form, which comes back after the wait", async () => {
    await using site = await createSite();
    const { app, typed } = site;
    const refused = await sendWithoutSession(app, REPORT, typed);
    let answer = refused;
    for (let attempt = 0; attempt < 12; attempt += 1) {
      answer = await signInOn(app, answer, "nobody@example.com", "wrong horse");
    }
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).not.toBeNull();
    expect(answer.text).toContain("Your form is still kept.");
    await app.clock.advance(60_000);
    const { action, fields } = wayBackOn(await signInOn(app, answer, EMAIL));
    expect([action, fields["name"]]).toEqual([REPORT, [typed.name]]);
  });

  test("an attempt with a kept form counts as an attempt of its client address", async () => {
    await using site = await createSite();
    const { app } = site;
    const form = { email: "nobody@example.com", password: "wrong horse" };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const path = attempt % 2 === 0 ? "/admin/sign-in?form=kept" : "/admin/sign-in";
      statuses.push((await app.call(path, { form, headers: HTML })).status);
    }
    expect(statuses.slice(10)).toEqual([429, 429]);
  });

  test("forms of two tabs are kept apart", async () => {
    await using site = await createSite();
    const { app, typed } = site;
    const [one, two] = await Promise.all([
      sendWithoutSession(app, REPORT, { ...typed, name: "One" }),
      sendWithoutSession(app, "/admin/components/new", { name: "Two" }),
    ]);
    const second = wayBackOn(await signInOn(app, two, EMAIL));
    const first = wayBackOn(await signInOn(app, one, EMAIL));
    expect([first.action, first.fields["name"]]).toEqual([REPORT, ["One"]]);
    expect([second.action, second.fields["name"]]).toEqual(["/admin/components/new", ["Two"]]);
  });

  test("a user whose role may not open the form gets the usual refusal", async () => {
    await using site = await createSite();
    const { app, typed } = site;
    await userWithPassword(app, "vera@example.com", "viewer");
    const { shown } = await returnTo(app, REPORT, typed, "vera@example.com");
    expect(shown.status).toBe(403);
    expect(shown.text).not.toContain("Checkout");
  });

  test.each([
    { headers: { "sec-fetch-site": "cross-site" } },
    { headers: { "sec-fetch-site": "same-site" } },
    { headers: { origin: "null" } },
    { headers: { origin: "https://evil.example" } },
  ])("a form of another site is refused without its fields: $headers", async ({ headers }) => {
    await using site = await createSite();
    const { app, typed } = site;
    const kept = {
      email: EMAIL,
      password: PASSWORD,
      kept_path: REPORT,
      kept_fields: "name=Checkout",
    };
    for (const [path, form] of [
      [REPORT, typed],
      ["/admin/sign-in?form=kept", kept],
    ] as const) {
      const answer = await app.call(path, { form, headers: { ...HTML, ...(headers as object) } });
      expect(answer.status).toBe(403);
      expect(answer.text).not.toContain("Checkout");
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
  });

  test("no page of a kept form may be shown in a frame or stored", async () => {
    await using site = await createSite();
    const { app, typed } = site;
    const refused = await sendWithoutSession(app, REPORT, typed);
    const wrong = await signInOn(app, refused, EMAIL, "wrong horse");
    for (const { headers } of [refused, wrong, await signInOn(app, wrong, EMAIL)]) {
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("cache-control")).toContain("no-store");
    }
  });

  test("a form whose path could not be read again is not kept", async () => {
    await using site = await createSite();
    const answer = await sendWithoutSession(site.app, `${REPORT}?at=a:b`, site.typed);
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain("Checkout");
  });

  test("a form of more than 64 KiB, of too many fields or of a program is answered as without a form", async () => {
    await using site = await createSite();
    const { app, typed } = site;
    const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`f${at}`, "x"]));
    for (const form of [{ ...typed, body: "x".repeat(66_000) }, many]) {
      const answer = await sendWithoutSession(app, REPORT, form);
      expect(answer.status).toBe(401);
      expect(readHtml(answer.text).attributes(".plain-card a", "target")).toEqual(["_blank"]);
    }
    const { body } = await app.call(REPORT, { form: typed });
    expect(body).toMatchObject({ status: 401, code: "sign_in_required" });
  });

  test("a button and a change of the password show the sign-in form without fields", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const { id } = await makeKey(app, session);
    const secret = { current_password: "correct horse", new_password: "battery staple" };
    for (const path of [`${KEYS}/${id}/revoke`, `${ACCOUNT}/password`]) {
      const answer = await sendWithoutSession(app, path, secret);
      expect(answer.status).toBe(401);
      expect(readHtml(answer.text).attributes("form", "action")).toEqual(["/admin/sign-in"]);
      expect(readHtml(answer.text).texts(".notice .strong")).toContain("Your session has ended");
      expect(answer.text).toContain("Nothing was changed. Sign in, then try again.");
      expect(answer.text).not.toContain("battery");
      const signedIn = await signInOn(app, answer, EMAIL);
      expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, path]);
    }
  });

  test("a sign-in with a changed path or too long a form opens the dashboard", async () => {
    await using site = await createSite();
    for (const kept of [
      { kept_path: `${KEYS}/key_1/revoke` },
      { kept_path: "/admin/sign-out" },
      { kept_path: "//evil.example/admin" },
      { kept_path: "/api/v1/keys" },
      { kept_path: REPORT, kept_fields: "x".repeat(65_537) },
    ]) {
      const form = { email: EMAIL, password: "correct horse battery", kept_fields: "a=b", ...kept };
      const answer = await site.app.call("/admin/sign-in", { form });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin"]);
    }
  });
});

describe("secrets in a form whose session has ended", () => {
  test("passwords, header values, bodies and secret settings are secret inputs", () => {
    const settings = WEBHOOK_FORMATS.flatMap(settingsOf).filter(({ isSecret }) => isSecret);
    const inputs = settings.map(({ input }) => input);
    expect(inputs.length).toBeGreaterThan(2);
    inputs.push("password", "new_password", "current_password", "header_12_value", "config_body");
    inputs.push("endpoint_url");
    expect(inputs.filter((input) => !isSecretInput(input))).toEqual([]);
    const open = ["name", "body", "header_0_name", "config_url", "setting_chat_id", "url"];
    expect(open.filter(isSecretInput)).toEqual([]);
  });

  test.each([
    {
      what: "a monitor",
      path: "/admin/monitors/new",
      open: { type: "http", name: "Shop", header_0_name: "X-Key", config_method: "POST" },
      secret: {
        header_0_value: "s3cr3t-1",
        config_body: "s3cr3t-2",
        config_url: "https://me:s3cr3t-3@shop.example.com",
        config_oauth2_client_secret: "s3cr3t-8",
        config_client_certificate_certificate: "-----BEGIN PRIVATE KEY-----s3cr3t-9",
        config_client_certificate_key: "s3cr3t-10",
        config_proxy_password: "s3cr3t-11",
      },
    },
    {
      what: "a webhook",
      path: "/admin/settings/webhooks/new",
      open: { format: "telegram", description: "On call", setting_chat_id: "7" },
      secret: { setting_bot_token: "s3cr3t-4" },
    },
    {
      what: "a webhook whose address is secret",
      path: "/admin/settings/webhooks/new",
      open: { format: "slack", description: "On call" },
      secret: { url: "https://hooks.slack.com/services/s3cr3t-5" },
    },
    {
      what: "a webhook whose address was typed for another format",
      path: "/admin/settings/webhooks/new",
      open: { format: "slack", choose_format: "standard", description: "On call" },
      secret: { url: "https://hooks.slack.com/services/s3cr3t-6" },
    },
    {
      what: "a webhook by a template",
      path: "/admin/settings/webhooks/new",
      open: { format: "template", setting_body: "{secret.TOKEN}", url: "https://a.example.com/" },
      secret: { secret_TOKEN: "s3cr3t-12", secret_OTHER_1: "s3cr3t-13" },
    },
    {
      what: "a text with a key",
      path: NEW_KEY,
      open: { rate_limit: "77" },
      secret: { name: `allclear_${"s3cr3t7".repeat(7)}` },
    },
  ])("the secrets of $what are on no page, and must be typed again", async (given) => {
    await using site = await createSite();
    const { app } = site;
    const form = { ...given.open, ...given.secret } as unknown as Fields;
    const refused = await sendWithoutSession(app, given.path, form);
    expect(refused.status).toBe(401);
    const answer = await signInOn(app, refused, EMAIL);
    const { session, action, fields } = wayBackOn(answer);
    const shown = await app.call(action, { session, form: fields, headers: HTML });
    expect(shown.status).toBe(200);
    for (const { text } of [refused, answer, shown]) expect(text).not.toContain("s3cr3t");
    expect(shown.text).toContain("except for secrets");
    for (const value of Object.values(given.open)) expect(shown.text).toContain(value);
  });

  test("a file is left out", async () => {
    await using site = await createSite();
    const { app } = site;
    const { page } = await app.page({ slug: "other", name: "Other" });
    const upload = asUpload([{ name: "logo", filename: "logo.png", bytes: "s3cr3t" }], HTML);
    const refused = await app.call(`/admin/pages/${page.id}/logo`, upload);
    expect(refused.status).toBe(401);
    const answer = await signInOn(app, refused, EMAIL);
    expect(wayBackOn(answer).fields["kept_form"]).toEqual(["partly"]);
    expect(answer.text).not.toContain("s3cr3t");
  });

  test("a form without the field is not a kept one", () => {
    const sent = { text: () => "" } as unknown as Parameters<typeof keptNotice>[0];
    expect(keptNotice(sent)).toBeUndefined();
  });
});
