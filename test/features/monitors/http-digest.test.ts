import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { answerTo, challengesIn } from "../../../src/features/monitors/probes/http-sign-in";
import { httpProbe } from "../../../src/features/monitors/probes/http";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { listStoredMonitors } from "../../../src/features/monitors/declared";
import { createTestApp } from "../../support/app";
import { apply } from "../../support/apply";
import { createHttpChecks } from "../../support/http-check";
import { createMonitorApi, HTTP } from "../../support/monitor-api";
import { createMonitorDashboard } from "../../support/monitor-dashboard";
import { answering, httpAnswer, startRawServer } from "../../support/raw-server";
import { stepsOf } from "../../support/steps";

const digest = { username: "monitor", password: "s3cret" };

interface DoorOptions {
  /** Name of the protected area with one character per byte. */
  realm?: string;
  /** Parameters of the challenge beside realm and nonce. */
  challenge?: string;
  /** Nonces in their order, of which each is accepted as often as `uses` says. */
  uses?: number;
  /** Answer to a request that is signed in. */
  open?: (request: string) => string;
}

/** A server that asks for Digest sign-in, and verifies it as RFC 7616 describes. */
async function startDoor({
  realm = 'door "1"',
  challenge = 'qop="auth"',
  uses = 1_000,
  open,
}: DoorOptions = {}) {
  const requests: string[] = [];
  const algorithm = /algorithm=([\w-]+)/.exec(challenge)?.[1] ?? "MD5";
  let nonce = 1;
  let used = 0;
  const counts = new Set<string>();
  const hash = (text: string) =>
    createHash(algorithm.startsWith("SHA-256") ? "sha256" : "md5")
      .update(text, "latin1")
      .digest("hex");
  const quotedRealm = `"${realm.replaceAll('"', '\\"')}"`;
  const ask = (stale = "") => {
    const more = challenge === "" ? "" : `, ${challenge}`;
    return httpAnswer(401, "no", {
      "WWW-Authenticate": `Basic realm="a, b", Digest realm=${quotedRealm}, nonce="n${nonce}"${stale}${more}`,
    });
  };
  const server = await startRawServer(
    answering((request) => {
      requests.push(request);
      const [method = "", uri = ""] = request.split(" ");
      const given = /^Authorization: Digest (.*)\r$/m.exec(request)?.[1];
      if (given === undefined) return ask();
      const part = (name: string) =>
        new RegExp(`(?:^|, )${name}="?((?:[^",\\\\]|\\\\.)*)`).exec(given)?.[1] ?? "";
      if (part("nonce") !== `n${nonce}`) return ask(", stale=true");
      if (used === uses) {
        nonce += 1;
        used = 0;
        return ask(", stale=true");
      }
      const key = hash(`monitor:${realm}:s3cret`);
      const a1 = algorithm.endsWith("-sess") ? hash(`${key}:n${nonce}:${part("cnonce")}`) : key;
      const qop = part("qop") === "" ? "" : `${part("nc")}:${part("cnonce")}:auth:`;
      const right = hash(`${a1}:n${nonce}:${qop}${hash(`${method}:${uri}`)}`);
      // The same count with a nonce would be a request that someone has recorded.
      const isReplayed = qop !== "" && counts.has(`n${nonce} ${part("nc")}`);
      counts.add(`n${nonce} ${part("nc")}`);
      if (part("response") !== right || part("uri") !== uri || isReplayed) return ask();
      used += 1;
      return open?.(request) ?? httpAnswer(200, "in");
    }),
  );
  return Object.assign(server, { requests, url: `http://shop.test:${server.port}/a?b=c` });
}

const signedIn = (request: string) => /^Authorization: Digest /m.test(request);

