import { describe, expect, test } from "bun:test";
import { CLI_ACTOR, userActor } from "../../../src/base/actor";
import { createSessions } from "../../../src/features/auth/sessions";
import {
  signInPerson,
  disconnectIdentity,
  type Person,
  personOfProvider,
} from "../../../src/features/users/identities";
import { matchRole } from "../../../src/features/users/rules";
import { findIdentity, insertIdentity, listIdentitiesOf } from "../../../src/features/users/store";
import { testConfig } from "../../support/app";
import { statementsOf } from "../../support/monitor-store";
import { FROM, openPeopleInstallation } from "../../support/user-installation";

const ADA: Person = {
  system: "Northwind",
  issuer: "https://login.northwind.example",
  subject: "00u-ada",
  email: "Ada@Northwind.example",
  isEmailVerified: true,
  canLinkByEmail: false,
  name: "Ada",
  groups: [],
  timeZone: "Europe/London",
};

describe("the rule of a person", () => {
  const rules = [
    { group: "*", role: "viewer" },
    { group: "sre", role: "admin" },
    { group: "a=b", role: "editor" },
  ] as const;

  test("is the one with the highest role among those that match", () => {
    expect(matchRole(rules, [])?.role).toBe("viewer");
    expect(matchRole(rules, ["a=b"])?.role).toBe("editor");
    expect(matchRole(rules, ["a=b", "sre", "x"])).toEqual({ group: "sre", role: "admin" });
  });

  test("is none without a match, and names are compared letter by letter", () => {
    expect(matchRole(rules.slice(1), ["SRE", "sre ", "a"])).toBeUndefined();
    expect(matchRole([], ["sre"])).toBeUndefined();
  });
});

describe("the claims of a person", () => {
  const config = testConfig();
  const provider = { name: "Northwind", issuer: "https://login.northwind.example" };
  const read = (token: object, userInfo?: object) =>
    personOfProvider(
      provider,
      { token: { sub: "1", ...token }, userInfo: userInfo as never },
      config,
    );

  test("verify an e-mail by true alone, also as a text", () => {
    const verified = [true, "true", false, "false", "yes", 1, undefined].map(
      (email_verified) => read({ email: "a@b.example", email_verified }).isEmailVerified,
    );
    expect(verified).toEqual([true, true, false, false, false, false, false]);
  });

  test("deny a verification by one answer, even if the other one confirms it", () => {
    const config = testConfig({
      ALLCLEAR_OIDC_ISSUER: provider.issuer,
      ALLCLEAR_OIDC_CLIENT_ID: "allclear",
      ALLCLEAR_OIDC_EMAIL_VERIFIED: "assume",
      ALLCLEAR_OIDC_LINK_BY_EMAIL: "on",
    });
    const email = "a@b.example";
    const trust = (token: object, userInfo: object) => {
      const claims = { token: { sub: "1", ...token }, userInfo: userInfo as never };
      const { isEmailVerified, canLinkByEmail } = personOfProvider(provider, claims, config);
      return [isEmailVerified, canLinkByEmail];
    };
    expect(trust({}, { email })).toEqual([true, false]);
    expect(trust({}, { email, email_verified: true })).toEqual([true, true]);
    expect(trust({ email_verified: false }, { email })).toEqual([false, false]);
    expect(trust({ email_verified: false }, { email, email_verified: true })).toEqual([
      false,
      false,
    ]);
    expect(trust({ email }, { email_verified: false })).toEqual([false, false]);
  });

  test("name groups as a list or as one text, and ignore everything else", () => {
    const groups = (value: unknown) => read({ groups: value }).groups;
    expect(groups(["a", 1, null, "b"])).toEqual(["a", "b"]);
    expect(groups("a b")).toEqual(["a b"]);
    for (const value of [undefined, null, 7, { a: true }, [["a"]]]) {
      expect(groups(value)).toEqual([]);
    }
  });

  test("of the ID token precede those of UserInfo", () => {
    const person = read(
      { name: "Ada", groups: ["a"], email: "a@b.example", email_verified: true },
      { name: "Eve", groups: ["b"], email: "e@b.example", email_verified: false },
    );
    expect(person).toMatchObject({ name: "Ada", groups: ["a"], email: "a@b.example" });
    expect(read({}, { preferred_username: "ada" }).name).toBe("ada");
  });
});

