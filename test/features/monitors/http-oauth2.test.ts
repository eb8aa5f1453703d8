import { describe, expect, test } from "bun:test";
import { schemaErrors } from "../../../src/base/validation";
import { invertResult } from "../../../src/features/monitors/monitoring";
import { httpProbe } from "../../../src/features/monitors/probes/http";
import type { HttpConfig } from "../../../src/features/monitors/probes/http-config";
import type { OAuth2 } from "../../../src/features/monitors/probes/http-sign-in";
import { createTestClock } from "../../support/clock";
import { checkHttp, createHttpChecks } from "../../support/http-check";
import { createMonitorApi, HTTP } from "../../support/monitor-api";
import { expectProblem } from "../../support/app";
import {
  answering,
  httpAnswer,
  type OnConnection,
  startRawServer,
  startTlsServer,
} from "../../support/raw-server";

const SECRET = "cl1ent-s3cret";

/** A server that keeps the requests it gets. */
async function startKeeping(answer: (request: string, nth: number) => string) {
  const requests: string[] = [];
  const server = await startRawServer(
    answering((request) => answer(request, requests.push(request))),
  );
  return Object.assign(server, { requests });
}

/** Starts a token server whose nth token is `t0ken-n`, and a site that accepts these tokens. */
async function startPair({
  answer = {},
  accepted = () => true,
}: { answer?: object; accepted?: (nth: number) => boolean } = {}) {
  const login = await startKeeping((_, nth) =>
    httpAnswer(
      200,
      JSON.stringify({ access_token: `t0ken-${nth}`, token_type: "Bearer", ...answer }),
    ),
  );
  const site = await startKeeping((request) => {
    const nth = Number(/^authorization: Bearer t0ken-(\d+)\r$/im.exec(request)?.[1] ?? 0);
    return httpAnswer(nth > 0 && accepted(nth) ? 200 : 401);
  });
  const config = (more: Partial<OAuth2> = {}): HttpConfig => ({
    url: `http://shop.test:${site.port}/`,
    oauth2: {
      token_url: `http://other.test:${login.port}/token`,
      client_id: "all clear",
      client_secret: SECRET,
      ...more,
    },
  });
  return {
    login,
    site,
    config,
    async [Symbol.asyncDispose]() {
      await login[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

const bodyOf = (request: string | undefined) =>
  Object.fromEntries(new URLSearchParams(request?.split("\r\n\r\n")[1]));
const authorisationOf = (request: string | undefined) =>
  /^authorization: (.*)\r$/im.exec(request ?? "")?.[1];

describe("an HTTP check with OAuth 2.0", () => {
  test("the check sends the token, for which the credentials were sent in a header", async () => {
    await using pair = await startPair();
    const config = pair.config({ scopes: ["health", "read"], audience: "https://api.test/" });
    expect(await checkHttp(config)).toMatchObject({ outcome: "ok", message: null });
    const [request] = pair.login.requests;
    expect(request).toStartWith("POST /token HTTP/1.1");
    expect(request?.toLowerCase()).toContain("content-type: application/x-www-form-urlencoded");
    // Form-encoded before the encoding in Base64.
    expect(authorisationOf(request)).toBe(`Basic ${btoa(`all+clear:${SECRET}`)}`);
    expect(bodyOf(request)).toEqual({
      grant_type: "client_credentials",
      scope: "health read",
      audience: "https://api.test/",
    });
  });

  test("the credentials can be sent in the body", async () => {
    await using pair = await startPair();
    expect((await checkHttp(pair.config({ auth: "body" }))).outcome).toBe("ok");
    const [request] = pair.login.requests;
    expect(authorisationOf(request)).toBeUndefined();
    expect(bodyOf(request)).toEqual({
      grant_type: "client_credentials",
      client_id: "all clear",
      client_secret: SECRET,
    });
  });

  test("a token is kept until 60 seconds before its end", async () => {
    await using pair = await startPair({ answer: { expires_in: 300 } });
    const clock = createTestClock();
    const check = await createHttpChecks({ clock });
    await check(pair.config());
    clock.advance(239_999);
    await check(pair.config());
    expect(pair.login.requests).toHaveLength(1);
    clock.advance(1);
    await check(pair.config());
    expect(pair.login.requests).toHaveLength(2);
    expect(pair.site.requests.map(authorisationOf)).toEqual([
      "Bearer t0ken-1",
      "Bearer t0ken-1",
      "Bearer t0ken-2",
    ]);
  });

  test("a token with a shorter lifetime is used once, and one without a lifetime for an hour", async () => {
    await using short = await startPair({ answer: { expires_in: 60 } });
    await using unknown = await startPair();
    const clock = createTestClock();
    const check = await createHttpChecks({ clock });
    for (const pair of [short, unknown]) {
      await check(pair.config());
      await check(pair.config());
    }
    expect([short.login.requests.length, unknown.login.requests.length]).toEqual([2, 1]);
    clock.advance(3_600_000);
    await check(unknown.config());
    expect(unknown.login.requests).toHaveLength(2);
  });

  test.each<[lifetime: unknown, requests: number]>([
    ["300", 1],
    ["0", 2],
    [0, 2],
    [1e300, 1],
    // As without a lifetime.
    [-1, 1],
    ["soon", 1],
    [{ valueOf: 1 }, 1],
    [null, 1],
  ])(
    "after a token with the lifetime %j, two checks need %i requests for tokens",
    async (lifetime, requests) => {
      await using pair = await startPair({ answer: { expires_in: lifetime } });
      const check = await createHttpChecks();
      for (let nth = 0; nth < 2; nth += 1) expect((await check(pair.config())).outcome).toBe("ok");
      expect(pair.login.requests).toHaveLength(requests);
    },
  );

  test("monitors with the same settings share a token, and other settings get their own", async () => {
    await using pair = await startPair();
    const check = await createHttpChecks();
    await check(pair.config());
    await check({ ...pair.config(), method: "POST" });
    expect(pair.login.requests).toHaveLength(1);
    await check(pair.config({ client_secret: "another" }));
    await check(pair.config({ scopes: ["read"] }));
    expect(pair.login.requests).toHaveLength(3);
  });

  test("a kept token that is rejected with 401 is replaced once", async () => {
    let least = 1;
    await using pair = await startPair({ accepted: (nth) => nth >= least });
    const check = await createHttpChecks();
    await check(pair.config());
    least = 2;
    expect((await check(pair.config())).outcome).toBe("ok");
    expect(pair.login.requests).toHaveLength(2);
    least = 9;
    const result = await check(pair.config());
    expect(result).toMatchObject({
      outcome: "failed",
      message: "The status is 401; it should be 2xx.",
    });
    expect(pair.login.requests).toHaveLength(3);
    // The rejected token is not kept.
    await check(pair.config());
    expect(pair.login.requests).toHaveLength(4);
    expect(pair.site.requests).toHaveLength(6);
  });

  test("a token is not sent to another origin after a redirect", async () => {
    await using target = await startKeeping(() => httpAnswer(200));
    await using login = await startKeeping(() => httpAnswer(200, '{"access_token":"t0ken"}'));
    await using site = await startKeeping(() =>
      httpAnswer(302, "", { Location: `http://other.test:${target.port}/` }),
    );
    const result = await checkHttp({
      url: `http://shop.test:${site.port}/`,
      oauth2: { token_url: `http://other.test:${login.port}/`, client_id: "a" },
    });
    expect(result.outcome).toBe("ok");
    expect(authorisationOf(site.requests[0])).toBe("Bearer t0ken");
    expect(authorisationOf(target.requests[0])).toBeUndefined();
  });
});

describe("a 401 of another origin", () => {
  test("a kept token is used again after a redirect led to another server that answers 401", async () => {
    await using target = await startKeeping(() => httpAnswer(401));
    await using login = await startKeeping(() => httpAnswer(200, '{"access_token":"t0ken"}'));
    await using site = await startKeeping(() =>
      httpAnswer(302, "", { Location: `http://other.test:${target.port}/` }),
    );
    const check = await createHttpChecks();
    for (let nth = 0; nth < 3; nth += 1) {
      const result = await check({
        url: `http://shop.test:${site.port}/`,
        oauth2: { token_url: `http://other.test:${login.port}/`, client_id: "a" },
      });
      expect(result.outcome).toBe("failed");
    }
    expect([login.requests.length, site.requests.length]).toEqual([1, 3]);
  });
});

describe("a failed request for a token", () => {
  const failing: [what: string, answer: OnConnection, message: string][] = [
    [
      "an error of RFC 6749",
      answering(httpAnswer(401, `{"error":"invalid_client","error_description":"${SECRET}"}`)),
      "The status is 401 (invalid_client).",
    ],
    ["another error", answering(httpAnswer(400, `{"error":"${SECRET}"}`)), "The status is 400."],
    ["a redirect", answering(httpAnswer(302, "", { Location: "/x" })), "The status is 302."],
    ["no JSON", answering(httpAnswer(200, "<html>")), "The answer has no access token."],
    ["no object", answering(httpAnswer(200, "null")), "The answer has no access token."],
    [
      "a token of another kind",
      answering(httpAnswer(200, '{"access_token":"x","token_type":"mac"}')),
      "The access token is not a bearer token.",
    ],
    [
      "a kind that is no text",
      answering(httpAnswer(200, '{"access_token":"x","token_type":{"toString":1}}')),
      "The access token is not a bearer token.",
    ],
    [
      "a token with line breaks",
      answering(httpAnswer(200, '{"access_token":"x\\r\\ny"}')),
      "The access token cannot be sent in a header.",
    ],
    [
      "a token without end",
      answering(httpAnswer(200, JSON.stringify({ access_token: "x".repeat(20_000) }))),
      "The access token cannot be sent in a header.",
    ],
    [
      "a body without end",
      answering(httpAnswer(200, JSON.stringify({ access_token: "x".repeat(200_000) }))),
      "The answer has no access token.",
    ],
    [
      "a closed connection",
      (socket) => socket.destroy(),
      "The connection was closed without an answer.",
    ],
  ];

  test.each(failing)("the check fails and names the step: %s", async (_, answer, message) => {
    await using login = await startRawServer(answer);
    await using site = await startKeeping(() => httpAnswer(200));
    const result = await checkHttp({
      url: `http://shop.test:${site.port}/`,
      oauth2: {
        token_url: `http://other.test:${login.port}/`,
        client_id: "a",
        client_secret: SECRET,
      },
    });
    expect(result).toEqual({
      outcome: "failed",
      latencyMs: null,
      message: `Fetching the access token: ${message}`,
      publicMessage: "The request could not be authorised.",
      isOwnFault: true,
    });
    // Nothing is known of the target.
    expect(invertResult(result).outcome).toBe("unknown");
    expect(site.requests).toEqual([]);
  });

  test("a silent token server ends with the check's deadline", async () => {
    await using login = await startRawServer(() => {});
    const result = await checkHttp(
      {
        url: "http://shop.test/",
        oauth2: { token_url: `http://other.test:${login.port}/`, client_id: "a" },
      },
      { signal: AbortSignal.timeout(100) },
    );
    expect(result.message).toBe("Fetching the access token: Timed out waiting for the answer.");
  });

  test("a token URL that resolves to a metadata address is refused", async () => {
    const names = { "shop.test": [["127.0.0.1"]], "login.test": [["169.254.169.254"]] };
    const result = await checkHttp(
      { url: "http://shop.test/", oauth2: { token_url: "http://login.test/", client_id: "a" } },
      { names },
    );
    expect(result.outcome).toBe("failed");
    expect(result.message).toStartWith("Fetching the access token: The host's address is");
  });

  test("the certificate of the token server is verified as that of the URL", async () => {
    await using login = await startTlsServer(
      "self",
      answering(httpAnswer(200, '{"access_token":"x"}')),
    );
    await using site = await startKeeping(() => httpAnswer(200));
    const config = {
      url: `http://shop.test:${site.port}/`,
      oauth2: { token_url: `https://other.test:${login.port}/`, client_id: "a" },
    };
    expect((await checkHttp(config)).message).toBe(
      "Fetching the access token: The certificate is self-signed.",
    );
    expect((await checkHttp({ ...config, verify_tls: false })).outcome).toBe("ok");
  });
});

const URL_HERE = "https://shop.example.com/";
const OAUTH2 = {
  token_url: "https://login.example.com/token",
  client_id: "allclear",
  client_secret: SECRET,
};
const STORED: HttpConfig = { url: URL_HERE, oauth2: OAUTH2 };

describe("the settings of OAuth 2.0", () => {
  const pointers = (oauth2: object, more: object = {}) => {
    const config = { url: URL_HERE, oauth2, ...more };
    const broken = schemaErrors(httpProbe.config, config);
    return [...broken, ...(broken.length > 0 ? [] : httpProbe.validate(config as HttpConfig))].map(
      ({ pointer }) => pointer,
    );
  };

  test.each<[object, string[]]>([
    [OAUTH2, []],
    [{ ...OAUTH2, client_secret: undefined }, []],
    [{ ...OAUTH2, client_secret: null }, ["#/oauth2/client_secret"]],
    [{}, ["#/oauth2/token_url", "#/oauth2/client_id"]],
    [{ ...OAUTH2, token_url: "ftp://login.example.com/" }, ["#/oauth2/token_url"]],
    [{ ...OAUTH2, token_url: "https://a:b@login.example.com/" }, ["#/oauth2/token_url"]],
    [{ ...OAUTH2, token_url: "http://169.254.169.254/" }, ["#/oauth2/token_url"]],
    [{ ...OAUTH2, client_id: "" }, ["#/oauth2/client_id"]],
    [{ ...OAUTH2, scopes: ["a b"] }, ["#/oauth2/scopes/0"]],
    [{ ...OAUTH2, scopes: Array(51).fill("a") }, ["#/oauth2/scopes"]],
    [{ ...OAUTH2, auth: "header" }, ["#/oauth2/auth"]],
    [{ ...OAUTH2, grant_type: "password" }, ["#/oauth2/grant_type"]],
  ])("the settings %j have these errors: %j", (oauth2, expected) => {
    expect(pointers(oauth2)).toEqual(expected);
  });

  test("a header with the name of the token's header is rejected", () => {
    expect(pointers(OAUTH2, { headers: { authorization: "x" } })).toEqual([
      "#/headers/authorization",
    ]);
  });

  test("the shown settings contain that there is a secret, and not the secret", () => {
    expect(httpProbe.present(STORED).oauth2).toEqual({
      token_url: OAUTH2.token_url,
      client_id: "allclear",
      has_client_secret: true,
      scopes: [],
      audience: null,
      auth: "basic",
    });
    const { client_secret: _, ...open } = OAUTH2;
    expect(httpProbe.present({ url: URL_HERE, oauth2: open })).toMatchObject({
      oauth2: { has_client_secret: false },
    });
  });

  test("a change of other settings keeps the secret, and null removes it", () => {
    const { client_secret: _, ...open } = OAUTH2;
    const change = { oauth2: { ...open, auth: "body" as const } };
    expect(httpProbe.validateChange(STORED, change)).toEqual([]);
    expect(httpProbe.merge(STORED, change).oauth2).toEqual({
      ...change.oauth2,
      client_secret: SECRET,
    });
    expect(httpProbe.merge(STORED, { oauth2: { ...open, client_secret: null } }).oauth2).toEqual(
      open,
    );
    expect(httpProbe.merge(STORED, { ip_family: "ipv4" }).oauth2).toEqual(OAUTH2);
    expect(httpProbe.merge(STORED, { oauth2: null })).toEqual({ url: URL_HERE });
  });

  test.each<[string, Partial<HttpConfig>]>([
    ["token URL", { oauth2: { token_url: "https://evil.test/token", client_id: "allclear" } }],
    ["URL", { url: "https://evil.test/" }],
  ])("a change of the origin of the %s asks for the secret again", (_, change) => {
    expect(httpProbe.validateChange(STORED, change).map(({ pointer }) => pointer)).toEqual([
      "#/oauth2/client_secret",
    ]);
    expect(JSON.stringify(httpProbe.merge(STORED, change))).not.toContain(SECRET);
    const settings = change.oauth2 ?? OAUTH2;
    for (const client_secret of ["again", null]) {
      const settled = { ...change, oauth2: { ...settings, client_secret } };
      expect(httpProbe.validateChange(STORED, settled)).toEqual([]);
      expect(httpProbe.merge(STORED, settled).oauth2?.client_secret).toBe(
        client_secret ?? undefined,
      );
    }
    expect(httpProbe.validateChange(STORED, { ...change, oauth2: null })).toEqual([]);
  });

  test("a check that no longer verifies certificates asks for the secret again, and one that does so again does not", () => {
    const change = { verify_tls: false };
    expect(httpProbe.validateChange(STORED, change).map(({ pointer }) => pointer)).toEqual([
      "#/oauth2/client_secret",
    ]);
    expect(httpProbe.validateChange({ ...STORED, ...change }, { verify_tls: true })).toEqual([]);
    const plain = {
      url: "http://shop.example.com/",
      oauth2: { ...OAUTH2, token_url: "http://a.test/" },
    };
    expect(httpProbe.validateChange(plain, change)).toEqual([]);
  });

  test("the API rejects such a change, and its answers contain no secret", async () => {
    await using api = await createMonitorApi();
    const { id, config } = await api.create({ ...HTTP, config: STORED });
    expect(JSON.stringify(config)).not.toContain(SECRET);
    const rejected = await api.patch(id, { config: { url: "https://evil.test/" } });
    const { errors } = expectProblem(rejected, "validation_failed");
    expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "#/config/oauth2/client_secret",
    ]);
    const { client_secret: _, ...open } = OAUTH2;
    const without = await api.patch(id, { config: { oauth2: { ...open, client_secret: null } } });
    expect(without.body.config.oauth2).toMatchObject({ has_client_secret: false });
    const changed = await api.patch(id, { config: { oauth2: null } });
    expect(changed.body.config.oauth2).toBeNull();
  });
});
