import { describe, expect, spyOn, test } from "bun:test";
import { type TSchema, Type } from "@sinclair/typebox";
import { examine, FieldErrors } from "../../src/base/validation";
import { Text } from "../../src/base/schema";
import { createTestApp, expectProblem, type TestApp } from "../support/app";

interface Listed {
  pointer?: string;
  detail: string;
}

/** Texts that differ. */
const texts = (count: number) => Array.from({ length: count }, (_, index) => `x${index}`);

/** Unknown fields that differ. */
const fields = (count: number) => Object.fromEntries(texts(count).map((name) => [name, 1]));

async function errorsOf(app: TestApp, path: string, json: unknown, key: string): Promise<Listed[]> {
  const answer = await app.call(`/api/v1${path}`, { method: "POST", key, json });
  return expectProblem(answer, "validation_failed").errors;
}

describe("a list in a body", () => {
  const cases: [path: string, field: string, body: (list: unknown) => object, most: number][] = [
    ["/webhooks", "events", (events) => ({ url: "https://example.com", events }), 0],
    [
      "/monitors",
      "component_ids",
      (component_ids) => ({ type: "push", name: "Job", component_ids }),
      100,
    ],
    [
      "/maintenance",
      "components",
      (components) => ({
        page: "acme",
        name: "Upgrade",
        body: "A minute.",
        components,
        scheduled_for: "2030-01-01T00:00:00Z",
        scheduled_until: "2030-01-01T01:00:00Z",
      }),
      1_000,
    ],
    [
      "/monitors",
      "config/expected",
      (expected) => ({ type: "dns", name: "DNS", config: { name: "example.com", expected } }),
      50,
    ],
  ];
  test.each(cases)(
    "a list that is too long is rejected for its length only: POST %s %s",
    async (path, field, body, most) => {
      await using app = await createTestApp();
      await app.page();
      const key = await app.keyWith("manage:webhooks", "manage:monitors", "write:maintenance");
      for (const list of [texts(20_000), Array.from({ length: 60_000 }, () => "x")]) {
        const errors = await errorsOf(app, path, body(list), key);
        expect(errors.map(({ pointer }) => pointer)).toEqual([`#/${field}`]);
        expect(errors[0]?.detail).toMatch(/^has more than \d+ entries$/);
        if (most > 0) expect(errors[0]?.detail).toBe(`has more than ${most} entries`);
      }
      const twice = await errorsOf(app, path, body(["incident.created", "incident.created"]), key);
      expect(twice[0]).toEqual({ pointer: `#/${field}`, detail: "contains an entry twice" });
    },
  );

  test("the items of a list are read once, and not at all if it is too long", () => {
    let reads = 0;
    const counted = (items: readonly unknown[]) =>
      new Proxy([...items], {
        get(target, property, receiver) {
          if (typeof property === "string" && /^\d+$/.test(property)) reads += 1;
          return Reflect.get(target, property, receiver) as unknown;
        },
      });
    const schema = Type.Array(Text({ maxLength: 10 }), { maxItems: 1_000, uniqueItems: true });
    expect(examine(schema, counted(texts(20_000))).errors.all).toHaveLength(1);
    expect(reads).toBe(0);
    expect(examine(schema, counted(texts(1_000))).errors.all).toHaveLength(0);
    expect(reads).toBeLessThanOrEqual(2_000);
  });

  test("every list with unique items has a maximum length in the OpenAPI document", async () => {
    await using app = await createTestApp();
    const { body: document } = await app.call("/openapi.json");
    const lists: TSchema[] = [];
    JSON.stringify(document, (_key, value) => {
      if (value?.uniqueItems === true) lists.push(value);
      return value;
    });
    expect(lists.length).toBeGreaterThanOrEqual(6);
    for (const list of lists) expect(list["maxItems"]).toBeGreaterThan(0);
  });
});

