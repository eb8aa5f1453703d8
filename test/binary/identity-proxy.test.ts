import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import {
  createInstallation,
  holds,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "../support/binary";
import { describeWithPrograms } from "../support/fleet/describe";
import { startCaddy } from "../support/servers/caddy";

setDefaultTimeout(PROCESS_TEST_MS);

const SECRET = "secret-of-the-proxy-0123456789";
const ADA = "ada@northwind.example";
const DOCUMENT = await Bun.file(join(import.meta.dir, "../../docs/sign-in.md")).text();

/** Returns the sample for Caddy below a heading of the document. */
function sampleOf(heading: string): string {
  const [, section = ""] = DOCUMENT.split(`\n### ${heading}\n`);
  const sample = /^```\n(status\.example\.com \{\n[\s\S]*?)^```$/m.exec(
    section.split("\n### ")[0] ?? "",
  );
  if (!sample?.[1]) throw new Error(`no sample below ${heading}`);
  return sample[1];
}

/** Returns the variables of the sample for a shell below a heading. */
function variablesOf(heading: string): Record<string, string> {
  const [, section = ""] = DOCUMENT.split(`\n### ${heading}\n`);
  const [, lines = ""] = /^```sh\n([\s\S]*?)^```$/m.exec(section.split("\n##")[0] ?? "") ?? [];
  return Object.fromEntries(
    lines
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split("=", 2)),
  );
}

/** A product that Caddy asks, and the headers in which it names a user. */
interface Product {
  heading: string;
  /** Path that Caddy asks for. */
  path: string;
  upstream: string;
  nameHeader: string;
  emailHeader: string;
  groupsHeader: string;
}

const PRODUCTS: readonly Product[] = [
  {
    heading: "Authelia",
    path: "/api/authz/forward-auth",
    upstream: "authelia:9091",
    nameHeader: "Remote-User",
    emailHeader: "Remote-Email",
    groupsHeader: "Remote-Groups",
  },
  {
    heading: "authentik",
    path: "/outpost.goauthentik.io/auth/caddy",
    upstream: "authentik:9000",
    nameHeader: "X-Authentik-Username",
    emailHeader: "X-Authentik-Email",
    groupsHeader: "Remote-Groups",
  },
  {
    heading: "oauth2-proxy",
    path: "/oauth2/auth",
    upstream: "oauth2-proxy:4180",
    nameHeader: "X-Auth-Request-Email",
    emailHeader: "X-Auth-Request-Email",
    groupsHeader: "X-Auth-Request-Groups",
  },
];

/** Substitute for the products: names the user in the cookie `who` of a request. Without the cookie it answers 401. */
function startProduct({ path, nameHeader, emailHeader, groupsHeader }: Product) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (new URL(request.url).pathname !== path)
        return new Response("no such path", { status: 404 });
      const who = /who=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
      if (who === undefined) return new Response("sign in first", { status: 401 });
      // Such as a rule of Authelia that lets a path pass without a sign-in.
      if (who === "nobody") return new Response(null, { status: 200 });
      const name = nameHeader === emailHeader ? `${who}@northwind.example` : who;
      const headers = new Headers({ [groupsHeader]: "staff,editors" });
      headers.set(emailHeader, `${who}@northwind.example`);
      headers.set(nameHeader, name);
      return new Response(null, { status: 200, headers });
    },
  });
}

/** Headers in which a client names another user as itself. */
const CLAIMS = {
  "Remote-User": "root",
  "Remote-Email": "root@northwind.example",
  "Remote-Groups": "owners",
  "X-Authentik-Username": "root",
  "X-Authentik-Email": "root@northwind.example",
  "X-Auth-Request-Email": "root@northwind.example",
  "X-Auth-Request-User": "root",
  "X-Auth-Request-Groups": "owners",
  "Allclear-Proxy-Secret": "a-guess-of-the-secret-0123",
};

/** Cookies of a browser, by name. */
type Jar = Map<string, string>;

async function open(address: string, path: string, jar: Jar, init: RequestInit = {}) {
  const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ");
  const answer = await fetch(address + path, {
    redirect: "manual",
    ...init,
    headers: { accept: "text/html", cookie, ...init.headers },
  });
  for (const text of answer.headers.getSetCookie()) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
    jar.set(name, value);
  }
  return {
    status: answer.status,
    location: answer.headers.get("location"),
    text: await answer.text(),
  };
}

