import { describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../../support/app";
import { HTML, PASSWORD, trySignIn, userWithPassword } from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";

const ADA = "ada@example.com";

/** Signs in with the right password, waiting for each Retry-After. */
async function signInAfterWait(app: TestApp, from?: string): Promise<{ waits: number[] }> {
  const waits: number[] = [];
  const given = from === undefined ? {} : { from };
  for (;;) {
    const answer = await trySignIn(app, ADA, PASSWORD, given);
    if (answer.status === 303) return { waits };
    expect(answer.status).toBe(429);
    waits.push(Number(answer.headers.get("retry-after")));
    expect(waits.length).toBeLessThanOrEqual(2);
    await app.clock.advance((waits.at(-1) ?? 0) * 1_000);
  }
}

describe("200 wrong passwords for one account", () => {
  test("wrong passwords from one address are verified at most ten times a minute, and the right one works after Retry-After", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000" } });
    await userWithPassword(app, ADA);
    const guesses = Array.from({ length: 200 }, (_, index) =>
      trySignIn(app, ADA, `wrong ${index}`),
    );
    const answers = await Promise.all(guesses);
    const verified = answers.filter(({ status }) => status === 422).length;
    expect(verified).toBeGreaterThan(0);
    expect(verified).toBeLessThanOrEqual(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(200 - verified);
    const { waits } = await signInAfterWait(app);
    expect(waits.length).toBeGreaterThan(0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60);
  });

  test("the right password works after the Retry-After of 200 wrong ones, with default limits", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    for (let index = 0; index < 200; index++) await trySignIn(app, ADA, `wrong ${index}`);
    await signInAfterWait(app);
  });

  test("wrong passwords that each respect Retry-After wait at most a minute", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    let verified = 0;
    while (verified < 20) {
      const answer = await trySignIn(app, ADA, "wrong");
      if (answer.status === 422) verified += 1;
      else {
        const wait = Number(answer.headers.get("retry-after"));
        expect(wait).toBeGreaterThanOrEqual(1);
        expect(wait).toBeLessThanOrEqual(60);
        await app.clock.advance(wait * 1_000);
      }
    }
    await signInAfterWait(app);
  });

  test("wrong passwords from many addresses do not delay the user on another address", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const guesses = Array.from({ length: 100 }, (_, index) =>
      trySignIn(app, ADA, "wrong", { from: `198.51.100.${index % 20}` }),
    );
    await Promise.all(guesses);
    expect((await signInAfterWait(app, "203.0.113.99")).waits).toEqual([]);
  });
});

describe("a throttled sign-in", () => {
  async function rejectedApp() {
    const app = await createTestApp();
    await userWithPassword(app, ADA);
    let rejected = await trySignIn(app, ADA, "wrong");
    while (rejected.status === 422) {
      const next = "/admin/settings/keys";
      rejected = await trySignIn(app, ADA, "wrong", { next, headers: HTML });
    }
    return { app, rejected, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  }

  test("a throttled sign-in shows the form with the wait and the typed email", async () => {
    await using installation = await rejectedApp();
    const { rejected } = installation;
    expect(rejected.status).toBe(429);
    const seconds = rejected.headers.get("retry-after");
    expect(readHtml(rejected.text).texts('[role="alert"]')[0]).toMatch(
      new RegExp(`^Too many attempts\\. Wait ${seconds} seconds?, then try again\\.$`),
    );
    expect(typedIn(rejected.text, "email")).toEqual([ADA]);
    expect(typedIn(rejected.text, "next")).toEqual(["/admin/settings/keys"]);
    expect(rejected.headers.get("set-cookie")).toBeNull();
  });

  test("a throttled sign-in rejects the right password too, and writes nothing", async () => {
    await using installation = await rejectedApp();
    const { app, rejected } = installation;
    const before = app.audit();
    expect((await trySignIn(app, ADA)).status).toBe(429);
    expect(app.audit()).toEqual(before);
    await app.clock.advance(Number(rejected.headers.get("retry-after")) * 1_000);
    expect((await trySignIn(app, ADA)).status).toBe(303);
  });

  test("a throttled sign-in does not reveal if the user exists", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const unknown = "unknown@example.com";
    const statuses = async (email: string, from: string) => {
      const answers: (number | string | null)[] = [];
      for (let index = 0; index < 6; index++) {
        const { status, headers } = await trySignIn(app, email, "wrong", { from });
        answers.push(status, headers.get("retry-after"));
      }
      return answers;
    };
    const known = await statuses(ADA, "198.51.100.1");
    expect(known).toContain(429);
    expect(await statuses(unknown, "198.51.100.2")).toEqual(known);
  });

  test("a throttled sign-in does not affect another account on the same address", async () => {
    await using installation = await rejectedApp();
    await userWithPassword(installation.app, "grace@example.com", "editor");
    expect((await trySignIn(installation.app, "grace@example.com")).status).toBe(303);
  });
});
