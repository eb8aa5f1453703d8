import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLoginThrottle } from "../../src/features/auth/throttle";
import { createPasswords } from "../../src/features/auth/passwords";
import { createSessions, listSessionsOf, startSession } from "../../src/features/auth/sessions";
import { findLink } from "../../src/features/auth/links";
import { listNewestAudits } from "../../src/events/audit-search";
import { setPublicAddress } from "../../src/features/settings/settings";
import { acceptLink, issueSetUpLink } from "../../src/features/users/invitations";
import { createSecret } from "../../src/features/auth/totp";
import { readSecondFactor, turnOnSecondFactor } from "../../src/features/users/second-factors";
import { authenticate } from "../../src/features/users/sign-in";
import { insertIdentity } from "../../src/features/users/store";
import type { UserResource } from "../../src/features/users/wire";
import { type Installation, openForCommand } from "../../src/installation";
import { CLI_ACTOR, userActor } from "../../src/base/actor";
import { testConfig } from "../support/app";
import { client } from "../support/auth-installation";
import {
  type CommandLine,
  commandLine,
  installedCommandLine,
  jsonOf,
} from "../support/command-line";
import { listMails } from "../support/mail-rows";
import { codeAt } from "../support/second-factors";
import { FROM, HASH } from "../support/user-installation";
import { temporaryFolder } from "../support/temporary-folder";
import { createKey } from "../support/examined";

const PASSWORD = "correct horse battery";
const LINK = /^http:\/\/127\.0\.0\.1:8080\/admin\/join\/([0-9A-Za-z]{43})$/;
const CREATE_ADA = ["user", "create", "--email", "ada@acme.test"];
const CREATE_BOB = ["user", "create", "--email", "bob@acme.test", "--role", "editor"];

/** Runs `work` with the context of a data directory, between two commands. */
async function withContext<T>(
  folder: { path: string },
  work: (ctx: Installation["ctx"]) => T | Promise<T>,
): Promise<T> {
  const env = { ALLCLEAR_DATA_DIR: folder.path, ALLCLEAR_LOG_LEVEL: "silent" };
  const installation = openForCommand(testConfig(env), "test", { canCreate: false });
  try {
    return await work(installation.ctx);
  } finally {
    installation.close();
  }
}

async function listUsers(run: CommandLine): Promise<UserResource[]> {
  return jsonOf(await run(["user", "list", "--json"]));
}

/** Returns true if a user can sign in with a password. */
async function canSignIn(folder: { path: string }, email: string, password: string) {
  return withContext(folder, async (ctx) => {
    const deps = { passwords: createPasswords(), throttle: createLoginThrottle(ctx) };
    return "user" in (await authenticate(ctx, deps, { email, password }, client(FROM.ip)));
  });
}

function tokenOf(link: string | undefined): string {
  return /[^/]*$/.exec(link ?? "")?.[0] ?? "";
}

/** Returns the purpose of a one-time link; undefined if the link is not valid. */
function purposeOf(folder: { path: string }, link: string | undefined) {
  return withContext(folder, (ctx) => findLink(ctx.db, tokenOf(link), ctx.clock.now())?.purpose);
}

