import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { schemaErrors } from "../../src/base/validation";
import { NameText } from "../../src/base/texts";
import { ByTag } from "../../src/base/schema";

const strict = { additionalProperties: false };
const Shape = ByTag<unknown>("kind", {
  circle: Type.Object({ kind: Type.Literal("circle"), radius: Type.Integer() }, strict),
  text: Type.Object(
    { kind: Type.Literal("text"), font: Type.Object({ name: NameText }, strict) },
    strict,
  ),
});

describe("a tagged union", () => {
  test("a tagged union accepts an object by the shape of its tag", () => {
    expect(schemaErrors(Shape, { kind: "circle", radius: 1 })).toEqual([]);
    expect(schemaErrors(Shape, { kind: "text", font: { name: "Inter" } })).toEqual([]);
  });

  test("errors of a tagged union are those of the tagged shape only, at any depth", () => {
    const faults = [
      { pointer: "#/font/name", detail: "is empty" },
      { pointer: "#/size", detail: "is not a known field" },
    ];
    const value = { kind: "text", size: 1, font: { name: "" } };
    expect(schemaErrors(Shape, value)).toEqual(faults);
    expect(schemaErrors(Type.Array(Shape), [value])).toEqual(
      faults.map(({ pointer, detail }) => ({ pointer: pointer.replace("#", "#/0"), detail })),
    );
  });

  test("a missing or unknown tag is the only error, also for names such as __proto__", () => {
    expect(schemaErrors(Shape, {})).toEqual([{ pointer: "#/kind", detail: "is required" }]);
    for (const kind of ["square", "constructor", "__proto__", 1, null]) {
      expect(schemaErrors(Shape, { kind })).toEqual([
        { pointer: "#/kind", detail: "must be one of circle, text" },
      ]);
    }
    for (const value of [null, [], "circle"]) {
      expect(schemaErrors(Shape, value)).toEqual([{ pointer: "#", detail: "must be an object" }]);
    }
  });

  test("a tagged union is published as a list of its shapes", () => {
    const { oneOf } = JSON.parse(JSON.stringify(Shape));
    expect(oneOf.map((one: typeof Shape) => one["properties"].kind.const)).toEqual([
      "circle",
      "text",
    ]);
  });
});
