import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openForServer } from "../../src/installation";
import { testConfig } from "../support/app";
import { type CommandLine, installedCommandLine, jsonOf } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

/** Variables with which mail is ready. No test connects to the relay. */
const WITH_MAIL = {
  ALLCLEAR_BASE_URL: "https://status.example.com",
  ALLCLEAR_SMTP_HOST: "relay.example",
  ALLCLEAR_MAIL_FROM: "status@example.com",
};
const PAGES = `
pages:
  - slug: acme
    name: Acme
    components:
      - { ref: api, name: API }
      - { ref: web, name: Web }
  - slug: other
    name: Other
`;
const CONSENT = "Asked at the counter";

interface Site extends Disposable {
  path: string;
  run: CommandLine;
  /** Writes a file and returns its path. */
  file(content: string): string;
  list(...flags: string[]): Promise<Record<string, unknown>[]>;
}

async function createSite(): Promise<Site> {
  const folder = temporaryFolder();
  const run = installedCommandLine(folder.path);
  const file = (content: string) => {
    const path = join(folder.path, "file.csv");
    writeFileSync(path, content);
    return path;
  };
  expect((await run(["apply", file(PAGES)])).exitCode).toBe(0);
  return {
    path: folder.path,
    run,
    file,
    list: async (...flags) =>
      jsonOf(await run(["subscriber", "list", "--page", "acme", "--json", ...flags])),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

describe("allclear subscriber add", () => {
  test("asks for a confirmation, and repeats it only later", async () => {
    using site = await createSite();
    const add = ["subscriber", "add", "Ann@example.com", "--page", "acme", "--component", "api"];
    const { exitCode, err } = await site.run(add, WITH_MAIL);
    expect([exitCode, err]).toEqual([
      0,
      ["A mail for confirming is on its way to Ann@example.com. It can be used for 7 days."],
    ]);
    const [listed] = await site.list("--status", "unconfirmed");
    expect(listed).toMatchObject({
      email: "Ann@example.com",
      status: "unconfirmed",
      components: ["api"],
      events: ["incidents", "maintenance"],
    });
    const again = await site.run(add, WITH_MAIL);
    expect([again.exitCode, again.err]).toEqual([
      1,
      ["Ann@example.com has had such mails just now. Try again later."],
    ]);
  });

  test("subscribes at once by a consent, whose words are stored, also without a relay", async () => {
    using site = await createSite();
    const add = (email: string, ...more: string[]) =>
      site.run(["subscriber", "add", email, "--page", "acme", "--consent", CONSENT, ...more]);
    expect((await add("ann@example.com")).err).toEqual(["Subscribed ann@example.com to Acme."]);
    expect((await add("ANN@example.com")).err).toEqual([
      "ANN@example.com is subscribed to Acme already.",
    ]);
    const text = (await site.run(["subscriber", "export", "--page", "acme"])).out.join("\n");
    expect(text).toContain(`,command,${CONSENT},`);
  });

  test("lists what is wrong with its arguments", async () => {
    using site = await createSite();
    const add = async (email: string, ...more: string[]) => {
      const { exitCode, err } = await site.run(["subscriber", "add", email, ...more], WITH_MAIL);
      return [exitCode, err[0]];
    };
    expect(await add("ann", "--page", "acme")).toEqual([
      2,
      "EMAIL must be an e-mail address, such as name@example.com.",
    ]);
    expect(await add("a@example.com", "--page", "none")).toEqual([1, "There is no page none."]);
    expect(await add("a@example.com", "--page", "acme", "--component", "none")).toEqual([
      2,
      "components: there is no none.",
    ]);
    expect(await add("a@example.com", "--page", "acme", "--consent", " ")).toEqual([
      2,
      expect.stringContaining("--consent "),
    ]);
    const without = await site.run(["subscriber", "add", "a@example.com", "--page", "acme"]);
    expect([without.exitCode, without.err[0]]).toEqual([
      1,
      "Mail cannot be sent: it needs an SMTP relay, a sender and a public address.",
    ]);
  });
});

test("allclear subscriber remove ends a subscription, which only its owner can begin again, or erases it", async () => {
  using site = await createSite();
  const path = site.file("email\nann@example.com\nbob@example.com\n");
  for (const page of ["acme", "other"]) {
    await site.run(["subscriber", "import", path, "--page", page, "--consent", CONSENT]);
  }
  const remove = (...args: string[]) => site.run(["subscriber", "remove", ...args]);
  expect((await remove("Ann@example.com", "--page", "acme")).err).toEqual([
    "Unsubscribed Ann@example.com from Acme.",
  ]);
  expect(await site.list("--status", "unsubscribed")).toMatchObject([{ email: "ann@example.com" }]);
  expect((await remove("ann@example.com", "--page", "acme")).exitCode).toBe(1);
  const again = await site.run(["subscriber", "import", path, "--page", "acme", "--consent", "x"]);
  expect(again.err).toEqual(["Imported into Acme: 1 subscribed already, 1 skipped as suppressed."]);
  const added = await site.run([
    "subscriber",
    "add",
    "ann@example.com",
    "--page",
    "acme",
    "--consent",
    "x",
  ]);
  expect([added.exitCode, added.err[0]]).toEqual([
    1,
    "ann@example.com is suppressed (unsubscribed), so nothing was changed.",
  ]);
  expect((await remove("bob@example.com", "--page", "other", "--erase")).err).toEqual([
    "Erased bob@example.com from Other: 1 subscription, 0 sign-ups.",
  ]);
  expect((await remove("ann@example.com", "--erase")).err).toEqual([
    "Erased ann@example.com from all pages: 2 subscriptions, 0 sign-ups.",
  ]);
  expect((await site.list()).map(({ email }) => email)).toEqual(["bob@example.com"]);
});

describe("allclear subscriber import", () => {
  test("prints every bad line, imports the others, and fails if there was one", async () => {
    using site = await createSite();
    const path = site.file("email,components\nann@example.com,api;web\nbob\ncy@example.com,none\n");
    const args = ["subscriber", "import", path, "--page", "acme", "--consent", CONSENT];
    const bad = [
      `${path}:3: email must be an e-mail address, such as name@example.com`,
      `${path}:4: components: there is no none`,
    ];
    const tried = await site.run([...args, "--dry-run"]);
    expect([tried.exitCode, tried.err]).toEqual([1, [...bad, "A dry run: 1 added, 2 not valid."]]);
    expect(await site.list()).toEqual([]);
    const { exitCode, err } = await site.run(args);
    expect([exitCode, err]).toEqual([1, [...bad, "Imported into Acme: 1 added, 2 not valid."]]);
    expect(await site.list()).toMatchObject([
      { email: "ann@example.com", status: "active", components: ["api", "web"] },
    ]);
  });

  test("needs one of both consents, and a file that can be read", async () => {
    using site = await createSite();
    const path = site.file("mail\n");
    const run = async (...args: string[]) => {
      const { exitCode, err } = await site.run(["subscriber", "import", ...args, "--page", "acme"]);
      return [exitCode, err[0]];
    };
    const both = "Give either --confirm or --consent TEXT.";
    expect(await run(path)).toEqual([2, both]);
    expect(await run(path, "--confirm", "--consent", CONSENT)).toEqual([2, both]);
    expect(await run("none.csv", "--consent", CONSENT)).toEqual([1, "There is no file none.csv."]);
    expect(await run(path, "--consent", CONSENT)).toEqual([
      2,
      "FILE the first line must name the columns: email,components,groups,events,language.",
    ]);
  });

  test("works beside a running server, and with more rows than a transaction has", async () => {
    using site = await createSite();
    const config = testConfig({ ALLCLEAR_DATA_DIR: site.path, ALLCLEAR_LOG_LEVEL: "silent" });
    const server = openForServer(config);
    try {
      const lines = Array.from({ length: 350 }, (_, index) => `a${index}@example.com`);
      const path = site.file(["email", ...lines].join("\n"));
      const { exitCode, err } = await site.run(
        ["subscriber", "import", path, "--page", "acme", "--confirm"],
        WITH_MAIL,
      );
      expect([exitCode, err]).toEqual([0, ["Imported into Acme: 350 asked to confirm."]]);
    } finally {
      server.close();
    }
    expect(await site.list("--status", "unconfirmed")).toHaveLength(350);
  });
});

test("allclear subscriber export prints what an import reads, of one page or of all", async () => {
  using site = await createSite();
  const path = site.file("email,components,events\nann@example.com,api,status\nbob@example.com\n");
  await site.run(["subscriber", "import", path, "--page", "acme", "--consent", CONSENT]);
  await site.run(["subscriber", "add", "cy@example.com", "--page", "other", "--consent", CONSENT]);
  const all = await site.run(["subscriber", "export"]);
  expect(all.out.join("\n").split("\r\n")).toHaveLength(3 + 1);
  const { out } = await site.run(["subscriber", "export", "--page", "acme"]);
  const text = out.map((line) => `${line}\n`).join("");
  expect(text).toContain("\r\nann@example.com,api,,status,acme,selection,");
  const before = await site.list();
  await site.run(["subscriber", "remove", "ann@example.com", "--erase"]);
  await site.run(["subscriber", "remove", "bob@example.com", "--erase"]);
  const again = await site.run([
    "subscriber",
    "import",
    site.file(text),
    "--page",
    "acme",
    "--consent",
    CONSENT,
  ]);
  expect(again.err).toEqual(["Imported into Acme: 2 added."]);
  const shown = ({ email, components, events }: Record<string, unknown>) => [
    email,
    components,
    events,
  ];
  expect((await site.list()).map(shown)).toEqual(before.map(shown));
  const suppressed = await site.run(["subscriber", "export", "--suppressed"]);
  expect(suppressed.out).toEqual(["email,page,reason,since\r"]);
});

test("an erased address is not left anywhere in the file of the database", async () => {
  using site = await createSite();
  for (const email of ["ann@example.com", "bob@example.com"]) {
    await site.run(["subscriber", "add", email, "--page", "acme"], WITH_MAIL);
    await site.run(["subscriber", "add", email, "--page", "acme", "--consent", CONSENT]);
  }
  const bytes = () => readFileSync(join(site.path, "allclear.db"), "latin1");
  expect(bytes()).toContain("ann@example.com");
  await site.run(["subscriber", "remove", "ann@example.com", "--erase"]);
  expect(bytes()).not.toContain("ann@example.com");
  expect(bytes()).toContain("bob@example.com");
});

test("allclear subscriber list prints a table, and knows its statuses", async () => {
  using site = await createSite();
  const path = site.file("email,components\nann@example.com,api\nbob@example.com\n");
  await site.run(["subscriber", "import", path, "--page", "acme", "--consent", CONSENT]);
  await site.run(["subscriber", "remove", "bob@example.com", "--page", "acme"]);
  const { out } = await site.run(["subscriber", "list", "--page", "acme"]);
  expect(out.map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
    ["EMAIL", "STATUS", "FOLLOWS", "EVENTS"],
    ["ann@example.com", "active", "api", "incidents, maintenance"],
    ["bob@example.com", "unsubscribed", "everything", "incidents, maintenance"],
  ]);
  const wrong = await site.run(["subscriber", "list", "--page", "acme", "--status", "gone"]);
  expect([wrong.exitCode, wrong.err[0]]).toEqual([
    2,
    "--status must be one of active, suppressed, unconfirmed, unsubscribed.",
  ]);
});
