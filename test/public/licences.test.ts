import { expect, test } from "bun:test";
import { createTestApp } from "../support/app";

test("the licences of the typeface and the icons can be read without a key", async () => {
  await using app = await createTestApp();
  const answer = await app.call("/docs/licences");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain;charset=utf-8");
  expect(answer.text).toContain("SIL Open Font License, Version 1.1");
  expect(answer.text).toContain("ISC License");
});
