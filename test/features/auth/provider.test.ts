import { describe, expect, test } from "bun:test";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createProvider } from "../../../src/features/auth/provider";
import { listUsers } from "../../../src/features/users/users";
import { createEgress } from "../../../src/egress/egress";
import type { Answer } from "../../support/app";
import { BEGIN, BrowserClient } from "../../support/browser-client";
import { userWithPassword } from "../../support/dashboard";
import {
  CLIENT_ID,
  CLIENT_SECRET,
  createProviderSite,
  type FakeProvider,
  makeSigningKey,
  type ProviderSite,
  signBySecret,
  signToken,
} from "../../support/oidc";

/** Creates an installation with a user and a provider. */
async function siteWith(options?: Parameters<typeof createProviderSite>[0]): Promise<ProviderSite> {
  const site = await createProviderSite(options);
  await userWithPassword(site.app, "owner@example.com");
  return site;
}

const reasonsOf = ({ app }: ProviderSite) =>
  app.logged.flatMap(({ reason }) => (typeof reason === "string" ? [reason] : []));

/** Expects the page of a failure without a session or a new user, and returns the reason in the log. */
function expectRefused(site: ProviderSite, answer: Answer, client: BrowserClient): string {
  expect(answer.status).toBe(400);
  expect(answer.text).toContain("Sign-in was not completed");
  expect(client.session).toBeUndefined();
  expect(listUsers(site.app.ctx.db)).toHaveLength(1);
  return reasonsOf(site).at(-1) ?? "";
}

/** Signs in at a site whose provider was prepared, and expects a refusal. */
async function refusedAt(site: ProviderSite): Promise<string> {
  const client = new BrowserClient(site.app);
  return expectRefused(site, await client.signIn(site.provider), client);
}

type Change = (provider: FakeProvider) => void | Promise<void>;

const claims =
  (more: Record<string, unknown>): Change =>
  (provider) => {
    provider.claims = (own) => ({ ...own, ...more });
  };

const publicKeyOf = async ({ keys: [key] }: FakeProvider): Promise<string> => {
  const der = await crypto.subtle.exportKey("spki", key?.pair.publicKey as CryptoKey);
  const body = Buffer.from(der).toString("base64");
  return `-----BEGIN PUBLIC KEY-----\n${body}\n-----END PUBLIC KEY-----\n`;
};

const WRONG_TOKENS: readonly [name: string, change: Change, reason: RegExp][] = [
  ["of another issuer", claims({ iss: "https://evil.example" }), /"iss".*\(iss\)/],
  ["for another client", claims({ aud: "other" }), /"aud".*\(aud\)/],
  ["for several clients without azp", claims({ aud: [CLIENT_ID, "other"] }), /audiences/],
  [
    "for several clients, authorised by another",
    claims({ aud: [CLIENT_ID, "other"], azp: "other" }),
    /azp/,
  ],
  ["authorised by another client", claims({ azp: "other" }), /azp/],
  ["with another nonce", claims({ nonce: "x".repeat(43) }), /nonce/],
  ["without a nonce", claims({ nonce: undefined }), /nonce/],
  ["without a subject", claims({ sub: undefined }), /"sub".*missing/],
  ["that has expired", claims({ exp: 1_000 }), /has expired/],
  [
    "without a signature",
    (provider) => {
      provider.idToken = (own) => signBySecret(own, undefined);
    },
    /"alg"/,
  ],
  [
    "signed by the client secret",
    (provider) => {
      provider.idToken = (own) => signBySecret(own, CLIENT_SECRET);
    },
    /"alg"/,
  ],
  [
    "signed by the public key as a secret",
    async (provider) => {
      const secret = await publicKeyOf(provider);
      provider.idToken = (own) => signBySecret(own, secret);
    },
    /"alg"/,
  ],
  [
    "signed by a foreign key with the id of its own",
    async (provider) => {
      const foreign = { ...(await makeSigningKey()), kid: provider.keys[0]?.kid ?? "" };
      provider.idToken = (own) => signToken(foreign, own);
    },
    /signature verification failed/,
  ],
  [
    "signed by a key that is not published",
    async (provider) => {
      const foreign = await makeSigningKey();
      provider.idToken = (own) => signToken(foreign, own);
    },
    /no applicable keys found/,
  ],
  [
    "whose claims were changed after the signature",
    (provider) => {
      provider.idToken = async (own) => {
        const [key] = provider.keys;
        if (!key) throw new Error("no key");
        const [head, , signature] = (await signToken(key, own)).split(".");
        const body = Buffer.from(JSON.stringify({ ...own, sub: "00u-eve" })).toString("base64url");
        return `${head}.${body}.${signature}`;
      };
    },
    /signature verification failed/,
  ],
  [
    "that names a critical extension",
    (provider) => {
      const [key] = provider.keys;
      if (!key) throw new Error("no key");
      provider.idToken = (own) => signToken(key, own, { crit: ["exp"] });
    },
    /crit/,
  ],
  [
    "that is none",
    (provider) => {
      provider.idToken = () => "not.a token";
    },
    /Invalid JWT/,
  ],
];