describe("allclear user create", () => {
  test("user create prints only the link by which the user chooses a password", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const { exitCode, out, err } = await run([...CREATE_ADA, "--name", "Ada Lovelace"]);
    expect([exitCode, out]).toEqual([0, [expect.stringMatching(LINK)]]);
    const [user] = await listUsers(run);
    expect(user).toMatchObject({ name: "Ada Lovelace", role: "owner", has_password: false });
    expect(err).toEqual([
      `Created ${user?.id} (Ada Lovelace, ada@acme.test), owner.`,
      "Send this link to the user to choose a password. It works once, for 7 days:",
    ]);
    await withContext(folder, (ctx) =>
      ctx.db.write((tx) => acceptLink(ctx, tx, tokenOf(out[0]), { passwordHash: HASH }, FROM)),
    );
    expect(await listUsers(run)).toMatchObject([{ id: user?.id, has_password: true }]);
  });

  test("user create --json prints the resource with the link", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const outcome = await run([...CREATE_ADA, "--json"]);
    const { link, ...user } = jsonOf<UserResource & { link: string }>(outcome);
    expect(outcome.err).toEqual([]);
    expect(link).toMatch(LINK);
    expect(user.name).toBe("ada");
    expect([user]).toEqual(await listUsers(run));
  });

  test("user create --password-stdin reads the password and prints no link", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const { exitCode, out, err } = await run([...CREATE_ADA, "--password-stdin"], {}, [PASSWORD]);
    expect([exitCode, out]).toEqual([0, []]);
    expect(err).toEqual([
      expect.stringMatching(/^Created usr_\w+ \(ada, ada@acme.test\), owner\.$/),
    ]);
    expect(await canSignIn(folder, "ada@acme.test", PASSWORD)).toBe(true);
    expect(await canSignIn(folder, "ada@acme.test", `${PASSWORD} `)).toBe(false);
  });

  test("user create --json with a password prints the resource without a link", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const args = [...CREATE_ADA, "--password-stdin", "--json"];
    const user = jsonOf<UserResource>(await run(args, {}, [PASSWORD]));
    expect([user]).toEqual(await listUsers(run));
    expect(user.has_password).toBe(true);
  });

  test("user create has no flag for the password, since other processes could read it", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const { exitCode, err } = await run([...CREATE_ADA, "--password", PASSWORD]);
    expect([exitCode, err[0]]).toEqual([2, "--password is not an option of allclear user create."]);
    expect(await listUsers(run)).toEqual([]);
  });

  test("user create creates a missing data directory and ends the set-up link", async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    expect((await commandLine(dataDir)(CREATE_ADA)).exitCode).toBe(0);
    expect(existsSync(join(dataDir, "allclear.db"))).toBe(true);

    using other = temporaryFolder();
    const run = installedCommandLine(other.path);
    const setUp = await withContext(other, (ctx) => ctx.db.write((tx) => issueSetUpLink(ctx, tx)));
    expect(await purposeOf(other, setUp)).toBe("setup");
    await run(CREATE_ADA);
    expect(await purposeOf(other, setUp)).toBeUndefined();
  });

  test("user create reports every invalid value, exits with 2 and touches no data directory", async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    const { exitCode, out, err } = await commandLine(dataDir)(
      "user create --email ada --name= --role king --password-stdin".split(" "),
      {},
      ["short"],
    );
    expect([exitCode, out]).toEqual([2, []]);
    expect(err).toEqual([
      "--email must be an e-mail address, such as ada@example.com.",
      "--name is empty.",
      "--role must be one of owner, admin, editor, viewer.",
      "The password is shorter than 12 characters.",
      "allclear user create --help lists its options.",
    ]);
    expect(existsSync(dataDir)).toBe(false);
  });

  test.each([
    [["--email", ""], [], "--email is empty."],
    [["--email", "@"], [], "--email must be an e-mail address, such as ada@example.com."],
    [
      ["--email", "ada@acme.test", "--password-stdin"],
      [],
      "The password is shorter than 12 characters.",
    ],
    [
      ["--email", "ada@lovelace.test", "--password-stdin"],
      ["Ada@Lovelace.test"],
      "The password must not be the e-mail address.",
    ],
    [
      ["--email", "ada@acme.test", "--role", "admin"],
      [],
      "--role must be owner: this is the first user.",
    ],
  ])(
    "user create with %p exits with 2, prints the reason and creates no user",
    async (flags, input, error) => {
      using folder = temporaryFolder();
      const run = installedCommandLine(folder.path);
      const { exitCode, out, err } = await run(["user", "create", ...flags], {}, input);
      expect([exitCode, out]).toEqual([2, []]);
      expect(err).toEqual([error, "allclear user create --help lists its options."]);
      expect(await listUsers(run)).toEqual([]);
    },
  );

  test("user create requires a role from the second user on and rejects a used email", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run(CREATE_ADA);
    const roleless = await run(CREATE_BOB.slice(0, 4));
    expect([roleless.exitCode, roleless.err[0]]).toEqual([2, "--role is required."]);
    const taken = await run([...CREATE_BOB, "--email=ADA@acme.test"].toSpliced(2, 2));
    expect([taken.exitCode, taken.err[0]]).toEqual([2, "--email belongs to another user."]);
    expect((await run(CREATE_BOB)).exitCode).toBe(0);
    const users = await listUsers(run);
    expect(users.map(({ email, role }) => [email, role])).toEqual([
      ["bob@acme.test", "editor"],
      ["ada@acme.test", "owner"],
    ]);
  });

  test("user create with a role other than owner rejects a data directory without a database", async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    const { exitCode, err } = await commandLine(dataDir)(CREATE_BOB);
    expect([exitCode, err[0]]).toEqual([1, expect.stringContaining("There is no database at ")]);
    expect(existsSync(dataDir)).toBe(false);
  });

  test("links of user commands start with --base-url, else with the stored public address", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run(CREATE_ADA);
    await withContext(folder, (ctx) =>
      ctx.db.write((tx) => setPublicAddress(ctx, tx, "https://set.test", CLI_ACTOR)),
    );
    const set = await run(CREATE_BOB);
    expect(set.out[0]).toStartWith("https://set.test/admin/join/");
    const reset = ["user", "reset-password", "bob@acme.test", "--base-url", "https://flag.test"];
    expect((await run(reset)).out[0]).toStartWith("https://flag.test/admin/join/");
  });
});