for (const product of PRODUCTS) {
  // oxlint-disable-next-line no-await-in-loop
  await describeWithPrograms(
    `Caddy with ${product.heading}`,
    { go: ["caddy"], isRequired: true },
    () => {
      let site: Installation;
      let server: Server;
      let caddy: Awaited<ReturnType<typeof startCaddy>>;
      let asked: ReturnType<typeof startProduct>;
      let key: string;

      beforeAll(async () => {
        site = await createInstallation();
        const secretFile = site.path("secret");
        await Bun.write(secretFile, `${SECRET}\n`);
        await site.output("user", "create", "--email", "owner@example.com", "--name", "Owner");
        await site.createPage("acme", ["API"]);
        ({ value: key } = await site.createKey(["read:status"]));
        server = await site.serve({
          env: {
            ALLCLEAR_IDENTITY_PROXY: "127.0.0.1",
            ALLCLEAR_IDENTITY_PROXY_EMAIL_HEADER: "Remote-Email",
            ALLCLEAR_IDENTITY_PROXY_SECRET_FILE: secretFile,
            ALLCLEAR_ROLES: "owners=owner; editors=editor",
            ...variablesOf(product.heading),
          },
        });
        asked = startProduct(product);
        caddy = await startCaddy((address) =>
          sampleOf(product.heading)
            .replaceAll("status.example.com", address)
            .replaceAll(product.upstream, `127.0.0.1:${asked.port}`)
            .replaceAll("allclear:8080", `127.0.0.1:${server.port}`)
            .replaceAll("/run/secrets/proxy", secretFile),
        );
      });
      afterAll(async () => {
        await caddy?.[Symbol.asyncDispose]();
        await asked?.stop(true);
        await site?.[Symbol.asyncDispose]();
      });

      test("the user whom the product names is signed in, with the role of the groups", async () => {
        const jar: Jar = new Map([["who", "ada"]]);
        const first = await open(caddy.address, "/admin/settings/account", jar);
        expect([first.status, first.text]).toEqual([200, expect.stringContaining(ADA)]);
        const session = jar.get("allclear_session");
        expect(session).toMatch(/^[0-9A-Za-z]{43}$/);
        await open(caddy.address, "/admin", jar);
        expect(jar.get("allclear_session")).toBe(session);
        const users = JSON.parse(await site.output("user", "list", "--json")) as object[];
        const ada = expect.objectContaining({ email: ADA, role: "editor" });
        expect(users).toContainEqual(ada);
        // A form needs the origin, as with a password.
        const form = { method: "POST", body: new URLSearchParams({ theme: "dark" }) };
        const path = "/admin/settings/account/theme";
        const foreign = { ...form, headers: { origin: "https://evil.example" } };
        expect((await open(caddy.address, path, jar, foreign)).status).toBe(403);
        const own = { ...form, headers: { origin: caddy.address } };
        expect((await open(caddy.address, path, jar, own)).status).toBe(303);
      });

      test("a client does not become another user by headers of its own", async () => {
        for (const who of ["ada", "nobody"]) {
          const jar: Jar = new Map([["who", who]]);
          const answer = await open(caddy.address, "/admin", jar, { headers: CLAIMS });
          expect(answer.status).toBe(who === "ada" ? 200 : 303);
          expect(answer.text).not.toContain("root");
          // Also where the product is not asked.
          await open(caddy.address, "/status/acme", jar, { headers: CLAIMS });
        }
        const spellings = ["/admin", "//admin", "/%61dmin", "/Admin", "/x/../admin", "/admin/"];
        for (const path of spellings) {
          const answer = await open(caddy.address, path, new Map(), { headers: CLAIMS });
          expect(answer.status).not.toBe(200);
        }
        expect(await site.output("user", "list", "--json")).not.toContain("root");
      });

      test("without a user the product answers, and headers that come past Caddy are ignored", async () => {
        const refused = await open(caddy.address, "/admin", new Map());
        expect(refused.status).toBe(product.heading === "oauth2-proxy" ? 302 : 401);
        const past = await open(server.url, "/admin", new Map(), { headers: CLAIMS });
        expect(past.location).toContain("/admin/sign-in");
        const isLogged = async () =>
          server.stderr().includes("identity headers of a request were ignored");
        expect(await holds(isLogged)).toBe(true);
      });

      test("the API is reached with a key, without asking the product", async () => {
        const headers = { authorization: `Bearer ${key}`, accept: "application/json", ...CLAIMS };
        const answer = await open(caddy.address, "/api/v1/status/acme", new Map(), { headers });
        expect(answer.status).toBe(200);
      });

      test("the log says at the start which headers the proxy must overwrite, and never the secret", () => {
        const line = server
          .stderr()
          .split("\n")
          .find((text) => text.includes("must overwrite"));
        for (const header of [product.nameHeader, product.emailHeader, product.groupsHeader]) {
          expect(line).toContain(header.toLowerCase());
        }
        expect(line).toContain("allclear-proxy-secret");
        expect(server.stderr()).not.toContain(SECRET);
      });
    },
  );
}

await describeWithPrograms("Caddy alone", { go: ["caddy"], isRequired: true }, () => {
  test("the sample names the users of Caddy", async () => {
    await using site = await createInstallation();
    const secretFile = site.path("secret");
    await Bun.write(secretFile, SECRET);
    await site.output("user", "create", "--email", "owner@example.com", "--name", "Owner");
    const server = await site.serve({
      env: {
        ALLCLEAR_IDENTITY_PROXY: "127.0.0.1",
        ALLCLEAR_IDENTITY_PROXY_EMAIL_HEADER: "Remote-Email",
        ALLCLEAR_IDENTITY_PROXY_SECRET_FILE: secretFile,
      },
    });
    const hash = await Bun.password.hash("a password", { algorithm: "bcrypt", cost: 4 });
    await using caddy = await startCaddy((address) =>
      sampleOf("Caddy alone")
        .replaceAll("status.example.com", address)
        .replaceAll("allclear:8080", `127.0.0.1:${server.port}`)
        .replaceAll("/run/secrets/proxy", secretFile)
        .replaceAll("$2a$14$…", hash),
    );
    const authorization = `Basic ${Buffer.from("ada:a password").toString("base64")}`;
    const own = { headers: { authorization, ...CLAIMS } };
    const answer = await open(caddy.address, "/admin/settings/account", new Map(), own);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining(ADA)]);
    expect((await open(caddy.address, "/admin", new Map(), { headers: CLAIMS })).status).toBe(401);
    expect(await site.output("user", "list", "--json")).not.toContain("root");
  });
});
