import { describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { ERROR_CODES, ERRORS } from "../../src/base/errors";
import { EVENTS } from "../../src/events/outbox";
import { SCOPE_NAMES, SCOPES } from "../../src/features/keys/scopes";
import { yamlSteps } from "../../src/public/docs";
import { toRef } from "../../src/base/text";
import { chargeOf, createTestApp } from "../support/app";

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
      // A body of which only the beginning is read has no schema that it could break, unless some callers send another.
      const isWhole = declared.beginningBytes === undefined || declared.ofCaller !== undefined;
      expect(statuses.includes("422")).toBe(isWhole);
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

describe("operations for clients of other products", () => {
  /** Answers in the form of the other product, by request. */
  const ANSWERS = [
    ["GET", "/compat/gatus/{slug}/api/v1/endpoints/{key}/uptimes/{duration}", 400, "text/plain"],
    ["GET", "/compat/gatus/{slug}/api/v1/endpoints/{key}/statuses", 404, "text/plain"],
    ["POST", "/api/v1/endpoints/{key}/external", 400, "text/plain"],
    ["POST", "/api/v1/endpoints/{key}/external?success=true", 401, "text/plain"],
    ["GET", "/ping/{id}", 404, "text/plain"],
    ["DELETE", "/ping/{id}/{rest}", 404, "text/plain"],
    ["PUT", "/api/push/{push}", 404, "application/json"],
    ["GET", "/api/badge/{number}/status", 403, "application/json"],
    ["GET", "/api/status-page/{slug}", 404, "application/json"],
  ] as const;

  test.each(ANSWERS)(
    "%s %s answers %d in the form of the other product, and its document says so",
    async (method, target, status, type) => {
      await using app = await createTestApp();
      const [path = "", query = ""] = target.split("?");
      const answer = await app.call(`${path.replaceAll(/[{}]/g, "")}?${query}`, { method });
      expect([answer.status, answer.headers.get("content-type")?.split(";")[0]]).toEqual([
        status,
        type,
      ]);
      expect(answer.text).not.toContain("/docs/errors");
      const { paths } = (await app.call("/openapi.json")).body;
      const { responses } = paths[path][method.toLowerCase()];
      expect(Object.keys(responses[status].content)).toContain(type);
    },
  );

  const CREDENTIALS = {
    postGatusResult: ["heartbeatToken"],
    getKumaMetrics: ["apiKey", "apiKeyAsPassword"],
    sendHeartbeatAsBearer: ["heartbeatToken"],
    reportMailsAsBearer: ["reportToken"],
    sendPing: [],
    showSubscription: [],
  };

  test("operations name the credentials that they take, and every parameter in a path is explained", async () => {
    await using app = await createTestApp();
    const { paths } = (await app.call("/openapi.json")).body;
    const operations = Object.values<object>(paths).flatMap((methods) => Object.values(methods));
    for (const [id, schemes] of Object.entries(CREDENTIALS)) {
      const { security } = operations.find(({ operationId }) => operationId === id);
      expect([id, security.flatMap(Object.keys)]).toEqual([id, schemes]);
    }
    const unexplained = operations.flatMap(({ operationId, parameters }) =>
      parameters
        .filter(
          (one: { in: string; description?: string }) => one.in === "path" && !one.description,
        )
        .map(({ name }: { name: string }) => `${operationId} ${name}`),
    );
    expect(unexplained).toEqual([]);
  });
});

describe("events in the OpenAPI document", () => {
  test("each type of event has the schema of its request, with type, timestamp and data", async () => {
    await using app = await createTestApp();
    const { webhooks, components } = (await app.call("/openapi.json")).body;
    expect(Object.keys(webhooks)).toEqual(Object.keys(EVENTS));
    for (const [type, { post }] of Object.entries<Record<string, never>>(webhooks)) {
      const { $ref } = (post as never as { requestBody: { content: Json } }).requestBody.content[
        "application/json"
      ].schema;
      const { properties, required } = components.schemas[$ref.split("/").at(-1)];
      expect(properties.type.const).toBe(type);
      expect(required).toEqual(["type", "timestamp", "data"]);
    }
  });
});

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

describe("examples of the OpenAPI document", () => {
  test("all examples of the OpenAPI document satisfy their schemas", async () => {
    await using app = await createTestApp();
    const document = (await app.call("/openapi.json")).body;
    const validator = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false });
    validator.addSchema(document, "document");
    const errors: string[] = [];
    let checked = 0;
    const visit = (value: Json, pointer: string): void => {
      if (typeof value !== "object" || value === null) return;
      const at = value.schema ? `${pointer}/schema` : pointer;
      const examples = [
        ...(Array.isArray(value.examples) ? value.examples : []),
        ...(value.schema && "example" in value ? [value.example] : []),
      ];
      for (const example of examples) {
        checked += 1;
        const isValid = validator.validate({ $ref: `document#${at}` }, example);
        if (!isValid) errors.push(`${at}: ${validator.errorsText()}`);
      }
      for (const [key, child] of Object.entries(value)) {
        if (key === "examples" || key === "example") continue;
        const step = encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"));
        visit(child, `${pointer}/${step}`);
      }
    };
    visit(document, "");
    expect(errors).toEqual([]);
    expect(checked).toBeGreaterThan(200);
  });
});

