import { CLIENT_ID, CLIENT_SECRET, signInByForm } from "../oidc";
import { getGoProgram } from "../fleet/go";
import { type ServerProcess, startServer } from "./server-process";

/** Dex on loopback, with a form for signing in. */
export interface Dex extends AsyncDisposable {
  issuer: string;
  /** Variables of an installation that uses it. */
  env: Record<string, string>;
  /** Signs a person in at an address of Dex, and returns the path to which it leads back. */
  authorize(address: string, email: string): Promise<string>;
}

const PASSWORD = "a password at Dex";

/** Someone whom Dex knows by itself, with the group `authors`. */
export const AUTHOR = "kilgore@kilgore.trout";

/** Starts Dex with people without groups, by their e-mails, and with the author. */
export async function startDex(baseUrl: string, people: readonly string[]): Promise<Dex> {
  const program = await getGoProgram("dex");
  const hash = await Bun.password.hash(PASSWORD, { algorithm: "bcrypt", cost: 10 });
  const server: ServerProcess = await startServer({
    async command({ folder, port }) {
      const config = {
        issuer: `http://127.0.0.1:${port}/dex`,
        storage: { type: "memory" },
        web: { http: `127.0.0.1:${port}` },
        oauth2: { skipApprovalScreen: true },
        expiry: { idTokens: "5m" },
        staticClients: [
          {
            id: CLIENT_ID,
            name: "Allclear",
            secret: CLIENT_SECRET,
            redirectURIs: [`${baseUrl}/admin/sign-in/callback`],
          },
        ],
        enablePasswordDB: true,
        staticPasswords: people.map((email) => ({
          email,
          hash,
          username: email.split("@")[0],
          userID: email,
        })),
        connectors: [{ type: "mockCallback", id: "mock", name: "Author" }],
      };
      // JSON is YAML too.
      await Bun.write(`${folder}/dex.json`, JSON.stringify(config));
      return [program, "serve", "dex.json"];
    },
  });
  const issuer = `http://127.0.0.1:${server.port}/dex`;
  return {
    issuer,
    env: {
      ALLCLEAR_OIDC_ISSUER: issuer,
      ALLCLEAR_OIDC_CLIENT_ID: CLIENT_ID,
      ALLCLEAR_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      ALLCLEAR_OIDC_NAME: "Dex",
    },
    authorize(address, email) {
      const connector = email === AUTHOR ? "mock" : "local";
      const fields = { login: email, password: PASSWORD };
      return signInByForm(`${address}&connector_id=${connector}`, new URL(issuer).origin, fields);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
