import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../../src/base/config/load";

const PROVIDER = {
  ALLCLEAR_OIDC_ISSUER: "https://login.northwind.example/",
  ALLCLEAR_OIDC_CLIENT_ID: "allclear",
};

function load(env: Record<string, string>) {
  const loaded = loadConfig({}, env);
  return "problems" in loaded ? loaded.problems : loaded.config;
}

describe("the options of the provider", () => {
  test("an issuer is taken letter by letter, with defaults for the rest", () => {
    expect(load(PROVIDER)).toMatchObject({
      oidcIssuer: "https://login.northwind.example/",
      oidcClientId: "allclear",
      oidcGroupsClaim: "groups",
      oidcLinkByEmail: "off",
      oidcEmailVerified: "required",
      createUsers: "on",
      localSignIn: "all",
    });
    expect(load({})).not.toHaveProperty("oidcIssuer");
  });

  test.each([
    "login.northwind.example",
    "ftp://login.northwind.example",
    "https://user:pass@login.northwind.example",
    "https://login.northwind.example/?tenant=1",
    "https://login.northwind.example/#x",
    " https://login.northwind.example",
    `https://login.northwind.example/${"x".repeat(500)}`,
    "http://203.0.113.7/",
    "http://[2001:db8::1]:8080",
    "http://[::ffff:203.0.113.7]",
    "http://169.254.169.254",
  ])("the issuer %s is rejected", (issuer) => {
    expect(load({ ...PROVIDER, ALLCLEAR_OIDC_ISSUER: issuer })).toEqual([
      expect.stringMatching(/^ALLCLEAR_OIDC_ISSUER must be/),
    ]);
  });

  test.each([
    "http://127.0.0.1:5556/dex",
    "http://10.0.0.7",
    "http://100.64.0.7",
    "http://[fd00::7]",
    "http://login.internal",
  ])("the issuer %s may be reached without TLS", (issuer) => {
    expect(load({ ...PROVIDER, ALLCLEAR_OIDC_ISSUER: issuer })).toMatchObject({
      oidcIssuer: issuer,
    });
  });

  test("an issuer needs a client id, and the other options an issuer", () => {
    const { ALLCLEAR_OIDC_ISSUER } = PROVIDER;
    expect(load({ ALLCLEAR_OIDC_ISSUER })).toEqual([
      "--oidc-client-id is required with ALLCLEAR_OIDC_ISSUER.",
    ]);
    expect(load({ ALLCLEAR_OIDC_CLIENT_SECRET: "hidden" })).toEqual([
      "--oidc-issuer is required with ALLCLEAR_OIDC_CLIENT_SECRET.",
    ]);
    expect(load({ ALLCLEAR_OIDC_LINK_BY_EMAIL: "on" })).toEqual([
      "--oidc-issuer is required with ALLCLEAR_OIDC_LINK_BY_EMAIL.",
    ]);
  });

  test("an invalid secret is not repeated", () => {
    const problems = load({ ...PROVIDER, ALLCLEAR_OIDC_CLIENT_SECRET: "hidden\u0007" });
    expect(problems).toEqual(["ALLCLEAR_OIDC_CLIENT_SECRET must not have control characters."]);
  });
});

describe("options of both the provider and the identity proxy", () => {
  const OPTIONS = { ALLCLEAR_ROLES: "*=editor", ALLCLEAR_CREATE_USERS: "off" };

  test("are rejected without either, since they would have no effect", () => {
    for (const env of [OPTIONS, { ...OPTIONS, ALLCLEAR_IDENTITY_PROXY: "" }]) {
      const [proxy] = Object.keys(env).filter((name) => name.endsWith("PROXY"));
      const either = `--oidc-issuer or ${proxy ?? "--identity-proxy"}`;
      expect(load(env)).toEqual([
        `${either} is required with ALLCLEAR_ROLES.`,
        `${either} is required with ALLCLEAR_CREATE_USERS.`,
      ]);
    }
  });

  test("are taken with one of them", () => {
    const proxy = {
      ALLCLEAR_IDENTITY_PROXY: "127.0.0.1",
      ALLCLEAR_IDENTITY_PROXY_NO_SECRET: "on",
      ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER: "off",
    };
    for (const env of [PROVIDER, proxy]) {
      expect(load({ ...env, ...OPTIONS })).toMatchObject({ createUsers: "off" });
    }
  });
});

describe("roles by groups", () => {
  const roles = (text: string) => {
    const loaded = load({ ...PROVIDER, ALLCLEAR_ROLES: text });
    return Array.isArray(loaded) ? loaded : (loaded as { roles: unknown }).roles;
  };

  test("entries are separated by semicolons, and divided at the last =", () => {
    expect(roles("sre=admin; support = editor;cn=boss,dc=x=owner ;*=viewer;")).toEqual([
      { group: "sre", role: "admin" },
      { group: "support", role: "editor" },
      { group: "cn=boss,dc=x", role: "owner" },
      { group: "*", role: "viewer" },
    ]);
  });

  test.each(["sre", "=admin", "sre=", "sre=root", "sre=Admin", "sre=admin, ops=viewer x"])(
    "the entry %s is rejected",
    (text) => {
      expect(roles(text)).toEqual([
        expect.stringMatching(/^ALLCLEAR_ROLES must list groups and roles/),
      ]);
    },
  );

  test("an empty list is rejected, since every sign-in would be refused", () => {
    expect(roles(" ; ")).toEqual([expect.stringMatching(/^ALLCLEAR_ROLES is empty/)]);
  });
});