describe("allclear user list", () => {
  test("user list shows all users with role and state, newest first", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run([...CREATE_ADA, "--password-stdin"], {}, [PASSWORD]);
    await run(CREATE_BOB);
    await run([...CREATE_BOB, "--email=eve@acme.test"].toSpliced(2, 2));
    await run(["user", "disable", "eve@acme.test"]);
    const { exitCode, out, err } = await run(["user", "list"]);
    expect([exitCode, err]).toEqual([0, []]);
    expect(out).toEqual([
      expect.stringMatching(/^ID +EMAIL +NAME +ROLE +STATE +LAST SIGN-IN$/),
      expect.stringMatching(/^usr_\w{26} +eve@acme\.test +eve +editor +disabled +never$/),
      expect.stringMatching(/^usr_\w{26} +bob@acme\.test +bob +editor +invited +never$/),
      expect.stringMatching(/^usr_\w{26} +ada@acme\.test +ada +owner +active +never$/),
    ]);
  });
});

describe("allclear user disable", () => {
  test("user disable ends access by id or email and names the user's live keys", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run(CREATE_ADA);
    await run(CREATE_BOB);
    const [bob] = await listUsers(run);
    const key = await withContext(folder, (ctx) =>
      ctx.db.write((tx) => {
        const actor = userActor({ id: bob?.id ?? "", name: "bob" });
        return createKey(ctx, tx, { name: "CI bot", scopes: ["read:status"] }, actor).key;
      }),
    );
    const { exitCode, out, err } = await run(["user", "disable", " BOB@acme.test"]);
    expect([exitCode, out]).toEqual([0, []]);
    expect(err).toEqual([
      `Disabled ${bob?.id} (bob, bob@acme.test).`,
      "These API keys of the user still work:",
      `  ${key.id} (CI bot)`,
      "To revoke one: allclear key revoke ID",
    ]);
    const [disabled] = await listUsers(run);
    expect(disabled?.disabled_at).not.toBeNull();

    await run(["key", "revoke", key.id]);
    const again = await run(["user", "disable", bob?.id ?? "", "--json"]);
    expect(again.err).toEqual([]);
    expect(jsonOf<UserResource>(again)).toEqual(disabled as UserResource);
  });

  test("user disable rejects the last owner with exit code 1 and changes nothing", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run(CREATE_ADA);
    const before = await listUsers(run);
    const { exitCode, out, err } = await run(["user", "disable", "ada@acme.test"]);
    expect([exitCode, out]).toEqual([1, []]);
    expect(err).toEqual([expect.stringContaining("is the last owner")]);
    expect(await listUsers(run)).toEqual(before);
  });

  test.each([
    ["usr_nobody", "There is no such user."],
    ["nobody@acme.test", "There is no such user as nobody@acme.test."],
  ])("user disable and reset-password report the unknown user %s", async (named, sentence) => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    for (const verb of ["disable", "reset-password", "reset-second-factor"]) {
      expect(await run(["user", verb, named])).toEqual({ exitCode: 1, out: [], err: [sentence] });
    }
  });
});

