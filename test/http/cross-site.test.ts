import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";

const KEY_FORM = { name: "From a form", scopes: ["read:status"], expires: "never" };
const CREATE = "/admin/settings/keys/new";

/** The headers that a browser sends with a form, and whether they come from a page of this server. */
const SENDERS: { what: string; headers: Record<string, string>; isOurs: boolean }[] = [
  {
    what: "Sec-Fetch-Site: same-origin",
    headers: { "sec-fetch-site": "same-origin" },
    isOurs: true,
  },
  {
    what: "Sec-Fetch-Site: none, as a reload sends it",
    headers: { "sec-fetch-site": "none" },
    isOurs: true,
  },
  {
    what: "Sec-Fetch-Site: same-origin behind a proxy that changes the host",
    headers: { "sec-fetch-site": "same-origin", origin: "https://elsewhere.test" },
    isOurs: true,
  },
  {
    what: "no Sec-Fetch-Site and the Origin that the request was sent to, as on plain HTTP",
    headers: { origin: "http://nas" },
    isOurs: true,
  },
  {
    what: "no Sec-Fetch-Site and the public address as Origin",
    headers: { origin: "https://status.test" },
    isOurs: true,
  },
  {
    what: "the public address with a dot behind its host as Origin",
    headers: { origin: "https://status.test." },
    isOurs: true,
  },
  {
    what: "the Origin that the request was sent to, with a dot and a port",
    headers: { origin: "http://nas.:80" },
    isOurs: true,
  },
  {
    what: "Sec-Fetch-Site: cross-site",
    headers: { "sec-fetch-site": "cross-site" },
    isOurs: false,
  },
  { what: "Sec-Fetch-Site: same-site", headers: { "sec-fetch-site": "same-site" }, isOurs: false },
  {
    what: "Sec-Fetch-Site: cross-site under our own Origin",
    headers: { "sec-fetch-site": "cross-site", origin: "http://nas" },
    isOurs: false,
  },
  { what: "Origin: null", headers: { origin: "null" }, isOurs: false },
  { what: "another Origin", headers: { origin: "https://evil.test" }, isOurs: false },
  { what: "our host with two dots", headers: { origin: "http://nas.." }, isOurs: false },
  { what: "our host on another port", headers: { origin: "http://nas:81" }, isOurs: false },
  { what: "an Origin that is no URL", headers: { origin: "https://" }, isOurs: false },
  { what: "neither header", headers: { origin: "" }, isOurs: false },
];

describe("a form of the dashboard", () => {
  for (const { what, headers, isOurs } of SENDERS) {
    test(`a form with ${what} is ${isOurs ? "accepted" : "rejected, and nothing is written"}`, async () => {
      await using app = await createTestApp();
      const session = await app.signedIn("admin");
      const audit = app.audit();
      const answer = await app.call(CREATE, { session, form: KEY_FORM, host: "nas", headers });
      if (isOurs) {
        expect(answer.status).toBe(200);
        expect(app.audit().map(({ action }) => action)).toContain("key.create");
      } else {
        expectProblem(answer, "cross_site_request");
        expect(app.audit()).toEqual(audit);
      }
    });
  }

  test("a sign-in form from another site is rejected", async () => {
    await using app = await createTestApp();
    const form = { email: "ada@example.com", password: "guess" };
    const headers = { "sec-fetch-site": "cross-site" };
    expectProblem(await app.call("/admin/sign-in", { form, headers }), "cross_site_request");
  });

  test("a link from another site opens a screen of the dashboard", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const headers = { "sec-fetch-site": "cross-site" };
    expect((await app.call("/admin", { session, headers })).status).toBe(200);
  });
});