describe("errors of one answer", () => {
  test("an answer has at most 100 errors, and one more counts the others", async () => {
    await using app = await createTestApp();
    await app.page();
    const key = await app.keyWith("write:incidents");
    const incident = { page: "acme", name: "Down", body: "It is down." };
    const some = await errorsOf(app, "/incidents", { ...incident, ...fields(100) }, key);
    expect(some).toHaveLength(100);
    expect(some.every(({ pointer }) => pointer !== undefined)).toBe(true);
    const many = await app.call("/api/v1/incidents", {
      method: "POST",
      key,
      json: { ...incident, ...fields(20_000) },
    });
    const problem = expectProblem(many, "validation_failed");
    expect(problem.detail).toBe("20000 fields are wrong.");
    expect(problem.errors).toHaveLength(101);
    expect(problem.errors[100]).toEqual({ detail: "19,900 more fields are wrong" });
    const one = await errorsOf(app, "/incidents", { ...incident, ...fields(101) }, key);
    expect(one[100]).toEqual({ detail: "1 more field is wrong" });
    expect(app.events()).toEqual([]);
  });

  test("a body of more than 24,000 fields is rejected without being parsed", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("write:incidents");
    const nested = { page: "acme", name: "Down", body: "::::", components: fields(24_001) };
    for (const json of [fields(24_001), nested]) {
      const errors = await errorsOf(app, "/incidents", json, key);
      expect(errors).toEqual([{ pointer: "#", detail: "has more than 24,000 fields in all" }]);
    }
    expect(await errorsOf(app, "/incidents", fields(24_000), key)).toHaveLength(101);
    const colons = { page: "acme", name: "", body: ":".repeat(200_000) };
    const errors = await errorsOf(app, "/incidents", colons, key);
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(["#/body", "#/name", "#/page"]);
  });

  test("the limit of 100 errors applies to the configuration of a monitor's type", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("manage:monitors");
    const monitor = { type: "http", name: "Shop", config: { url: "https://example.com/" } };
    const { body } = await app.call("/api/v1/monitors", { method: "POST", key, json: monitor });
    const change = (more: object) => {
      const assertion = { source: "body", op: "contains", value: "x", ...more };
      const json = { config: { assertions: [assertion] } };
      return app.call(`/api/v1/monitors/${body.id}`, { method: "PATCH", key, json });
    };
    const added = spyOn(FieldErrors.prototype, "add");
    try {
      const rejected = expectProblem(await change(fields(23_900)), "validation_failed");
      expect(rejected.detail).toBe("23900 fields are wrong.");
      expect(rejected.errors).toHaveLength(101);
      expect(rejected.errors[100]).toEqual({ detail: "23,800 more fields are wrong" });
      expect(added.mock.calls.length).toBeLessThanOrEqual(200);
    } finally {
      added.mockRestore();
    }
    expect((await change({})).status).toBe(200);
  });

  test("the limit of 100 errors includes unknown references", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("write:components");
    const components = Object.fromEntries(texts(150).map((id) => [id, "operational"]));
    const answer = await app.call("/api/v1/components", {
      method: "PATCH",
      key,
      json: { components },
    });
    const problem = expectProblem(answer, "validation_failed");
    expect(problem.errors).toHaveLength(101);
    expect(problem.errors[0].detail).toBe("is not a component");
    expect(problem.errors[100].detail).toBe("50 more fields are wrong");
  });
});

describe("a query with unknown parameters", () => {
  const queryErrors = async (count: number): Promise<Listed[]> => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    const query = texts(count).join("&");
    const answer = await app.call(`/api/v1/incidents?${query}`, { key });
    return expectProblem(answer, "invalid_request").errors;
  };

  test("a query with unknown parameters has at most 100 errors and the number of the others", async () => {
    const errors = await queryErrors(4_000);
    expect(errors).toHaveLength(101);
    expect(errors[0]).toEqual({ pointer: "#/x0", detail: "is not a known field" });
    expect(errors.at(-1)).toEqual({ detail: "3,900 more fields are wrong" });
  });

  test("a query with 100 unknown parameters has an error for each", async () => {
    const errors = await queryErrors(100);
    expect(errors).toHaveLength(100);
    expect(errors.at(-1)?.pointer).toBe("#/x99");
  });
});