describe("Digest sign-in of an HTTP check", () => {
  test.each([
    [""],
    ['qop="auth"'],
    ['qop="auth-int, auth", opaque="o"'],
    ["qop=auth, algorithm=MD5"],
    ['qop="auth", algorithm=MD5-sess'],
    ['qop="auth", algorithm=SHA-256'],
    ['qop="auth", algorithm=SHA-256-sess'],
  ])("a challenge is answered: %s", async (challenge) => {
    await using door = await startDoor({ challenge });
    const check = await createHttpChecks();
    expect(await check({ url: door.url, digest })).toMatchObject({ outcome: "ok" });
    expect(door.requests.map(signedIn)).toEqual([false, true]);
    expect(door.requests.join()).not.toContain("s3cret");
  });

  test.each([
    ["UTF-8", Buffer.from("摄像机 1")],
    ["latin1", Buffer.from("Tür", "latin1")],
  ])("a realm comes back with the bytes that it has: %s", async (_charset, bytes) => {
    const realm = bytes.toString("latin1");
    await using door = await startDoor({ realm });
    const check = await createHttpChecks();
    expect(await check({ url: door.url, digest })).toMatchObject({ outcome: "ok" });
    expect(door.requests[1]).toContain(`realm="${realm}"`);
  });

  test("a body is sent again with the answer to the challenge", async () => {
    await using door = await startDoor();
    const check = await createHttpChecks();
    const config = { url: door.url, digest, method: "POST" as const, body: "all" };
    expect(await check(config)).toMatchObject({ outcome: "ok" });
    expect(door.requests[1]).toEndWith("\r\n\r\nall");
  });

  test("a wrong password fails after one answer", async () => {
    await using door = await startDoor();
    const check = await createHttpChecks();
    const wrong = { ...digest, password: "other" };
    expect(await check({ url: door.url, digest: wrong })).toMatchObject({
      outcome: "failed",
      message: "The status is 401; it should be 2xx.",
    });
    expect(door.requests).toHaveLength(2);
  });

  test("a stale nonce is replaced once", async () => {
    await using door = await startDoor({ uses: 0 });
    const check = await createHttpChecks();
    expect(await check({ url: door.url, digest })).toMatchObject({ outcome: "failed" });
    expect(door.requests.map(signedIn)).toEqual([false, true, true]);
  });

  test("a redirect on the same origin is signed in with the next count, or a new nonce", async () => {
    const open = (request: string) =>
      request.startsWith("GET /a") ? httpAnswer(302, "", { Location: "/b" }) : httpAnswer(200);
    for (const uses of [1, 2]) {
      await using door = await startDoor({ uses, open });
      const check = await createHttpChecks();
      expect(await check({ url: door.url, digest })).toMatchObject({ outcome: "ok" });
      expect(door.requests).toHaveLength(uses === 1 ? 4 : 3);
      expect(door.requests.at(-1)).toMatch(uses === 1 ? /nc=00000001/ : /nc=00000002/);
    }
  });

  test("another origin is not answered, even if it asks", async () => {
    await using other = await startDoor();
    const open = () => httpAnswer(302, "", { Location: other.url });
    await using door = await startDoor({ open });
    const check = await createHttpChecks();
    expect(await check({ url: door.url, digest })).toMatchObject({
      message: "The status is 401; it should be 2xx.",
    });
    expect(other.requests.map(signedIn)).toEqual([false]);
  });

  test("a server that asks for something else is not answered", async () => {
    const asks = [
      'Basic realm="a"',
      'Digest realm="a", nonce="n", algorithm=MD4',
      'Digest realm="a", nonce="n", qop="auth-int"',
      'Digest realm="a"',
    ];
    for (const ask of asks) {
      let count = 0;
      await using server = await startRawServer(
        answering(() => {
          count += 1;
          return httpAnswer(401, "", { "WWW-Authenticate": ask });
        }),
      );
      const check = await createHttpChecks();
      const url = `http://shop.test:${server.port}/`;
      expect(await check({ url, digest })).toMatchObject({ outcome: "failed" });
      expect(count).toBe(1);
    }
  });

  test("the sign-in is a step, without its secrets", async () => {
    await using door = await startDoor({ challenge: 'qop="auth", algorithm=SHA-256' });
    const steps = await stepsOf("http", { url: door.url, digest });
    expect(steps).toContain("sign_in | Digest, SHA-256");
    expect(steps.join()).not.toMatch(/s3cret|monitor|door/);
  });
});