describe("allclear user reset-password", () => {
  /** Ada with a password and an open session. */
  async function withSession(folder: { path: string }) {
    const run = installedCommandLine(folder.path);
    await run([...CREATE_ADA, "--password-stdin"], {}, [PASSWORD]);
    const [ada] = await listUsers(run);
    const id = ada?.id ?? "";
    const token = await withContext(folder, (ctx) =>
      ctx.db.write((tx) => startSession(ctx, tx, id, FROM)),
    );
    const isOpen = () =>
      withContext(folder, (ctx) => createSessions(ctx).find(token, ctx.clock.now()) !== undefined);
    expect(await isOpen()).toBe(true);
    return { run, id, isOpen };
  }

  test("user reset-password prints a link and ends the user's sessions", async () => {
    using folder = temporaryFolder();
    const { run, id, isOpen } = await withSession(folder);
    const { exitCode, out, err } = await run(["user", "reset-password", id]);
    expect([exitCode, out]).toEqual([0, [expect.stringMatching(LINK)]]);
    expect(err).toEqual([
      `Ended all sessions of ${id} (ada, ada@acme.test).`,
      "Send this link to the user to choose a password. It works once, for 24 hours:",
    ]);
    expect(await isOpen()).toBe(false);
    expect(await purposeOf(folder, out[0])).toBe("reset");
  });

  test("user reset-password with a password sets it, ends the sessions and the links", async () => {
    using folder = temporaryFolder();
    const { run, isOpen } = await withSession(folder);
    const link = (await run(["user", "reset-password", "ada@acme.test"])).out[0];
    const args = ["user", "reset-password", "ADA@acme.test", "--password-stdin"];
    const { exitCode, out, err } = await run(args, {}, [`${PASSWORD} of another kind`]);
    expect([exitCode, out]).toEqual([0, []]);
    expect(err).toEqual([expect.stringMatching(/^Changed the password of usr_\w+ \(ada, /)]);
    expect(await isOpen()).toBe(false);
    expect(await purposeOf(folder, link)).toBeUndefined();
    expect(await canSignIn(folder, "ada@acme.test", `${PASSWORD} of another kind`)).toBe(true);
    expect(await canSignIn(folder, "ada@acme.test", PASSWORD)).toBe(false);
  });

  test.each([
    ["too short", "is shorter than 12 characters"],
    ["ADA@acme.test", "must not be the e-mail address"],
  ])(
    "user reset-password rejects the password %p with exit code 2 and ends nothing",
    async (password, error) => {
      using folder = temporaryFolder();
      const { run, id, isOpen } = await withSession(folder);
      const outcome = await run(["user", "reset-password", id, "--password-stdin"], {}, [password]);
      expect([outcome.exitCode, outcome.err[0]]).toEqual([2, `The password ${error}.`]);
      expect(await isOpen()).toBe(true);
      expect(await canSignIn(folder, "ada@acme.test", PASSWORD)).toBe(true);
    },
  );

  test("user reset-password rejects a disabled user", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run(CREATE_ADA);
    await run(CREATE_BOB);
    await run(["user", "disable", "bob@acme.test"]);
    const args = ["user", "reset-password", "bob@acme.test"];
    for (const [more, input] of [
      [[], []],
      [["--password-stdin"], [PASSWORD]],
    ] as const) {
      const { exitCode, out, err } = await run([...args, ...more], {}, [...input]);
      expect([exitCode, out]).toEqual([1, []]);
      expect(err[0]).toContain("is disabled");
    }
  });
});

