import { describe, expect, test } from "bun:test";
import { createTestApp } from "../support/app";
import { readHtml } from "../support/html";

describe("the API reference", () => {
  test("the API reference lists every operation of the OpenAPI document without a script", async () => {
    await using app = await createTestApp();
    const { status, text, headers } = await app.call("/docs");
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).not.toContain("script-src");
    expect(text).not.toContain("<script");
    const { paths, components } = (await app.call("/openapi.json")).body;
    const operations = Object.values<Record<string, { operationId: string }>>(paths).flatMap(
      (methods) => Object.values(methods).map(({ operationId }) => operationId),
    );
    const page = readHtml(text);
    const ids = page.attributes("[id]", "id");
    expect(operations.length).toBeGreaterThan(60);
    expect(operations.filter((id) => !ids.includes(id))).toEqual([]);
    const names = Object.keys(components.schemas);
    expect(names.filter((name) => !ids.includes(`schema-${name}`))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = page
      .attributes("a", "href")
      .flatMap((href) => (href?.startsWith("#") ? href.slice(1) : []));
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  });

  test("the API reference shows the parameters, the body, the scope and an example of an operation", async () => {
    await using app = await createTestApp();
    const page = readHtml((await app.call("/docs")).text);
    const entry = page.texts("#createIncident").join("");
    expect(entry).toContain("POST/api/v1/incidents");
    expect(entry).toContain("Needs a key with the scope write:incidents.");
    expect(entry).toContain("Idempotency-Key");
    expect(entry).toContain("name required");
    expect(entry).toContain("1 to 255 characters");
    expect(entry).toContain("curl -X POST https://status.test/api/v1/incidents");
    expect(entry).toContain("object of ComponentStatus");
    expect(page.texts("#getHealth, #getHistoryAtom").join("")).toContain("Needs no key.");
  });

  test("the API reference follows the public address", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_BASE_URL: "https://one.example" } });
    expect((await app.call("/docs")).text).toContain("curl https://one.example/api/v1/status");
  });

  test("the API reference leads to a form for each operation", async () => {
    await using app = await createTestApp();
    const page = readHtml((await app.call("/docs")).text);
    expect(page.attributes("#createIncident a", "href")).toContain(
      "/docs/try#/Incidents/createIncident",
    );
    expect((await app.call("/docs/try")).status).toBe(200);
  });
});
