import { describe, expect, test } from "bun:test";
import { checkHttp } from "../../support/http-check";
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