describe("allclear user recover", () => {
  const OWNERS = { ALLCLEAR_LOCAL_SIGN_IN: "owners" };

  test("user recover ends all sessions and links, and prints a link that works with any setting", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run([...CREATE_ADA, "--password-stdin"], {}, [PASSWORD]);
    await run([...CREATE_BOB, "--password-stdin"], {}, [PASSWORD]);
    const [, bob] = (await listUsers(run)).toReversed();
    const earlier = await run(["user", "reset-password", "bob@acme.test"]);
    await withContext(folder, (ctx) =>
      ctx.db.write((tx) => startSession(ctx, tx, bob?.id ?? "", FROM)),
    );
    const refused = await run(["user", "reset-password", "bob@acme.test"], OWNERS);
    expect(refused.exitCode).toBe(1);
    expect(refused.err.join(" ")).toContain("allclear user recover");
    const { exitCode, out, err } = await run(["user", "recover", "bob@acme.test"], OWNERS);
    expect([exitCode, out]).toEqual([0, [expect.stringMatching(LINK)]]);
    expect(err[0]).toBe(
      `Recovered ${bob?.id} (bob, bob@acme.test), editor. All sessions have ended.`,
    );
    expect(err[1]).toContain("Only owners sign in with a password here");
    expect(await purposeOf(folder, earlier.out[0])).toBeUndefined();
    await withContext(folder, async (ctx) => {
      ctx.config = { ...ctx.config, localSignIn: "owners" };
      const { db, clock } = ctx;
      expect(listSessionsOf(db, bob?.id ?? "", clock.now())).toEqual([]);
      const chosen = { passwordHash: HASH };
      const joined = await db.write((tx) => acceptLink(ctx, tx, tokenOf(out[0]), chosen, FROM));
      expect(joined.user.role).toBe("editor");
    });
  });

  test("user create says where only owners have passwords that the link leads to the provider", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const owner = await run(CREATE_ADA, OWNERS);
    const editor = await run(CREATE_BOB, OWNERS);
    expect(owner.err.at(-1)).toStartWith("Send this link to the user to choose a password.");
    expect(editor.err.at(-1)).toStartWith(
      "Send this link to the user to join with the provider or by the identity proxy.",
    );
  });

  test("user recover --owner makes the user an owner, who signs in with the password", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run([...CREATE_ADA, "--password-stdin"], {}, [PASSWORD]);
    await run([...CREATE_BOB, "--password-stdin"], {}, [PASSWORD]);
    const args = ["user", "recover", "bob@acme.test", "--owner", "--password-stdin"];
    const { exitCode, out, err } = await run(args, OWNERS, ["another horse battery"]);
    expect([exitCode, out, err.length]).toEqual([0, [], 1]);
    expect((await listUsers(run)).find(({ email }) => email === "bob@acme.test")?.role).toBe(
      "owner",
    );
    expect(await canSignIn(folder, "bob@acme.test", "another horse battery")).toBe(true);
    const actions = await withContext(folder, (ctx) =>
      listNewestAudits(ctx.db, { limit: 10 }).map(({ action }) => action),
    );
    expect(actions).toEqual(expect.arrayContaining(["user.recover", "user.role"]));
  });

  test("user recover sets no password that would never sign in, and changes nothing", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run([...CREATE_ADA, "--password-stdin"], {}, [PASSWORD]);
    await run([...CREATE_BOB, "--password-stdin"], {}, [PASSWORD]);
    const before = await listUsers(run);
    const args = ["user", "recover", "bob@acme.test", "--password-stdin"];
    const { exitCode, out, err } = await run(args, OWNERS, ["another horse battery"]);
    expect([exitCode, out]).toEqual([1, []]);
    expect(err.join(" ")).toContain("or add --owner");
    expect(await listUsers(run)).toEqual(before);
    expect(await canSignIn(folder, "bob@acme.test", PASSWORD)).toBe(true);
    expect((await run(args, {}, ["another horse battery"])).exitCode).toBe(0);
    expect(await canSignIn(folder, "bob@acme.test", "another horse battery")).toBe(true);
  });

  test("user recover names the identities that go on signing in", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run([...CREATE_ADA, "--password-stdin"], {}, [PASSWORD]);
    const [ada] = await listUsers(run);
    const recover = ["user", "recover", "ada@acme.test"];
    expect((await run(recover)).err.join(" ")).not.toContain("identit");
    await withContext(folder, (ctx) =>
      ctx.db.write((tx) => {
        const at = { label: "mallory", createdAt: 1, lastUsedAt: 1 };
        const issuer = "https://login.example.com";
        insertIdentity(tx, { userId: ada?.id ?? "", issuer, subject: "m", ...at });
        const named = { issuer: "proxy", subject: "eve", ...at, label: "eve" };
        insertIdentity(tx, { userId: ada?.id ?? "", ...named });
      }),
    );
    const { exitCode, out, err } = await run(recover);
    expect([exitCode, out]).toEqual([0, [expect.stringMatching(LINK)]]);
    expect(err.slice(1, -1)).toEqual([
      "These identities go on signing in as the user, as far as the server uses their issuer:",
      "  mallory at https://login.example.com",
      "  eve at the identity proxy",
      "To disconnect one, in the dashboard: Account, or as an owner Settings → Users.",
    ]);
  });

  test("user recover mails the user, and refuses a short password, a disabled and an unknown user", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await run([...CREATE_ADA, "--password-stdin"], {}, [PASSWORD]);
    await run([...CREATE_BOB, "--password-stdin"], {}, [PASSWORD]);
    const relay = {
      ALLCLEAR_BASE_URL: "https://status.example.com",
      ALLCLEAR_SMTP_HOST: "relay.example",
      ALLCLEAR_MAIL_FROM: "status@example.com",
    };
    expect((await run(["user", "recover", "bob@acme.test"], relay)).exitCode).toBe(0);
    const mails = await withContext(folder, ({ db }) =>
      listMails(db, {}).map(({ template, recipient, params }) => [template, recipient, params]),
    );
    const params = { at: expect.any(Number), role: "editor" };
    expect(mails).toEqual([["recovered", "bob@acme.test", params]]);
    const short = await run(["user", "recover", "bob@acme.test", "--password-stdin"], {}, [
      "short",
    ]);
    expect(short.exitCode).toBe(2);
    await run(["user", "disable", "bob@acme.test"]);
    expect((await run(["user", "recover", "bob@acme.test", "--owner"])).exitCode).toBe(1);
    expect((await run(["user", "recover", "eve@acme.test"])).exitCode).toBe(1);
  });
});

