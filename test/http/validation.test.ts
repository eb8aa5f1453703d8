import { describe, expect, test } from "bun:test";
import { expectProblem } from "../support/app";
import { createComponentSite } from "../support/component-site";
import { shareSite } from "../support/shared-site";

const JSON_TYPE = { "content-type": "application/json" };

interface Broken {
  pointer: string;
  detail: string;
}

describe("bodies that violate the schema", () => {
  const shared = shareSite(createComponentSite);

  test.each([
    ["a list", "[]", "#", "must be an object"],
    ["null", "null", "#", "must be an object"],
    ["a number", "0", "#", "must be an object"],
    ["a text", '""', "#", "must be an object"],
    ["an empty object", "{}", "#/status", "is required"],
    ["a status that does not exist", '{"status":"broken"}', "#/status", "must be one of"],
    ["a status in capitals", '{"status":"OPERATIONAL"}', "#/status", "must be one of"],
    ["a property of every object", '{"status":"constructor"}', "#/status", "must be one of"],
    ["a status that is null", '{"status":null}', "#/status", "must be one of"],
    ["an unknown field", '{"status":"operational","note":1}', "#/note", "not a known field"],
    ["a field in capitals", '{"status":"operational","Reason":""}', "#/Reason", "not a known"],
    ["__proto__", '{"status":"operational","__proto__":{}}', "#/__proto__", "not a known field"],
    ["constructor", '{"status":"operational","constructor":1}', "#/constructor", "not a known"],
    ["a pointer's own signs", '{"status":"operational","a/b~c":1}', "#/a~1b~0c", "not a known"],
    ["a reason that is a number", '{"status":"operational","reason":1}', "#/reason", "be text"],
    [
      "a reason with a NUL",
      '{"status":"operational","reason":"a\\u0000b"}',
      "#/reason",
      "NUL character",
    ],
    [
      "a reason of 1,001 characters",
      `{"status":"operational","reason":"${"x".repeat(1_001)}"}`,
      "#/reason",
      "1001 characters long; 1000 is the most",
    ],
  ])(
    "a body with %s is rejected with a pointer to the field, and nothing is written",
    async (_what, raw, pointer, detail) => {
      const site = await shared();
      const before = await site.state();
      const problem = expectProblem(
        await site.patch({ raw, headers: JSON_TYPE }),
        "validation_failed",
      );
      expect(problem.errors).toHaveLength(1);
      expect(problem.errors[0].pointer).toBe(pointer);
      expect(problem.errors[0].detail).toContain(detail);
      expect(problem.detail).toBe("One field is wrong.");
      expect(await site.state()).toEqual(before);
    },
  );

  test("a body with several invalid fields is rejected with a pointer for each", async () => {
    await using site = await createComponentSite();
    const { app, key, id } = site;
    const before = await site.state();
    const answer = await app.call("/api/v1/components", {
      key,
      method: "PATCH",
      json: {
        components: { [id]: "broken", other: 5 },
        reason: "x".repeat(2_000),
        notify: true,
        colour: "red",
      },
    });
    const problem = expectProblem(answer, "validation_failed");
    expect(problem.errors.map(({ pointer }: Broken) => pointer).sort()).toEqual(
      ["#/colour", `#/components/${id}`, "#/components/other", "#/notify", "#/reason"].sort(),
    );
    expect(problem.detail).toBe("5 fields are wrong.");
    expect(await site.state()).toEqual(before);
  });

  test("a body with unknown component ids is rejected with a pointer for each, and nothing is set", async () => {
    await using site = await createComponentSite();
    const { app, key, id } = site;
    const before = await site.state();
    const raw = `{"components":{"${id}":"major_outage","cmp_1":"operational","__proto__":"operational"}}`;
    const answer = await app.call("/api/v1/components", {
      key,
      method: "PATCH",
      raw,
      headers: JSON_TYPE,
    });
    const problem = expectProblem(answer, "validation_failed");
    expect(problem.errors.map(({ pointer }: Broken) => pointer).sort()).toEqual([
      "#/components/__proto__",
      "#/components/cmp_1",
    ]);
    expect(await site.state()).toEqual(before);
  });
});

test("__proto__ in a body is an unknown field and does not change objects", async () => {
  await using site = await createComponentSite();
  const raw = '{"status":"operational","__proto__":{"polluted":true}}';
  expectProblem(await site.patch({ raw, headers: JSON_TYPE }), "validation_failed");
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  const accepted = await site.patch({ json: { status: "major_outage" } });
  expect(accepted.status).toBe(200);
});

describe("invalid query parameters", () => {
  const shared = shareSite(createComponentSite);

  test.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=1e1", "limit"],
    ["limit=", "limit"],
    ["limit=ten", "limit"],
    ["limit=9999999999999999", "limit"],
    ["cursor=nonsense", "cursor"],
    ["cursor=", "cursor"],
    ["page=nobody", "page"],
    [`page=${"x".repeat(101)}`, "page"],
    ["colour=red", "colour"],
    ["__proto__=1", "__proto__"],
    ["limit[]=1", "limit[]"],
  ])("the query parameter %s is rejected with its pointer", async (query, name) => {
    const { app, key } = await shared();
    const answer = await app.call(`/api/v1/components?${query}`, { key });
    const problem = expectProblem(answer, "invalid_request");
    expect(problem.errors.map(({ pointer }: Broken) => pointer)).toEqual([`#/${name}`]);
  });

  test("valid query parameters are accepted", async () => {
    await using site = await createComponentSite();
    const { app, key } = site;
    for (const query of ["", "?", "?limit=1", "?limit=100", "?page=acme", "?page=acme&limit=50"]) {
      const answer = await app.call(`/api/v1/components${query}`, { key });
      expect(answer.status).toBe(200);
      expect(answer.body.data).toHaveLength(1);
    }
  });
});
