import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import { CLIENT_ID, CLIENT_SECRET, makeSigningKey, signInByForm } from "../oidc";

/** The provider of the package `oidc-provider` on loopback, with a form for signing in. */
export interface RealProvider extends AsyncDisposable {
  issuer: string;
  /** Variables of an installation that uses it. */
  env: Record<string, string>;
  /** Claims by the name with which people sign in. */
  people: Map<string, Record<string, unknown>>;
  /** Signs a person in at an address of the provider, and returns the path to which it leads back. */
  authorize(address: string, login: string): Promise<string>;
  /** Replaces the keys. */
  rotateKeys(): Promise<void>;
}

/**
 * Starts a provider that leads back to a public address, which may be known only later. Claims are in the ID token if
 * `isWhole`.
 */
export async function startOidcProvider(
  baseUrl: string | Promise<string>,
  { isWhole = false }: { isWhole?: boolean } = {},
): Promise<RealProvider> {
  const people = new Map<string, Record<string, unknown>>();
  let built: Promise<Provider>;
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function build(): Promise<Provider> {
    const { kid, pair } = await makeSigningKey("RS256");
    // Published with the public key, these would forbid to verify by it.
    const {
      key_ops: _operations,
      ext: _extractable,
      ...jwk
    } = await crypto.subtle.exportKey("jwk", pair.privateKey);
    return new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [`${await baseUrl}/admin/sign-in/callback`],
        },
      ],
      jwks: { keys: [{ ...jwk, kid, use: "sig", alg: "RS256" } as never] },
      claims: {
        openid: ["sub"],
        email: ["email", "email_verified"],
        profile: ["name"],
        groups: ["groups"],
      },
      conformIdTokenClaims: !isWhole,
      pkce: { required: () => true },
      cookies: { keys: ["a key of the tests"] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, ...people.get(id) }) as never,
      }),
      // Skips the question for consent.
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({
          accountId: oidc.session?.accountId ?? "",
          clientId: oidc.client?.clientId ?? "",
        });
        grant.addOIDCScope(String(oidc.params?.["scope"]));
        await grant.save();
        return grant;
      },
    });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = await built;
    if (request.url === "/favicon.ico") {
      response.statusCode = 204;
      response.end();
      return undefined;
    }
    if (!request.url?.startsWith("/interaction/")) return provider.callback()(request, response);
    if (request.method === "GET") {
      response.setHeader("content-type", "text/html");
      response.end(
        `<!doctype html><html lang="en"><title>Northwind</title><main><h1>Northwind</h1>
        <form method="post"><label>Login <input name="login"></label><button>Log in</button></form>`,
      );
      return undefined;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const accountId = new URLSearchParams(Buffer.concat(chunks).toString()).get("login") ?? "";
    return provider.interactionFinished(request, response, { login: { accountId } });
  }

  built = build();
  return {
    issuer,
    env: {
      ALLCLEAR_OIDC_ISSUER: issuer,
      ALLCLEAR_OIDC_CLIENT_ID: CLIENT_ID,
      ALLCLEAR_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      ALLCLEAR_OIDC_NAME: "Northwind",
    },
    people,

    authorize: (address, login) => signInByForm(address, issuer, { login }),

    async rotateKeys() {
      built = build();
      await built;
    },

    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
