import { describe, expect, test } from "bun:test";
import { ERROR_CODES, ERRORS } from "../../src/errors";
import { SCOPES } from "../../src/features/keys";
import { toRef } from "../../src/kernel/text";
import { createTestApp } from "../support/app";

describe("GET /openapi.json", () => {
  test("the OpenAPI document contains every route with an operationId, with scope, answers and errors", async () => {
    await using app = await createTestApp({ dashboard: true });
    const { body, headers } = await app.call("/openapi.json");
    expect(body.openapi).toBe("3.1.0");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    for (const { method, path, operation, body: declared } of app.app.routes.routes) {
      const described = body.paths[path.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
      if (operation.id === undefined) {
        expect(described).toBeUndefined();
        continue;
      }
      expect(described.operationId).toBe(operation.id);
      expect(described.requestBody !== undefined).toBe(declared !== undefined);
      const statuses = Object.keys(described.responses);
      expect(statuses).toContain("429");
      if (operation.access.kind === "key") {
        const { scopes } = operation.access;
        expect(described.security[0]).toEqual({ apiKey: scopes });
        expect(statuses).toContain("401");
        if (scopes.length > 0) expect(statuses).toContain("403");
      }
      if (!declared) continue;
      expect(statuses).toContain("415");
      // A body of which only the beginning is read has no schema that it could break.
      expect(statuses.includes("422")).toBe(declared.beginningBytes === undefined);
    }
  });

  test("the OpenAPI document contains every scope and an example of every error", async () => {
    await using app = await createTestApp();
    const { components } = (await app.call("/openapi.json")).body;
    for (const [scope, sentence] of Object.entries(SCOPES)) {
      expect(components.securitySchemes.apiKey.description).toContain(`\`${scope}\`: ${sentence}`);
    }
    for (const code of ERROR_CODES) {
      expect(components.examples[code].value).toMatchObject({
        code,
        status: ERRORS[code].status,
        type: `/docs/errors#${code}`,
      });
    }
  });

  test("all references of the OpenAPI document exist", async () => {
    await using app = await createTestApp();
    const { text, body } = await app.call("/openapi.json");
    const references = new Set(
      [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1]),
    );
    expect(references.size).toBeGreaterThan(10);
    for (const reference of references) {
      const found = (reference ?? "")
        .split("/")
        .reduce((at: Record<string, never> | undefined, step) => at?.[step], body);
      expect(found, reference).toBeDefined();
    }
  });
});

describe("/docs/errors", () => {
  test("/docs/errors explains every error at its anchor", async () => {
    await using app = await createTestApp();
    const { text } = await app.call("/docs/errors");
    for (const code of ERROR_CODES) expect(text).toContain(`<dt id="${code}">`);
  });
});

describe("/docs/coming-from", () => {
  test("/docs/coming-from has the chapters of docs/coming-from.md, without a script", async () => {
    await using app = await createTestApp();
    const { status, headers, text } = await app.call("/docs/coming-from");
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(text).not.toContain("<script");
    const headings = [...text.matchAll(/<h([123]) id="([^"]+)">/g)].map(([, level, id]) => [
      level,
      id,
    ]);
    const markdown = await Bun.file(new URL("../../docs/coming-from.md", import.meta.url)).text();
    const written = [...markdown.matchAll(/^(#+) (.+)$/gm)].map(([, marks = "", title = ""]) => [
      String(marks.length),
      toRef(title),
    ]);
    expect(headings).toEqual(written);
    expect(text.match(/<tr>/g)).toHaveLength((markdown.match(/^\| (?!---)/gm) ?? []).length);
    expect((await app.call("/docs/coming-from")).text).toBe(text);
  });
});

describe("/docs/try", () => {
  test("/docs/try loads files of this server only, which are cached forever", async () => {
    await using app = await createTestApp();
    const { text } = await app.call("/docs/try");
    const paths = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
    const assets = paths.filter((path) => path.startsWith("/assets/"));
    expect(assets).toHaveLength(4);
    expect(paths.filter((path) => /^(https?:)?\/\//.test(path))).toEqual([]);
    for (const path of assets) {
      const asset = await app.call(path);
      expect(asset.status).toBe(200);
      expect(asset.headers.get("cache-control")).toContain("immutable");
      expect(asset.headers.get("ratelimit")).toBeNull();
    }
  });
});
