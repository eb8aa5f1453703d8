import { describe, expect, test } from "bun:test";
import { checkHttp, createHttpChecks } from "../../support/http-check";
import { answering, httpAnswer, startRawServer, startTlsServer } from "../../support/raw-server";

/** A server that keeps what it was sent, and answers by path. */
async function startSite(answers: (path: string) => string) {
  const requests: string[] = [];
  const server = await startRawServer(
    answering((request) => {
      requests.push(request);
      return answers(request.split(" ")[1] ?? "");
    }),
  );
  return Object.assign(server, { requests });
}

const to = (location: string, status = 302) => httpAnswer(status, "", { Location: location });
const ok = () => httpAnswer(200, "here");

describe("redirects in HTTP checks", () => {
  test.each([301, 302, 303, 307, 308])(
    "a check follows a redirect with status %d",
    async (status) => {
      await using site = await startSite((path) => (path === "/b" ? ok() : to("b", status)));
      const result = await checkHttp({ url: `http://shop.test:${site.port}/a` });
      expect(result.outcome).toBe("ok");
      expect(site.requests.map((request) => request.split(" ")[1])).toEqual(["/a", "/b"]);
    },
  );

  test("a redirect is a normal response if redirects are not followed", async () => {
    await using site = await startSite(() => to("/b", 301));
    const config = { url: `http://shop.test:${site.port}/a`, follow_redirects: false };
    const moved = [{ source: "status" as const, op: "eq" as const, value: 301 }];
    expect((await checkHttp({ ...config, assertions: moved })).outcome).toBe("ok");
    expect((await checkHttp(config)).message).toBe("The status is 301; it should be 2xx.");
    expect(site.requests).toHaveLength(2);
  });

  test("a check fails after ten redirects", async () => {
    await using site = await startSite(() => to("/again"));
    const result = await checkHttp({ url: `http://shop.test:${site.port}/` });
    expect(result).toMatchObject({
      outcome: "failed",
      message: "There are more than 10 redirects.",
    });
    expect(site.requests).toHaveLength(11);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "//169.254.169.254/",
    "http://metadata.test/",
  ])("a redirect to a metadata address fails the check: %s", async (location) => {
    await using site = await startSite(() => to(location));
    const names = { "shop.test": [["127.0.0.1"]], "metadata.test": [["169.254.169.254"]] };
    const result = await checkHttp({ url: `http://shop.test:${site.port}/` }, { names });
    expect(result.outcome).toBe("failed");
    expect(result.message).toMatch(/^After a redirect: The host's address is /);
    expect(site.connections()).toBe(1);
  });

  test("a redirect to the same name is resolved and checked again", async () => {
    await using site = await startSite(() => to("/b"));
    const names = { "rebinding.test": [["127.0.0.1"], ["169.254.169.254"]] };
    const result = await checkHttp({ url: `http://rebinding.test:${site.port}/` }, { names });
    expect(result.message).toMatch(/^After a redirect: The host's address is a link-local/);
    expect(site.connections()).toBe(1);
  });

  test.each([
    ["file:///etc/passwd", "After a redirect: Only http and https addresses are requested."],
    ["data:text/plain,hi", "After a redirect: Only http and https addresses are requested."],
    ["http://user:pw@shop.test/", "After a redirect: The address holds credentials."],
    ["http://[::1", "The redirect does not lead to a URL."],
  ])("a redirect to %s fails the check", async (location, message) => {
    await using site = await startSite(() => to(location));
    const result = await checkHttp({ url: `http://shop.test:${site.port}/` });
    expect(result).toMatchObject({ outcome: "failed", message });
    expect(site.connections()).toBe(1);
  });

  test("a redirect keeps headers on the same origin and drops them on another", async () => {
    await using there = await startSite(ok);
    await using site = await startSite((path) =>
      path === "/a" ? to("/b") : to(`http://shop.test:${there.port}/c`),
    );
    const headers = { Authorization: "Bearer s3cret", "X-Key": "s3cret" };
    const result = await checkHttp({ url: `http://shop.test:${site.port}/a`, headers });
    expect(result.outcome).toBe("ok");
    expect(site.requests).toHaveLength(2);
    for (const request of site.requests) expect(request.match(/s3cret/g)).toHaveLength(2);
    expect(there.requests).toHaveLength(1);
    expect(there.requests[0]).not.toContain("s3cret");
  });

  test("a redirect from https to http drops the headers", async () => {
    await using there = await startSite(ok);
    await using site = await startTlsServer(
      "good",
      answering(to(`http://shop.test:${there.port}/`)),
    );
    const headers = { Authorization: "s3cret" };
    const result = await checkHttp({ url: `https://shop.test:${site.port}/`, headers });
    expect(result).toMatchObject({ outcome: "ok", certificate: { expiresAt: Date.UTC(2099, 0) } });
    expect(there.requests[0]).not.toContain("s3cret");
  });

  test("a redirect repeats a body only with status 307 on the same origin", async () => {
    await using there = await startSite(ok);
    await using site = await startSite((path) => {
      if (path === "/away") return to(`http://shop.test:${there.port}/`, 307);
      if (path === "/same") return to("/b", 307);
      if (path === "/other-way") return to(`http://shop.test:${there.port}/`, 303);
      return path === "/b" ? ok() : to("/b", 302);
    });
    const post = (path: string) =>
      checkHttp({ url: `http://shop.test:${site.port}${path}`, method: "POST", body: "s3cret" });

    expect((await post("/same")).outcome).toBe("ok");
    expect(site.requests.at(-1)).toMatch(/^POST \/b [\s\S]*s3cret$/);
    expect((await post("/plain")).outcome).toBe("ok");
    expect(site.requests.at(-1)).toMatch(/^GET \/b /);
    expect(site.requests.at(-1)).not.toContain("s3cret");
    expect((await post("/other-way")).outcome).toBe("ok");
    expect(there.requests[0]).not.toContain("s3cret");
    expect((await post("/away")).message).toBe(
      "The redirect would send the body to another server.",
    );
    expect(there.requests).toHaveLength(1);
  });
});

describe("cookies of redirects in HTTP checks", () => {
  /** Redirects from `/` to `/next` with these cookies, and returns the Cookie header that arrives there. */
  async function sentAfter(
    cookies: readonly string[],
    {
      headers,
      path = "/next",
      host = "shop.test",
      to: target = host,
    }: { headers?: Record<string, string>; path?: string; host?: string; to?: string } = {},
  ): Promise<string | undefined> {
    const requests: string[] = [];
    const names = Object.fromEntries([host, target].map((name) => [name, [["127.0.0.1"]]]));
    await using site = await startRawServer(
      answering((request) => {
        requests.push(request);
        if (!request.startsWith("GET / ")) return ok();
        const lines = cookies.map((cookie) => `Set-Cookie: ${cookie}\r\n`).join("");
        return `HTTP/1.1 302 -\r\n${lines}Location: http://${target}:${site.port}${path}\r\nContent-Length: 0\r\n\r\n`;
      }),
    );
    const url = `http://${host}:${site.port}/`;
    const result = await checkHttp({ url, ...(headers && { headers }) }, { names });
    expect(result.outcome).toBe("ok");
    expect(requests).toHaveLength(2);
    return /^Cookie: (.*)\r$/im.exec(requests[1] ?? "")?.[1];
  }

  test("a page that redirects until its cookie comes back is reached", async () => {
    await using site = await startSite(() => "");
    await using login = await startRawServer(
      answering((request) => {
        site.requests.push(request);
        return request.includes("Cookie: sess=1")
          ? ok()
          : httpAnswer(302, "", { Location: "/cookie", "Set-Cookie": "sess=1; Path=/" });
      }),
    );
    const result = await checkHttp({ url: `http://shop.test:${login.port}/cookie` });
    expect(result.outcome).toBe("ok");
    expect(site.requests).toHaveLength(2);
    expect(site.requests[0]).not.toContain("Cookie");
  });

  test.each<[string, string[], Parameters<typeof sentAfter>[1], string | undefined]>([
    ["two cookies", ["a=1", "b=2; Path=/"], {}, "a=1; b=2"],
    ["a later value", ["a=1", "a=2"], {}, "a=2"],
    ["a cookie that is deleted again", ["a=1", "a=; Max-Age=0"], {}, undefined],
    ["an expired cookie", ["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], {}, undefined],
    ["a cookie of another path", ["a=1; Path=/other"], {}, undefined],
    ["a cookie of the path", ["a=1; Path=/next"], { path: "/next/b" }, "a=1"],
    ["a Secure cookie over http", ["a=1; Secure"], {}, undefined],
    ["a cookie of the host alone", ["a=1"], { to: "www.shop.test" }, undefined],
    ["a cookie of the domain", ["a=1; Domain=shop.test"], { to: "www.shop.test" }, "a=1"],
    ["a cookie of another domain", ["a=1; Domain=other.test"], { to: "other.test" }, undefined],
    [
      "a cookie of a public suffix",
      ["a=1; Domain=co.uk"],
      { host: "shop.co.uk", to: "other.co.uk" },
      undefined,
    ],
    ["a cookie of a name without dots", ["a=1; Domain=nas"], { host: "nas" }, "a=1"],
    ["a cookie of a name with a final dot", ["a=1"], { host: "shop.test." }, "a=1"],
    [
      "a cookie of the domain of a name with a final dot",
      ["a=1; Domain=shop.test"],
      { host: "www.shop.test." },
      "a=1",
    ],
    [
      "a cookie of a host that is a public suffix itself",
      ["a=1; Domain=github.io"],
      { host: "github.io" },
      "a=1",
    ],
    [
      "a cookie of a public suffix that is the host, at a subdomain",
      ["a=1; Domain=github.io"],
      { host: "github.io", to: "other.github.io" },
      undefined,
    ],
    ["a cookie of an address", ["a=1; Domain=127.0.0.1"], { host: "127.0.0.1" }, "a=1"],
    ["a cookie without a name", ["1; Path=/"], {}, "1"],
    ["a cookie with __Host- and a domain", ["__Host-a=1; Domain=shop.test"], {}, undefined],
    ["a cookie with a control character", ["a=b\x0bc"], {}, undefined],
    [
      "a cookie with a comma in its date",
      ["a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT"],
      {},
      "a=1",
    ],
    ["a cookie beside one's own", ["a=1"], { headers: { cookie: "own=2" } }, "own=2; a=1"],
    ["a cookie instead of one's own", ["a=1"], { headers: { Cookie: "a=0; b=2" } }, "b=2; a=1"],
    [
      "one's own cookie at another origin",
      [],
      { headers: { Cookie: "own=s3cret" }, to: "other.test" },
      undefined,
    ],
    [
      "one's own cookie at a subdomain, beside that of the domain",
      ["a=1; Domain=shop.test"],
      { headers: { Cookie: "own=s3cret" }, to: "www.shop.test" },
      "a=1",
    ],
  ])("%s is sent or not as browsers do", async (_what, cookies, options, sent) => {
    expect(await sentAfter(cookies, options)).toBe(sent as string);
  });

  test("cookies belong to the host by which the server is known", async () => {
    await using site = await startSite((path) =>
      path === "/b"
        ? ok()
        : httpAnswer(302, "", { Location: "/b", "Set-Cookie": "a=1; Domain=shop.example.com" }),
    );
    const url = `http://127.0.0.1:${site.port}/`;
    expect((await checkHttp({ url, host: "www.shop.example.com" })).outcome).toBe("ok");
    expect(site.requests[1]).toContain("Host: www.shop.example.com\r\n");
    expect(site.requests[1]).toContain("Cookie: a=1\r\n");
  });

  test("a check begins without the cookies of the one before", async () => {
    const seen: (string | undefined)[] = [];
    await using site = await startRawServer(
      answering((request) => {
        seen.push(/^Cookie: (.*)\r$/im.exec(request)?.[1]);
        return request.startsWith("GET /b")
          ? ok()
          : httpAnswer(302, "", { Location: "/b", "Set-Cookie": "a=1" });
      }),
    );
    const check = await createHttpChecks();
    for (let count = 0; count < 2; count += 1) {
      await check({ url: `http://shop.test:${site.port}/` });
    }
    expect(seen).toEqual([undefined, "a=1", undefined, "a=1"]);
  });

  test("at most 180 cookies are taken", async () => {
    const many = Array.from({ length: 400 }, (_, n) => `c${n}=1`);
    expect((await sentAfter(many))?.split("; ")).toHaveLength(180);
  });
});

describe("the address of a redirect", () => {
  test.each([
    ["bytes of UTF-8", Buffer.from("/ü").toString("latin1"), "/%C3%BC"],
    ["bytes of latin1", "/\xfc", "/%FC"],
    ["two lines", "/one\r\nLocation: /two", "/one"],
  ])("%s lead where browsers go", async (_what, location, path) => {
    await using site = await startSite((at) => (at === "/" ? to(location) : ok()));
    const result = await checkHttp({ url: `http://shop.test:${site.port}/` });
    expect(result.outcome).toBe("ok");
    expect(site.requests[1]).toStartWith(`GET ${path} `);
  });

  test("an empty address is no redirect", async () => {
    await using site = await startSite(() => to(""));
    const result = await checkHttp({ url: `http://shop.test:${site.port}/` });
    expect(result.message).toBe("The status is 302; it should be 2xx.");
  });
});