describe("allclear user reset-second-factor", () => {
  /** Ada with a password and a second factor. */
  async function withFactor(folder: { path: string }) {
    const run = installedCommandLine(folder.path);
    await run([...CREATE_ADA, "--password-stdin"], {}, [PASSWORD]);
    const [ada] = await listUsers(run);
    const id = ada?.id ?? "";
    const token = await withContext(folder, (ctx) =>
      ctx.db.write((tx) => {
        const secret = createSecret(ctx.random);
        const code = codeAt(secret, ctx.clock.now());
        turnOnSecondFactor(ctx, tx, { userId: id, secret, code }, CLI_ACTOR, -1);
        return startSession(ctx, tx, id, FROM);
      }),
    );
    const state = () =>
      withContext(folder, (ctx) => ({
        isOpen: createSessions(ctx).find(token, ctx.clock.now()) !== undefined,
        recoveryCodes: readSecondFactor(ctx.db, id)?.recoveryCodes,
      }));
    expect(await state()).toEqual({ isOpen: true, recoveryCodes: 10 });
    return { run, id, state };
  }

  test("removes the second factor and ends all sessions, and says so", async () => {
    using folder = temporaryFolder();
    const { run, id, state } = await withFactor(folder);
    const name = `${id} (ada, ada@acme.test)`;
    expect(await run(["user", "reset-second-factor", "ADA@acme.test"])).toEqual({
      exitCode: 0,
      out: [],
      err: [`Removed the second factor of ${name} and ended all sessions.`],
    });
    expect(await state()).toEqual({ isOpen: false, recoveryCodes: undefined });
    expect(await run(["user", "reset-second-factor", id])).toEqual({
      exitCode: 0,
      out: [],
      err: [`${name} has no second factor.`],
    });
  });

  test("user recover removes the second factor too, and ends all sessions", async () => {
    using folder = temporaryFolder();
    const { run, id, state } = await withFactor(folder);
    const { exitCode, err } = await run(["user", "recover", id]);
    expect(exitCode).toBe(0);
    expect(err[0]).toEndWith("All sessions have ended. The second factor was removed.");
    expect(await state()).toEqual({ isOpen: false, recoveryCodes: undefined });
  });

  test("reset-password leaves the second factor in force", async () => {
    using folder = temporaryFolder();
    const { run, id, state } = await withFactor(folder);
    expect((await run(["user", "reset-password", id])).exitCode).toBe(0);
    expect(await state()).toEqual({ isOpen: false, recoveryCodes: 10 });
  });
});

describe("mails to users of commands", () => {
  const RELAY = {
    ALLCLEAR_BASE_URL: "https://status.example.com",
    ALLCLEAR_SMTP_HOST: "relay.example",
    ALLCLEAR_MAIL_FROM: "status@example.com",
  };
  const mailsIn = (folder: { path: string }) =>
    withContext(folder, ({ db }) =>
      listMails(db, {}).map(({ template, recipient, params }) => [template, recipient, params]),
    );

  test("with the relay's variables, invitations and changed passwords are mailed", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const created = await run(CREATE_ADA, RELAY);
    expect(created.err).toContain("A mail with a link of its own goes to ada@acme.test.");
    expect(created.out[0]).toStartWith("https://status.example.com/admin/join/");
    const token = tokenOf(created.out[0]);
    await withContext(folder, (ctx) =>
      ctx.db.write((tx) => acceptLink(ctx, tx, token, { passwordHash: HASH }, FROM)),
    );
    const reset = await run(["user", "reset-password", "ada@acme.test"], RELAY);
    expect(reset.err.join(" ")).not.toContain("mail");
    const args = ["user", "reset-password", "ada@acme.test", "--password-stdin"];
    expect((await run(args, RELAY, [PASSWORD])).exitCode).toBe(0);
    const changed = { by: "command", at: expect.any(Number) };
    expect(await mailsIn(folder)).toEqual([
      ["invitation", "ada@acme.test", { by: "" }],
      ["password_changed", "ada@acme.test", changed],
    ]);
  });

  test("without them nothing is mailed", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    expect((await run(CREATE_ADA)).err.join(" ")).not.toContain("A mail");
    expect(await mailsIn(folder)).toEqual([]);
  });
});