describe("an identity", () => {
  test("is created with its user, whose time zone is that of the claims", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Owner");
    const { ctx } = installation;
    const signedIn = await installation.write((tx) => signInPerson(ctx, tx, ADA, { origin: FROM }));
    if ("rejection" in signedIn) throw new Error(signedIn.rejection);
    expect(signedIn.user).toMatchObject({ email: "ada@northwind.example", role: "viewer" });
    const session = createSessions(ctx).find(signedIn.sessionToken, ctx.clock.now());
    expect(session?.user.timeZone).toBe("Europe/London");
    const [identity] = listIdentitiesOf(ctx.db, { userId: signedIn.user.id });
    expect(session?.identityId).toBe(identity?.id ?? 0);
  });

  test("is linked by an e-mail of the same letters alone", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Owner");
    const { id } = await installation.user("Kim", { email: "kim@northwind.example" });
    const { ctx } = installation;
    const signIn = (email: string) =>
      installation.write((tx) => {
        const person = { ...ADA, subject: email, email, canLinkByEmail: true };
        return signInPerson(ctx, tx, person, { origin: FROM });
      });
    // The Kelvin sign, whose lower case is k.
    expect(await signIn("\u212aim@northwind.example")).toEqual({ rejection: "taken_email" });
    expect(listIdentitiesOf(ctx.db, { userId: id })).toEqual([]);
    expect(await signIn("KIM@Northwind.example")).toMatchObject({ user: { id } });
    expect(await signIn("kim@northwind.example")).toEqual({ rejection: "taken_email" });
  });

  test("of an issuer that is not in force is no way to sign in", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Owner");
    const { ctx } = installation;
    const inForce = { ...ctx, config: { ...ctx.config, oidcIssuer: ADA.issuer } };
    const signedIn = await installation.write((tx) => signInPerson(ctx, tx, ADA, { origin: FROM }));
    if ("rejection" in signedIn) throw new Error(signedIn.rejection);
    const { id } = signedIn.user;
    const old = { userId: id, issuer: "https://old.example", subject: "ada", label: "ada" };
    await installation.write((tx) => insertIdentity(tx, { ...old, createdAt: 1, lastUsedAt: 1 }));
    const [used, other] = listIdentitiesOf(ctx.db, { userId: id });
    const ada = userActor({ id, name: "Ada" });
    const rejection = await installation.rejectionFrom((tx) =>
      disconnectIdentity(inForce, tx, id, used?.id ?? 0, ada),
    );
    expect(rejection.message).toContain("could not sign in any more");
    await installation.write((tx) => disconnectIdentity(inForce, tx, id, other?.id ?? 0, ada));
    expect(listIdentitiesOf(ctx.db, { userId: id })).toHaveLength(1);
  });

  test("that was disconnected raises the version of its user, and can be connected with another", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Owner");
    const { ctx } = installation;
    const signIn = () => installation.write((tx) => signInPerson(ctx, tx, ADA, { origin: FROM }));
    const first = await signIn();
    if ("rejection" in first) throw new Error(first.rejection);
    const { id, version } = first.user;
    const [identity] = listIdentitiesOf(ctx.db, { userId: id });
    await installation.write((tx) => disconnectIdentity(ctx, tx, id, identity?.id ?? 0, CLI_ACTOR));
    const stored = installation.sqlite.query("SELECT version FROM users WHERE id = ?").get(id);
    expect(stored).toEqual({ version: version + 1 });
    expect(await signIn()).toEqual({ rejection: "taken_email" });
  });

  test("is found by an index, and so are those of a user and the sessions of one", async () => {
    await using installation = openPeopleInstallation();
    const { sqlite } = installation;
    const statements = await installation.write((tx) =>
      statementsOf(tx, (noting) => {
        findIdentity(noting, { issuer: "x", subject: "y" });
        listIdentitiesOf(noting, { userId: "x" });
      }),
    );
    const plans = [...statements, "DELETE FROM sessions WHERE identity_id = 7"].map((sql) =>
      sqlite
        .prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail)
        .join("; "),
    );
    expect(plans).toHaveLength(3);
    for (const plan of plans) expect(plan).toMatch(/^SEARCH \w+ USING/);
  });
});