describe("an ID token", () => {
  test.each(WRONG_TOKENS)("%s is refused", async (_, change, reason) => {
    await using site = await siteWith();
    await change(site.provider);
    expect(await refusedAt(site)).toMatch(reason);
  });

  test("by each accepted algorithm signs in", async () => {
    await using site = await siteWith();
    for (const alg of ["ES256", "RS256", "PS256", "ES512", "EdDSA"] as const) {
      site.provider.keys = [await makeSigningKey(alg)];
      const client = new BrowserClient(site.app);
      await client.signIn(site.provider);
      expect([alg, client.session === undefined]).toEqual([alg, false]);
    }
  });

  test("by a new key signs in at once after the keys were changed", async () => {
    await using site = await siteWith();
    await new BrowserClient(site.app).signIn(site.provider);
    site.provider.keys = [await makeSigningKey()];
    const client = new BrowserClient(site.app);
    await client.signIn(site.provider);
    expect(client.session).toBeDefined();
  });
});

describe("the clock of the provider", () => {
  const TEN_MINUTES = (10 * MINUTE_MS) / SECOND_MS;
  const shifted =
    (seconds: number, names: readonly string[]): FakeProvider["claims"] =>
    (own) => {
      const times = Object.fromEntries(names.map((name) => [name, Number(own["iat"]) + seconds]));
      return { ...own, ...times, iat: Number(own["iat"]) + seconds };
    };

  test("10 minutes behind is named in the log when the ID token has expired", async () => {
    await using site = await siteWith();
    site.provider.claims = (own) => ({
      ...shifted(-TEN_MINUTES, [])(own),
      exp: Number(own["iat"]) - TEN_MINUTES + 300,
    });
    expect(await refusedAt(site)).toBe(
      "The ID token has expired (exp): the clock of the provider is 600 s behind this server's.",
    );
  });

  test("10 minutes ahead is named in the log when the ID token is not valid yet", async () => {
    await using site = await siteWith();
    site.provider.claims = (own) => ({
      ...shifted(TEN_MINUTES, ["nbf"])(own),
      exp: Number(own["iat"]) + 2 * TEN_MINUTES,
    });
    expect(await refusedAt(site)).toBe(
      "The ID token is not valid yet (nbf): the clock of the provider is 600 s ahead of this server's.",
    );
  });

  test("10 minutes away prevents no sign-in while the ID token is valid", async () => {
    await using site = await siteWith();
    for (const seconds of [-TEN_MINUTES, TEN_MINUTES]) {
      site.provider.claims = (own) => ({
        ...shifted(seconds, [])(own),
        exp: Number(own["iat"]) + 3_600,
      });
      const client = new BrowserClient(site.app);
      await client.signIn(site.provider);
      expect(client.session).toBeDefined();
    }
  });

  test("is compared with that of the server, not of the machine", async () => {
    await using site = await siteWith();
    site.app.clock.setWallClock(site.app.clock.now() + 40 * 24 * HOUR_MS);
    const client = new BrowserClient(site.app);
    await client.signIn(site.provider);
    expect(client.session).toBeDefined();
  });
});

describe("the answer of the authorization endpoint", () => {
  test.each([
    [
      "another issuer",
      (query: URLSearchParams) => query.set("iss", "https://evil.example"),
      /"iss"/,
    ],
    [
      "no issuer, though one is announced",
      (query: URLSearchParams) => query.delete("iss"),
      /"iss".*missing/,
    ],
    ["two codes", (query: URLSearchParams) => query.append("code", "second"), /"code".*once/],
    ["two states", (query: URLSearchParams) => query.append("state", "second"), /"state".*once/],
    [
      "an ID token of the implicit flow",
      (query: URLSearchParams) => query.set("id_token", "x"),
      /implicit|unsupported/,
    ],
    ["an unknown code", (query: URLSearchParams) => query.set("code", "unknown"), /invalid_grant/],
  ])("with %s is refused", async (_, change, reason) => {
    await using site = await siteWith();
    site.provider.callback = change;
    expect(await refusedAt(site)).toMatch(reason);
  });
});

