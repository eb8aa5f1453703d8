import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Answer, createTestApp, type TestApp } from "../support/app";
import {
  KEYS,
  KEY_FIELDS,
  NEW_KEY,
  keysOf,
  makeKey,
  openForm,
  revealedLink,
  revealedValue,
  sendKeyForm,
  USERS,
} from "../support/dashboard";
import { readHtml } from "../support/html";
import { bytesIn, temporaryFolder } from "../support/temporary-folder";

/** Every secret that the dashboard reveals, and the answer that did. */
async function revealAll(app: TestApp, session: string) {
  const created = await sendKeyForm(app, session);
  const id = keysOf(app)[0]?.id ?? "";
  const rotate = `${KEYS}/${id}/rotate`;
  const rotation = { form: await openForm(app, rotate, session), overlap: "24h" };
  const rotated = await app.call(rotate, { session, form: rotation });
  const invitation = {
    form: await openForm(app, `${USERS}/new`, session),
    email: "grace@example.com",
    name: "Grace",
    role: "viewer",
  };
  const invited = await app.call(`${USERS}/new`, { session, form: invitation });
  return [
    { secret: revealedValue(created), answer: created },
    { secret: revealedValue(rotated), answer: rotated },
    { secret: revealedLink(invited).replace("/admin/join/", ""), answer: invited },
  ];
}

/** The secrets found in any file of a folder: plain, in base64 or in hex. */
function foundIn(folder: string, secrets: readonly string[]): string[] {
  const bytes = bytesIn(folder);
  const forms = (secret: string) => {
    const raw = Buffer.from(secret);
    return [
      raw,
      Buffer.from(raw.toString("base64").slice(0, 40)),
      Buffer.from(raw.toString("hex")),
    ];
  };
  return secrets.filter((secret) => forms(secret).some((form) => bytes.includes(form)));
}

const SCREENS = [
  KEYS,
  `${KEYS}?q=Deploy`,
  USERS,
  "/admin",
  "/admin/settings/account",
  "/admin/settings/general",
];

describe("revealed secrets", () => {
  test("a revealed secret is in the answer to its form, which is neither cached nor compressed", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const headers = { "accept-encoding": "gzip, br" };
    const list = await app.call(KEYS, { session, headers });
    expect(list.headers.get("content-encoding")).toBe("gzip");
    const form = { form: await openForm(app, NEW_KEY, session), ...KEY_FIELDS };
    const answer = await app.call(NEW_KEY, { session, form, headers });
    expect(answer.text).toContain(revealedValue(answer));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-encoding")).toBeNull();
    expect(answer.headers.get("etag")).toBeNull();
  });

  test("a revealed secret is in no response header and on no other screen", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const revealed = await revealAll(app, session);
    const id = keysOf(app)[0]?.id ?? "";
    const paths = [...SCREENS, `${KEYS}/${id}`, `${KEYS}/${id}/rotate`, `${KEYS}/${id}/revoke`];
    const answers: Answer[] = [];
    for (const path of paths) answers.push(await app.call(path, { session }));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (const { secret, answer } of revealed) {
      expect(JSON.stringify([...answer.headers])).not.toContain(secret);
      for (const { text, headers } of answers) {
        expect(text).not.toContain(secret);
        expect(JSON.stringify([...headers])).not.toContain(secret);
      }
    }
  });

  test("a revealed secret is written to no file of the database", async () => {
    using folder = temporaryFolder();
    let secrets: string[];
    {
      await using app = await createTestApp({ databasePath: join(folder.path, "allclear.db") });
      const session = await app.signedIn();
      secrets = (await revealAll(app, session)).map(({ secret }) => secret);
      expect(secrets).toHaveLength(3);
      expect(foundIn(folder.path, [...secrets, session])).toEqual([]);
      // What is kept of them is found, so that looking for them would have found them.
      const [key] = keysOf(app);
      expect(foundIn(folder.path, [key?.id ?? "", "grace@example.com"])).toHaveLength(2);
    }
    expect(foundIn(folder.path, secrets)).toEqual([]);
  });

  test("a revealed secret is in no log line, even at level debug, and in no audit row", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const session = await app.signedIn();
    const secrets = (await revealAll(app, session)).map(({ secret }) => secret);
    const [value = "", , link = ""] = secrets;
    // Where a person may put them by mistake, and where they belong.
    await app.call(`${KEYS}/${value}`, { session });
    await app.call(`${KEYS}?q=${value}`, { session });
    await app.call(`/admin/join/${link}`);
    await app.call(`/admin/join/${link}`, { form: { name: "", password: "short" } });
    const log = JSON.stringify(app.logged);
    expect(log).toContain("/admin/settings/keys/new");
    expect(log).toContain("/admin/join/[redacted]");
    for (const secret of [...secrets, session]) {
      expect(log).not.toContain(secret);
      expect(JSON.stringify(app.audit())).not.toContain(secret);
    }
  });
});

describe("a key value in a wrong place", () => {
  test("a key value in a path is not repeated, and the page says that keys are named by their id", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const { value } = await makeKey(app, session);
    const headers = { accept: "text/html" };
    const answer = await app.call(`${KEYS}/${value}`, { session, headers });
    expect(answer.status).toBe(404);
    expect(answer.text).toContain("Use the id of the key");
    expect(answer.text).not.toContain(value);
  });

  test("a key value in a search is rejected and not repeated", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const { value } = await makeKey(app, session);
    const answer = await app.call(`${KEYS}?q=${value}`, { session });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain(value);
  });
});

test("a new key is shown with its scope, rate limit and expiry", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("admin");
  const { text } = await sendKeyForm(app, session);
  const page = readHtml(text);
  expect(page.texts(".head-fact")).toContain("never expires");
  expect(page.texts(".abilities p")).toContain("500 requests a minute");
  expect(page.texts(".abilities code")).toEqual(["read:status"]);
  expect(page.texts(".primary")).toEqual(["Copy key"]);
});

describe("the command shown with a new key", () => {
  test("the command shown with a new key works unchanged", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const answer = await sendKeyForm(app, session);
    const command = readHtml(answer.text)
      .texts("code")
      .find((text) => text.startsWith("curl "));
    const [, header = "", url = ""] = /^curl -H "([^"]+)" (\S+)$/.exec(command ?? "") ?? [];
    const [name = "", credentials = ""] = header.split(": ");
    expect(name).toBe("Authorization");
    expect(url).toBe("https://status.test/api/v1/key");
    const headers = { [name]: credentials };
    const { status, body } = await app.call(new URL(url).pathname, { headers });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: "Deploy bot", scopes: ["read:status"], rate_limit: 500 });
  });
});
