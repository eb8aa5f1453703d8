import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";
import { keysOf, trySignIn, USERS } from "../support/dashboard";
import { createPageDashboard } from "../support/page-dashboard";

// Marks that Unicode's normal forms reorder, in time that grows with the square of their number.
const MARKS = `a${"\u0315".repeat(20_000)}${"\u0300".repeat(20_000)}`;

/** Returns the processor time of this process in ms, which other processes do not lengthen. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

describe("text that is slow to normalise", () => {
  test.each(["email", "password"])(
    "a sign-in with text that is slow to normalise is answered at once (%s)",
    async (field) => {
      await using app = await createTestApp();
      const form = { email: "ada@example.com", password: "x", [field]: MARKS };
      const startedAt = processorMs();
      const answer = await app.call("/admin/sign-in", { form });
      expect(answer.status).toBe(422);
      // A slow normalisation would block all other requests for seconds.
      expect(processorMs() - startedAt).toBeLessThan(1_500);
    },
  );

  test("a page name that is slow to normalise is answered at once", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const startedAt = processorMs();
    expect((await site.create({ name: MARKS, slug: "" })).status).toBe(422);
    // A slow normalisation would block all other requests for seconds.
    expect(processorMs() - startedAt).toBeLessThan(1_500);
    expect(site.state()).toEqual(before);
  });

  test("a custom domain that is slow to normalise is answered at once", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const startedAt = processorMs();
    const answer = await site.change("domains", { custom_domains: `${MARKS}.example.com` });
    expect(answer.status).toBe(422);
    expect(processorMs() - startedAt).toBeLessThan(1_500);
    expect(site.state()).toEqual(before);
  });
});

describe("an API key value in a wrong field", () => {
  test("an API key value is rejected as a name or email and is not logged", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const { value } = await app.createKey();
    const session = await app.signedIn("owner");
    const audit = app.audit();
    const renamed = await app.call("/admin/settings/account/name", {
      session,
      form: { name: value },
    });
    expect(renamed.status).toBe(422);
    const invitation = { email: `${value}@x.test`, name: value, role: "viewer" };
    expect((await app.call(`${USERS}/new`, { session, form: invitation })).status).toBe(422);
    const key = { name: `Key ${value}`, scopes: "read:status", expires: "never" };
    const rejected = await app.call("/admin/settings/keys/new", { session, form: key });
    expect(rejected.status).toBe(422);
    expect(keysOf(app)).toHaveLength(1);
    expect(app.audit()).toEqual(audit);
    expect(JSON.stringify(app.logged)).not.toContain(value);
  });
});

describe("the log of a rejected sign-in", () => {
  test("the log of a rejected sign-in contains the email only if it belongs to a user", async () => {
    await using app = await createTestApp();
    await trySignIn(app, "MyP@ssword-is-this", "x");
    await trySignIn(app, `x@${"y".repeat(100_000)}`, "x");
    const lines = app.logged.filter(({ msg }) => msg === "a sign-in was refused");
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(JSON.stringify(line).length).toBeLessThan(300);
    expect(JSON.stringify(lines)).not.toContain("ssword-is-this");
  });
});

describe("errors of endpoints for programs", () => {
  test.each(["/openapi.json", "/healthz"])(
    "an error of an endpoint for programs is a problem document even for a browser (%s)",
    async (path) => {
      await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
      const headers = { accept: "text/html" };
      for (let i = 0; i < 1_200; i++) await app.call(path);
      expectProblem(await app.call(path, { headers }), "rate_limited");
    },
  );
});

describe("an invalid Host", () => {
  test.each(["[", "%zz", "x:99999", "::1"])(
    "an invalid Host breaks no screen and reveals no token in the log (%s)",
    async (host) => {
      await using app = await createTestApp();
      const token = "2njCM0Suv6JWV2dnAekXafwwhu4oz61CatjqZcK7EAB";
      for (const path of ["/admin/sign-in", `/admin/setup/${token}`]) {
        // As the runtime hands it over: a Request of the test runner would refuse it.
        const request = new Request(`http://status.test${path}`);
        Object.defineProperty(request, "url", { value: `http://${host}${path}` });
        const response = await app.app.handle(request, () => "203.0.113.7");
        expect(response.status).toBeLessThan(500);
      }
      expect(JSON.stringify(app.logged)).not.toContain(token);
    },
  );
});