describe("a provider", () => {
  /** Begins a sign-in that cannot begin, and returns the reason in the log. */
  async function notBegun(site: ProviderSite): Promise<string> {
    const client = new BrowserClient(site.app);
    return expectRefused(site, await client.open(BEGIN), client);
  }

  const DISCOVERY = "/.well-known/openid-configuration";

  test("that names another issuer is refused", async () => {
    await using site = await siteWith();
    for (const issuer of ["https://evil.example", `${site.provider.issuer}/`, undefined]) {
      site.provider.metadata = (own) => ({ ...own, issuer });
      const reason = await notBegun(site);
      if (issuer !== undefined) {
        expect(reason).toBe(
          `The provider names itself “${issuer}”, and ALLCLEAR_OIDC_ISSUER is “${site.provider.issuer}”.`,
        );
      }
    }
  });

  test("with https that names an endpoint without is refused", async () => {
    await using site = await siteWith({ isSecure: true });
    await new BrowserClient(site.app).signIn(site.provider);
    expect(listUsers(site.app.ctx.db)).toHaveLength(2);
    await using other = await siteWith({ isSecure: true });
    const names = ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"];
    for (const name of names) {
      other.provider.metadata = (own) => ({
        ...own,
        [name]: String(own[name]).replace("https:", "http:"),
      });
      expect(await notBegun(other)).toBe(`The provider has no ${name} by https.`);
    }
  });

  test("with a certificate that is not trusted is refused", async () => {
    await using site = await siteWith({
      isSecure: true,
      env: { ALLCLEAR_CA_FILE: undefined as never },
    });
    expect(await notBegun(site)).toMatch(/certificate/i);
  });

  test.each([
    ["a public address", "http://93.184.216.34/token", /not a private address/],
    ["a metadata address", "http://169.254.169.254/token", /metadata/],
  ])("without https that names %s gets no request there", async (_, url, reason) => {
    await using site = await siteWith();
    site.provider.metadata = (own) => ({ ...own, token_endpoint: url });
    expect(await refusedAt(site)).toMatch(reason);
  });

  test.each(["https://169.254.169.254", "https://[fd00:ec2::254]"])(
    "at the metadata address %s gets no request",
    async (issuer) => {
      await using site = await siteWith({ env: { ALLCLEAR_OIDC_ISSUER: issuer } });
      expect(await notBegun(site)).toMatch(/metadata/);
    },
  );

  test("is not followed to another address", async () => {
    await using site = await siteWith();
    for (const path of [DISCOVERY, "/token", "/jwks"]) {
      site.provider.answer = (asked) =>
        asked === path ? Response.redirect(`${site.provider.issuer}/elsewhere`, 302) : undefined;
      const reason = path === DISCOVERY ? await notBegun(site) : await refusedAt(site);
      expect(reason).toContain("It redirects, which is not followed.");
    }
    expect(site.provider.requests.map(({ path }) => path)).not.toContain("/elsewhere");
  });

  test("that sends more than 256 KiB is refused, even if it declares no length", async () => {
    await using site = await siteWith();
    const piece = new Uint8Array(64 * 1024).fill(0x20);
    let sent = 0;
    site.provider.answer = (path) =>
      path !== DISCOVERY
        ? undefined
        : new Response(
            new ReadableStream({
              pull(controller) {
                sent += piece.length;
                controller.enqueue(piece);
              },
            }),
            { headers: { "content-type": "application/json" } },
          );
    expect(await notBegun(site)).toContain("longer than 256 KiB");
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  test("that does not answer is given up after 5 seconds", async () => {
    await using site = await siteWith();
    const { promise, resolve } = Promise.withResolvers<Response>();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    site.provider.answer = () => {
      arrive();
      return promise;
    };
    const client = new BrowserClient(site.app);
    const opening = client.open(BEGIN);
    await arrived;
    await site.app.clock.advance(5 * SECOND_MS);
    expect(expectRefused(site, await opening, client)).toContain("Timed out");
    resolve(new Response());
  });

  test.each([
    ["no JSON", () => new Response("<html>")],
    ["a list", () => Response.json([])],
    ["an error", () => new Response("broken", { status: 500 })],
    ["nothing", () => new Response(null, { status: 204 })],
  ])("that sends %s is refused", async (_, answer) => {
    await using site = await siteWith();
    site.provider.answer = (path) => (path === DISCOVERY ? answer() : undefined);
    expect(await notBegun(site)).not.toBe("");
  });

  test("that answers text instead of a token puts none of it into the log", async () => {
    await using site = await siteWith();
    const headers = { "content-type": "application/json" };
    site.provider.answer = (path) =>
      path === "/token" ? new Response("eyJhbGciOiJ9 secret", { headers }) : undefined;
    const reason = await refusedAt(site);
    expect(reason).toContain("JSON");
    expect(reason).not.toMatch(/eyJ|secret/);
  });

  test("that signs only by shared secrets is refused", async () => {
    await using site = await siteWith();
    site.provider.metadata = (own) => ({
      ...own,
      id_token_signing_alg_values_supported: ["HS256", "none"],
    });
    expect(await notBegun(site)).toContain("no algorithm that is accepted");
  });

  test("that is down delays no other way in, and is asked again once it is up", async () => {
    await using site = await siteWith();
    site.provider.answer = () => new Response("down", { status: 503 });
    await notBegun(site);
    const page = await site.app.call("/admin/sign-in");
    expect([page.status, page.text.includes("Sign in with Northwind")]).toEqual([200, true]);
    site.provider.answer = () => undefined;
    const client = new BrowserClient(site.app);
    await client.signIn(site.provider);
    expect(client.session).toBeDefined();
  });

  test("is asked for its metadata once in five minutes, also by many at once", async () => {
    await using site = await siteWith();
    const asked = () => site.provider.requests.filter(({ path }) => path === DISCOVERY).length;
    const begin = () => new BrowserClient(site.app).begin();
    await Promise.all(Array.from({ length: 10 }, begin));
    await begin();
    expect(asked()).toBe(1);
    await site.app.clock.advance(5 * MINUTE_MS);
    await begin();
    expect(asked()).toBe(2);
  });

  test("that supports only client_secret_post gets the secret in the form", async () => {
    await using site = await siteWith();
    site.provider.metadata = (own) => ({
      ...own,
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    });
    await new BrowserClient(site.app).signIn(site.provider);
    const token = site.provider.requests.find(({ path }) => path === "/token");
    expect(token?.form.get("client_secret")).toBe(CLIENT_SECRET);
    expect(token?.headers.get("authorization")).toBeNull();
  });

  test("that refuses the client secret is named with its word, without the secret", async () => {
    await using site = await siteWith();
    site.provider.answer = (path) =>
      path === "/token"
        ? Response.json({ error: "invalid_client", error_description: "no" }, { status: 401 })
        : undefined;
    expect(await refusedAt(site)).toBe(
      "The provider refused with status 401: invalid_client (no). Compare ALLCLEAR_OIDC_CLIENT_ID and ALLCLEAR_OIDC_CLIENT_SECRET with the provider’s.",
    );
  });
});

describe("a check of the provider", () => {
  const check = async ({ app }: ProviderSite) => {
    const { ctx } = app;
    const provider = createProvider(ctx, createEgress(ctx));
    const findings = (await provider?.check()) ?? [];
    return findings.map(({ part, isOk, text }) => `${isOk ? "ok" : "failed"} ${part}: ${text}`);
  };

  test("finds issuer, keys, clock and abilities of a good one", async () => {
    await using site = await siteWith({ env: { ALLCLEAR_ROLES: "*=viewer" } });
    site.app.clock.setWallClock(Date.now());
    const found = await check(site);
    expect(found[2]).toMatch(/^ok clock: The clock of the provider is [012] s /);
    expect(found.toSpliced(2, 1)).toEqual([
      `ok metadata: The provider names itself ${site.provider.issuer}.`,
      "ok keys: The provider has 1 key for signatures: EC.",
      "ok PKCE: The provider supports S256.",
      "ok scopes: Asked for: openid profile email groups.",
    ]);
  });

  test("names a clock that is wrong, keys that are missing, and a provider that is down", async () => {
    await using site = await siteWith();
    site.provider.keys = [];
    const found = await check(site);
    // The Date of the answer is that of the machine, far from the clock of the test.
    expect(found[2]).toMatch(
      /^failed clock: The clock of the provider is [\d,]+ s (behind|ahead of)/,
    );
    expect(found[1]).toBe("failed keys: The provider has no key that can verify a signature.");
    site.provider.answer = () => new Response("down", { status: 503 });
    expect(await check(site)).toEqual([
      expect.stringMatching(
        /^failed metadata: At .+\/\.well-known\/openid-configuration: The status is 503\.$/,
      ),
    ]);
  });
});
