import { expect, test } from "bun:test";
import { loadConfig } from "../../../src/base/config/load";

test("the address of a store in which someone wrote credentials is refused and never repeated", () => {
  const url = "s3://AKIA1:s3cret@bucket/fleet";
  const problem = "must not contain credentials, which have options of their own.";
  const secret = { ALLCLEAR_FLEET_SECRET: "x".repeat(32) };
  expect(loadConfig({}, { ...secret, ALLCLEAR_FLEET_STORE: url })).toEqual({
    problems: [`ALLCLEAR_FLEET_STORE ${problem}`],
  });
  expect(loadConfig({ fleetStore: url }, secret)).toEqual({
    problems: [`--fleet-store ${problem}`],
  });
});
