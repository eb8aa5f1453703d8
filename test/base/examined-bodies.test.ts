import { Type } from "@sinclair/typebox";
import { expect, test } from "bun:test";
import { type Valid, validate } from "../../src/base/validation";

const Body = Type.Object({ name: Type.String({ maxLength: 4 }) });

test("a verb takes an examined body, and the compiler rejects all others", () => {
  const verb = ({ name }: Valid<{ name: string }>) => name;
  const body = validate(Body, { name: "Shop" });
  expect(verb(body)).toBe("Shop");
  // @ts-expect-error: nothing has examined it.
  verb({ name: "Shop and more" });
  // @ts-expect-error: the name has changed since the examination.
  verb({ ...body, name: "Shop and more" });
});

test("further errors of valid fields are in the answer about the schema", () => {
  const Two = Type.Object({ name: Type.String(), end: Type.Integer() });
  const examineTwo = () =>
    validate(Two, { name: 5, end: 3 }, ({ name, end }, errors) => {
      expect(name).toBeUndefined();
      if (end === 3) errors.add(["end"], "is over");
    });
  expect(examineTwo).toThrow("2 fields are wrong.");
});