describe("GET /openapi.yaml", () => {
  test("/openapi.yaml has the content of /openapi.json, an entity tag and the headers for other origins", async () => {
    await using app = await createTestApp();
    const { body } = await app.call("/openapi.json");
    const { text, headers } = await app.call("/openapi.yaml");
    expect(Bun.YAML.parse(text)).toEqual(body);
    const schemaAt = (path: string, type: string) =>
      body.paths[path].get.responses[200].content[type].schema;
    // Validators read YAML as they read JSON.
    expect(schemaAt("/openapi.yaml", "application/yaml")).toEqual(
      schemaAt("/openapi.json", "application/json"),
    );
    expect(headers.get("content-type")).toBe("application/yaml");
    expect(headers.get("cache-control")).toContain("public, max-age=15");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    const again = { headers: { "if-none-match": headers.get("etag") ?? "" } };
    expect((await app.call("/openapi.yaml", again)).status).toBe(304);
    expect(chargeOf(await app.call("/openapi.yaml"))).toBe("public 96");
  });

  test("texts in YAML that another parser could take for other types are quoted", () => {
    const value = {
      on: "yes",
      "200": "1e3",
      a: ["2026-01-01", null, [true, []]],
      b: {},
      "c d": "x\ny",
    };
    const steps = yamlSteps(value);
    let step = steps.next();
    while (!step.done) step = steps.next();
    expect(step.value).toBe(
      [
        '"200": "1e3"',
        '"on": "yes"',
        "a:",
        '  - "2026-01-01"',
        "  - null",
        "  - - true",
        "    - []",
        "b: {}",
        '"c d": "x\\ny"',
        "",
      ].join("\n"),
    );
  });
});

describe("GET /api/v1", () => {
  test("/api/v1 lists the addresses of documents and of lists that need no id, without a key, charged to the address", async () => {
    await using app = await createTestApp();
    const answer = await app.call("/api/v1");
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      name: "Allclear",
      openapi: "https://status.test/openapi.json",
      openapi_yaml: "https://status.test/openapi.yaml",
      documentation: "https://status.test/docs",
      errors: "https://status.test/docs/errors",
    });
    expect(chargeOf(answer)).toBe("public 99");
    const { resources } = answer.body;
    expect(resources.incidents).toBe("https://status.test/api/v1/incidents");
    const key = await app.keyWith(...SCOPE_NAMES);
    for (const url of Object.values<string>(resources)) {
      expect((await app.call(url.replace("https://status.test", ""), { key })).status).toBe(200);
    }
    expect((await app.call("/api/v1", { method: "POST" })).status).toBe(405);
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
