import { describe, expect, test } from "bun:test";
import { type GivenFlags, loadConfig } from "../../../src/base/config/load";

const STORE = {
  ALLCLEAR_FLEET_STORE: "file:///var/log",
  ALLCLEAR_FLEET_SECRET: "x".repeat(32),
};
const ROOT = new URL("../../support/certificates/root.pem", import.meta.url).pathname;

function load(env: Record<string, string>, flags: GivenFlags = {}) {
  return loadConfig(flags, { ...STORE, ...env });
}

function problemsOf(env: Record<string, string>, flags: GivenFlags = {}): string[] {
  const loaded = load(env, flags);
  return "problems" in loaded ? loaded.problems : [];
}

describe("the address of Valkey", () => {
  test("has four schemes, a port and a database", () => {
    const cases = {
      "valkey://10.0.0.7": ["redis://10.0.0.7:6379", false],
      "redis://valkey.example:7000/2": ["redis://valkey.example:7000/2", false],
      "valkeys://u:p%40ss@valkey.example/": ["rediss://u:p%40ss@valkey.example:6379/", true],
      "rediss://[::1]:6380": ["rediss://[::1]:6380", true],
    };
    for (const [given, [url, isTls]] of Object.entries(cases)) {
      const loaded = load({ ALLCLEAR_VALKEY_URL: given });
      expect(loaded).toMatchObject({ config: { valkey: { url, isTls } } });
    }
  });

  test("is refused in another form, and never repeated", () => {
    for (const url of [
      "http://h",
      "valkey://",
      "h:6379",
      "redis://:s3cret@h/name",
      "redis://h/?a",
    ]) {
      const [problem = ""] = problemsOf({ ALLCLEAR_VALKEY_URL: url });
      expect(problem).toStartWith("ALLCLEAR_VALKEY_URL must ");
      expect(problem).not.toContain("s3cret");
    }
  });

  test("has no password as a flag", () => {
    expect(problemsOf({}, { valkey: "valkey://:s3cret@h" })).toEqual([
      "--valkey must not have a password, since other processes can read it. Set ALLCLEAR_VALKEY_URL.",
    ]);
    expect(problemsOf({}, { valkey: "valkey://h" })).toEqual([]);
  });

  test("is refused without a store, and certificates without TLS", () => {
    const loaded = loadConfig({ valkey: "valkey://h" }, {});
    expect(loaded).toEqual({ problems: ["--fleet-store is required with --valkey."] });
    expect(problemsOf({}, { valkey: "valkey://h", valkeyCa: ROOT })).toEqual([
      "--valkey-ca needs --valkey with valkeys://.",
    ]);
    expect(problemsOf({}, { valkey: "valkeys://h", valkeyCa: ROOT })).toEqual([]);
    expect(problemsOf({}, { valkey: "valkeys://h", valkeyCa: "/none" })).toEqual([
      '--valkey-ca must name a file that can be read (ENOENT); it is "/none".',
    ]);
  });
});
