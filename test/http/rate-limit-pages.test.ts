import { describe, expect, test } from "bun:test";
import { createTestApp } from "../support/app";
import { HTML } from "../support/dashboard";
import { readHtml } from "../support/html";

describe("error pages for rate limits", () => {
  test("a rate limit page contains its own request id and a link for its path", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
    const drained = (path: string) => app.call(path, { headers: HTML });
    await drained("/");
    const answers = await Promise.all(
      ["/", "/", "/admin/sign-in", "/status/acme/history", "/"].map(drained),
    );
    const ways = answers.map(({ status, headers, text }) => {
      const id = headers.get("x-request-id") ?? "";
      expect(status).toBe(429);
      expect(text.split(id)).toHaveLength(2);
      expect(text).not.toContain("{request}");
      return readHtml(text).attributes("a", "href").at(-1);
    });
    expect(ways).toEqual(["/", "/", "/", "/status/acme", "/"]);
  });

  test("a rate limit page for a form, and only that, says how to keep what was typed", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
    await app.call("/");
    const form = { email: "ada@example.com", password: "a password" };
    const sent = await app.call("/admin/sign-in", { headers: HTML, form });
    const read = await app.call("/admin/sign-in", { headers: HTML });
    expect([sent.status, read.status]).toEqual([429, 429]);
    expect(sent.text).toContain("To keep your input");
    expect(read.text).not.toContain("To keep your input");
  });

  test("a rate limit page shows the seconds of its Retry-After", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
    await app.call("/");
    for (const passed of [0, 20_000, 39_000]) {
      await app.clock.advance(passed);
      const { text, headers } = await app.call("/", { headers: HTML });
      const seconds = Number(headers.get("retry-after"));
      expect(text).toContain(`Try again in ${seconds} second${seconds === 1 ? "" : "s"}.`);
    }
  });
});