describe("the answer to a challenge", () => {
  const request = {
    method: "GET",
    uri: "/dir/index.html",
    count: 1,
    clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
  };
  const asked = (algorithm: string) =>
    challengesIn(
      `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
    )[0] ?? new Map();

  test.each([
    ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
    ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"],
  ])("the answer by %s is that of RFC 7616", (algorithm, response) => {
    const credentials = { username: "Mufasa", password: "Circle of Life" };
    const answer = answerTo(asked(algorithm), credentials, request);
    expect(answer).toContain(`response="${response}"`);
    expect(answer).toStartWith('Digest username="Mufasa", realm="http-auth@example.org", ');
  });

  test("a user name beyond ASCII is hashed if the server asks for it, else encoded", () => {
    const credentials = { username: "Jäsøn Doe", password: "Secret, or not?" };
    const ask = (more: string) =>
      challengesIn(`Digest realm="api@example.org", algorithm=SHA-512-256, nonce="n"${more}`)[0] ??
      new Map();
    expect(answerTo(ask(", userhash=true"), credentials, request)).toContain(
      // Corrected by erratum 4897 of RFC 7616.
      'username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"',
    );
    expect(answerTo(ask(""), credentials, request)).toContain(
      "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe",
    );
  });

  test("a header with thousands of challenges is read quickly", () => {
    const startedAt = process.cpuUsage();
    challengesIn(`Digest ${'a="\\"'.repeat(100_000)}`);
    challengesIn(`Digest a${" ".repeat(500_000)}`);
    challengesIn('a="'.repeat(100_000));
    expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
  });
});

describe("Digest sign-in in the API, the file and the dashboard", () => {
  const config = { url: "https://shop.example.com/", digest };
  const shown = { username: "monitor", has_password: true };

  test("the API takes and changes the credentials, and shows no password", async () => {
    await using api = await createMonitorApi({ logLevel: "trace" });
    const created = await api.post({ ...HTTP, config });
    expect(created.body.config.digest).toEqual(shown);
    const { id } = created.body;
    const other = await api.patch(id, { config: { digest: { username: "other" } } });
    expect(other.body.errors).toMatchObject([{ pointer: "#/config/digest/password" }]);
    const again = { username: "other", password: "s3cret" };
    const changed = await api.patch(id, { config: { digest: again } });
    expect(changed.body.config.digest).toEqual({ ...shown, username: "other" });
    const moved = await api.patch(id, { config: { url: "https://other.example.com/" } });
    expect(moved.body.errors).toEqual([
      { pointer: "#/config/digest/password", detail: expect.stringContaining("other server") },
    ]);
    const removed = await api.patch(id, { config: { digest: null } });
    expect(removed.body.config.digest).toBeNull();
    const all = [created.text, changed.text, moved.text, api.app.audit(), api.app.events()];
    expect(JSON.stringify([all, api.app.logged])).not.toContain("s3cret");
  });

  test("the file takes the password from a variable, and the export keeps it", async () => {
    await using app = await createTestApp();
    const file = (password: string | null) =>
      JSON.stringify({
        pages: [],
        monitors: [
          { name: "Login", type: "http", config: { ...config, digest: { ...digest, password } } },
        ],
      });
    await apply(app, file("${DIGEST}"), false, { DIGEST: "s3cret" });
    const stored = () => listStoredMonitors(app.ctx.db)[0]?.row.config;
    expect(stored()).toEqual(config);
    const exported = writeApplyFile(await app.ctx.db.write((tx) => exportFile(tx)), []);
    expect(exported).toContain("password: null");
    expect(exported).not.toContain("s3cret");
    expect((await apply(app, exported)).changes).toEqual([]);
    expect(stored()).toEqual(config);
  });

  test("the form sets the credentials, keeps the password, and removes them", async () => {
    await using dashboard = await createMonitorDashboard();
    const fields = {
      type: "http",
      name: "Door",
      config_url: config.url,
      config_digest_username: "monitor",
      config_digest_password: "s3cret",
      config_max_body_kb: "512",
    };
    await dashboard.create(fields);
    const [record] = listStoredMonitors(dashboard.app.ctx.db);
    const id = record?.row.id ?? "";
    expect(record?.row.config).toMatchObject({ digest, max_body_kb: 512 });
    const { text } = await dashboard.edit(id, { config_max_body_kb: "256" });
    expect(text).not.toContain("s3cret");
    const stored = () => dashboard.stored(id).row.config as Record<string, unknown>;
    expect(stored()).toMatchObject({ digest, max_body_kb: 256 });
    await dashboard.edit(id, { config_digest_remove: "yes" });
    expect(stored()["digest"]).toBeUndefined();
  });
});

describe("the settings of Digest sign-in", () => {
  const URL_HERE = "https://example.com/";
  const pointers = (config: object) =>
    httpProbe.validate({ url: URL_HERE, ...config }).map(({ pointer }) => pointer);

  test("Digest sign-in is refused beside another Authorization, and accepted alone", () => {
    expect(pointers({ digest })).toEqual([]);
    expect(pointers({ digest, headers: { authorization: "Basic x" } })).toEqual([
      "#/headers/authorization",
    ]);
    const oauth2 = { token_url: URL_HERE, client_id: "a" };
    expect(pointers({ digest, oauth2 })).toEqual(["#/digest"]);
  });

  test("the password is kept by a change, dropped with another server, and never shown", () => {
    const before = { url: URL_HERE, digest };
    expect(httpProbe.present(before)["digest"]).toEqual({
      username: "monitor",
      has_password: true,
    });
    expect(httpProbe.merge(before, { digest: { username: "monitor" } }).digest).toEqual(digest);
    expect(httpProbe.merge(before, { digest: { username: "other" } }).digest).toEqual({
      username: "other",
    });
    const away = { url: "https://other.example.com/" };
    expect(httpProbe.merge(before, away).digest).toEqual({ username: "monitor" });
    expect(httpProbe.validateChange(before, away).map(({ pointer }) => pointer)).toEqual([
      "#/digest/password",
    ]);
  });
});
