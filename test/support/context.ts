import type { Ctx } from "../../src/context";

/** Returns a context with only these parts, for code that a test runs without an app. */
export function testContext(parts: Partial<Ctx>): Ctx {
  return parts as Ctx;
}
