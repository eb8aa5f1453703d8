import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findUserByEmail } from "../../../../src/features/users/users";
import { type Answer, createTestApp, expectProblem, type TestApp } from "../../../support/app";
import { settle } from "../../../support/clock";
import { HTML, PASSWORD, signIn, trySignIn, userWithPassword } from "../../../support/dashboard";
import { createGatedPasswords, type GatedPasswords } from "../../../support/gated-passwords";
import { readHtml } from "../../../support/html";
import { temporaryFolder } from "../../../support/temporary-folder";

const ADA = "ada@example.com";
const HOME = "203.0.113.99";
const HOSTILE = Array.from(
  { length: 200 },
  (_, index) => `198.51.${100 + (index >> 7)}.${index & 127}`,
);

interface Site extends AsyncDisposable {
  app: TestApp;
  passwords: GatedPasswords;
  /** Sends an attempt and lets it come as far as its verification or its refusal. */
  attempt(password: string, from: string): Promise<{ answer: Promise<Answer> }>;
}

async function openSite(options: { databasePath?: string } = {}): Promise<Site> {
  const passwords = createGatedPasswords(PASSWORD);
  const app = await createTestApp({ passwords, dashboard: true, ...options });
  if (!findUserByEmail(app.ctx.db, ADA)) await userWithPassword(app, ADA);
  return {
    app,
    passwords,
    async attempt(password, from) {
      const answer = trySignIn(app, ADA, password, { from });
      await settle();
      return { answer };
    },
    async [Symbol.asyncDispose]() {
      await passwords.endAll();
      await app[Symbol.asyncDispose]();
    },
  };
}

/** Signs the owner in from an address before anything hostile happens. */
async function signInFrom({ app, passwords }: Site, from: string): Promise<string> {
  const session = signIn(app, ADA, { from });
  await settle();
  await passwords.endAll();
  return session;
}

/** Has each hostile address make an attempt, which leaves none of the places in the queue free. */
async function flood({ app }: Site): Promise<Promise<Answer>[]> {
  const answers: Promise<Answer>[] = [];
  for (const [index, from] of HOSTILE.entries()) {
    answers.push(trySignIn(app, `nobody-${index}@example.com`, "wrong", { from }));
  }
  await settle();
  await settle();
  return answers;
}

/** Returns the options of a call with a form that notes if its body was read. */
function watchedForm() {
  let wasRead = false;
  const raw = new ReadableStream(
    {
      pull(controller) {
        wasRead = true;
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const headers = {
    ...HTML,
    origin: "http://status.test",
    "content-type": "application/x-www-form-urlencoded",
    "transfer-encoding": "chunked",
  };
  return { options: { method: "POST", raw, headers }, wasRead: () => wasRead };
}

describe("200 addresses that make ten attempts a minute each", () => {
  test("an owner on a known address is verified next while 200 addresses attack", async () => {
    await using site = await openSite();
    const { app, passwords } = site;
    await signInFrom(site, HOME);
    const hostile: Promise<Answer>[] = [];
    for (let time = 0; time < 8; time++) {
      hostile.push(...(await flood(site)));
      const before = passwords.begun.length;
      const { answer } = await site.attempt(PASSWORD, HOME);
      // Two verifications were at work and end; the owner's is then one of the two that begin.
      await passwords.endBegun();
      expect(passwords.begun.slice(before)).toContain(PASSWORD);
      await passwords.endBegun();
      expect((await answer).status).toBe(303);
      await app.clock.advance(60_000);
    }
    await passwords.endAll();
    const statuses = new Set((await Promise.all(hostile)).map(({ status }) => status));
    // Verified, rate-limited, and rejected because the queue is full.
    expect([...statuses].sort()).toEqual([422, 429, 503]);
  });

  test("an address that makes its first attempt goes before those that have made more", async () => {
    await using site = await openSite();
    const { passwords } = site;
    // The second attempts are refused, since the first ones wait, and count nevertheless.
    await flood(site);
    await flood(site);
    const before = passwords.begun.length;
    const { answer } = await site.attempt(PASSWORD, HOME);
    await passwords.endBegun();
    expect(passwords.begun.slice(before)).toContain(PASSWORD);
    await passwords.endBegun();
    expect((await answer).status).toBe(303);
  });

  test("addresses of live sessions keep their place over a restart", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    {
      await using before = await openSite({ databasePath });
      await signInFrom(before, HOME);
    }
    await using site = await openSite({ databasePath });
    const { app, passwords } = site;
    await flood(site);
    // As many attempts as the others have made, so that the session alone makes the difference.
    const { answer } = await site.attempt(PASSWORD, HOME);
    await passwords.endBegun();
    expect(passwords.begun.slice(2)).toContain(PASSWORD);
    await passwords.endBegun();
    expect((await answer).status).toBe(303);
    expect(app.audit().at(-1)?.action).toBe("user.sign_in");
  });
});

describe("attempts of one address", () => {
  test("one verification per address waits; further attempts get 429, other addresses do not", async () => {
    await using site = await openSite();
    const { passwords } = site;
    const own = [];
    for (let count = 0; count < 4; count++) own.push(await site.attempt("wrong", HOME));
    const rejected = await own[3]?.answer;
    expect(rejected?.status).toBe(429);
    expect(rejected?.headers.get("retry-after")).toBe("1");
    const other = await site.attempt(PASSWORD, "203.0.113.5");
    await passwords.endAll();
    expect((await other.answer).status).toBe(303);
    const statuses = await Promise.all(own.map(async ({ answer }) => (await answer).status));
    expect(statuses).toEqual([422, 422, 422, 429]);
  });

  test("attempts beyond ten a minute are rejected before their form is read", async () => {
    await using site = await openSite();
    const { app, passwords } = site;
    for (let count = 0; count < 10; count++) {
      void (await site.attempt("wrong", HOME));
      await passwords.endAll();
    }
    const form = watchedForm();
    const send = (from: string) => app.call("/admin/sign-in", { ...form.options, from });
    const rejected = await send(HOME);
    expect([rejected.status, form.wasRead()]).toEqual([429, false]);
    const seconds = rejected.headers.get("retry-after");
    expect(readHtml(rejected.text).texts('[role="alert"]')).toEqual([
      `Too many attempts. Wait ${seconds} seconds, then try again.`,
    ]);
    const verified = send("203.0.113.5");
    await settle();
    await passwords.endAll();
    expect([(await verified).status, form.wasRead()]).toEqual([422, true]);
  });
});

test("attempts that find the queue full get 503 with Retry-After, before their form is read", async () => {
  await using site = await openSite();
  const { passwords } = site;
  const answers = await flood(site);
  const form = watchedForm();
  const late = { ...form.options, from: HOSTILE[0] ?? "" };
  expect((await site.app.call("/admin/sign-in", late)).status).toBe(503);
  expect(form.wasRead()).toBe(false);
  await passwords.endAll();
  const rejected = (await Promise.all(answers)).filter(({ status }) => status === 503);
  // Two are at work, and a hundred wait.
  expect(rejected).toHaveLength(98);
  for (const answer of rejected) {
    expect(expectProblem(answer, "unavailable").detail).toContain("Too many people");
    expect(answer.headers.get("retry-after")).toBe("5");
  }
});
