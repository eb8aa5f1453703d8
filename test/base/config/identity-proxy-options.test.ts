import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../../src/base/config/load";
import { identityHeaders } from "../../../src/base/config/identity-proxy";
import { formatNetwork } from "../../../src/base/config/parse";
import { temporaryFolder } from "../../support/temporary-folder";

const SECRET = "0123456789-abcdef";
const PROXY = { ALLCLEAR_IDENTITY_PROXY: "10.0.0.5", ALLCLEAR_IDENTITY_PROXY_SECRET: SECRET };
const LOCAL = {
  ALLCLEAR_IDENTITY_PROXY: "127.0.0.1,::1",
  ALLCLEAR_IDENTITY_PROXY_NO_SECRET: "on",
};

function problemsOf(env: Record<string, string>): string[] {
  const loaded = loadConfig({}, env);
  return "problems" in loaded ? loaded.problems : [];
}

function configOf(env: Record<string, string>) {
  const loaded = loadConfig({}, env);
  if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
  return loaded.config;
}

describe("the options of an identity proxy", () => {
  test("no proxy names users by default, and the headers have the names that Authelia gives them", () => {
    const config = configOf({});
    expect(config.identityProxy).toEqual([]);
    expect(config.identityProxySecret).toBeUndefined();
    expect(identityHeaders(config)).toEqual([
      "remote-user",
      "remote-groups",
      "allclear-proxy-secret",
    ]);
  });

  test("networks, headers and the secret of a file are read", async () => {
    using folder = temporaryFolder();
    const file = `${folder.path}/secret`;
    await Bun.write(file, `${SECRET}\n`);
    const config = configOf({
      ALLCLEAR_IDENTITY_PROXY: "10.0.0.5, 172.18.0.0/16",
      ALLCLEAR_IDENTITY_PROXY_HEADER: "X-Authentik-Username",
      ALLCLEAR_IDENTITY_PROXY_EMAIL_HEADER: "X-Authentik-Email",
      ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER: "X-Groups",
      ALLCLEAR_IDENTITY_PROXY_SECRET_FILE: file,
    });
    expect(config.identityProxy.map(formatNetwork)).toEqual(["10.0.0.5", "172.18.0.0/16"]);
    expect(config.identityProxySecret).toBe(SECRET);
    expect(identityHeaders(config)).toEqual([
      "x-authentik-username",
      "x-authentik-email",
      "x-groups",
      "allclear-proxy-secret",
    ]);
  });

  test("name and e-mail can be in the same header", () => {
    const config = configOf({
      ...LOCAL,
      ALLCLEAR_IDENTITY_PROXY_HEADER: "Tailscale-User-Login",
      ALLCLEAR_IDENTITY_PROXY_EMAIL_HEADER: "Tailscale-User-Login",
    });
    expect(identityHeaders(config)).toEqual([
      "tailscale-user-login",
      "remote-groups",
      "allclear-proxy-secret",
    ]);
  });

  test("a proxy needs a secret, but for one on this machine with the option that says so", () => {
    const { ALLCLEAR_IDENTITY_PROXY } = PROXY;
    const needed =
      "ALLCLEAR_IDENTITY_PROXY_SECRET_FILE or ALLCLEAR_IDENTITY_PROXY_SECRET is required";
    expect(problemsOf({ ALLCLEAR_IDENTITY_PROXY })).toEqual([
      `${needed} with ALLCLEAR_IDENTITY_PROXY.`,
    ]);
    expect(problemsOf({ ALLCLEAR_IDENTITY_PROXY: "127.0.0.1" })).toHaveLength(1);
    expect(problemsOf(LOCAL)).toEqual([]);
    for (const networks of ["127.0.0.1,10.0.0.5", "0.0.0.0/0", "127.0.0.0/7", "::/0"]) {
      expect(problemsOf({ ...LOCAL, ALLCLEAR_IDENTITY_PROXY: networks })).toEqual([
        `${needed}, since ALLCLEAR_IDENTITY_PROXY names more than this machine.`,
      ]);
    }
  });

  test.each(["too-short", "with a space in it.", "with,a,comma,in,it", `über-${SECRET}`])(
    "%p is no secret, and is not repeated",
    (secret) => {
      const problems = problemsOf({ ...PROXY, ALLCLEAR_IDENTITY_PROXY_SECRET: secret });
      expect(problems).toEqual([
        "ALLCLEAR_IDENTITY_PROXY_SECRET must have 16 to 1000 visible ASCII characters, without commas and spaces.",
      ]);
    },
  );

  test.each(["", "Remote User", "Remote:User", "Cookie", "authorization", "Allclear-Proxy-Secret"])(
    "%p is no header for the name of a user",
    (name) => {
      expect(problemsOf({ ...PROXY, ALLCLEAR_IDENTITY_PROXY_HEADER: name })).toEqual([
        `ALLCLEAR_IDENTITY_PROXY_HEADER must be the name of a header, such as Remote-User; it is "${name}".`,
      ]);
    },
  );

  test.each(["ALLCLEAR_IDENTITY_PROXY_HEADER", "ALLCLEAR_IDENTITY_PROXY_EMAIL_HEADER"])(
    "the groups are not in the header of %s",
    (name) => {
      expect(problemsOf({ ...PROXY, [name]: "remote-groups" })).toEqual([
        "--identity-proxy-groups-header must be a header of its own.",
      ]);
    },
  );

  test("a proxy can send no groups", () => {
    const config = configOf({ ...PROXY, ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER: "off" });
    expect(identityHeaders(config)).toEqual(["remote-user", "allclear-proxy-secret"]);
  });

  test("roles by groups need the header to be named, since one that the proxy does not send is the client's own", () => {
    const roles = { ALLCLEAR_ROLES: "ops=owner; *=viewer" };
    const needed = ["--identity-proxy-groups-header is required with ALLCLEAR_ROLES."];
    const renamed = { ...PROXY, ALLCLEAR_IDENTITY_PROXY_HEADER: "X-Name" };
    for (const env of [PROXY, LOCAL, renamed]) {
      expect(problemsOf(env)).toEqual([]);
      expect(problemsOf({ ...env, ...roles })).toEqual(needed);
      for (const name of ["off", "Remote-Groups", "X-Groups"]) {
        const given = { ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER: name };
        expect(problemsOf({ ...env, ...roles, ...given })).toEqual([]);
      }
    }
  });

  test("roles need an entry for everyone if the proxy sends no groups, since all users would be refused", () => {
    const off = { ...PROXY, ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER: "off" };
    expect(problemsOf({ ...off, ALLCLEAR_ROLES: "ops=owner; a*=viewer" })).toEqual([
      "ALLCLEAR_ROLES must have an entry for *, since ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER is off.",
    ]);
    expect(problemsOf({ ...off, ALLCLEAR_ROLES: "*=viewer" })).toEqual([]);
    expect(problemsOf(off)).toEqual([]);
    const named = { ...PROXY, ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER: "X-Groups" };
    expect(problemsOf({ ...named, ALLCLEAR_ROLES: "ops=owner" })).toEqual([]);
  });

  test("the other options are rejected without a proxy", () => {
    for (const name of ["HEADER", "EMAIL_HEADER", "GROUPS_HEADER"]) {
      const option = `ALLCLEAR_IDENTITY_PROXY_${name}`;
      expect(problemsOf({ [option]: "X-Name" })).toEqual([
        `--identity-proxy is required with ${option}.`,
      ]);
    }
    const { ALLCLEAR_IDENTITY_PROXY_SECRET } = PROXY;
    expect(problemsOf({ ALLCLEAR_IDENTITY_PROXY_SECRET })).toHaveLength(1);
  });

  test("users are connected by e-mail with a proxy too, without a provider", () => {
    expect(problemsOf({ ALLCLEAR_OIDC_LINK_BY_EMAIL: "on" })).toHaveLength(1);
    expect(problemsOf({ ...PROXY, ALLCLEAR_OIDC_LINK_BY_EMAIL: "on" })).toEqual([]);
  });
});
