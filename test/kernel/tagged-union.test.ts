import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { schemaErrors } from "../../src/errors";
import { NameText } from "../../src/domain/texts";
import { ByTag } from "../../src/kernel/schema";

const strict = { additionalProperties: false };
const Shape = ByTag<unknown>("kind", {
  circle: Type.Object({ kind: Type.Literal("circle"), radius: Type.Integer() }, strict),
  text: Type.Object(
    { kind: Type.Literal("text"), font: Type.Object({ name: NameText }, strict) },
    strict,
  ),
});

describe("an object of several shapes", () => {
  test("is well by the shape that its tag names", () => {
    expect(schemaErrors(Shape, { kind: "circle", radius: 1 })).toEqual([]);
    expect(schemaErrors(Shape, { kind: "text", font: { name: "Inter" } })).toEqual([]);
  });

  test("is complained of by that shape alone, every field of it, however deep it stands", () => {
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

  test("is told of its tag where that is missing or names no shape, not even one of JavaScript's own", () => {
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

  test("is published as one of the shapes", () => {
    const { oneOf } = JSON.parse(JSON.stringify(Shape));
    expect(oneOf.map((one: typeof Shape) => one["properties"].kind.const)).toEqual([
      "circle",
      "text",
    ]);
  });
});
