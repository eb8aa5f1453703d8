import { describe, expect, test } from "bun:test";
import { type GivenFlags, loadConfig } from "../../../src/base/config/load";
import { temporaryFolder } from "../../support/temporary-folder";

const PURGE = { ALLCLEAR_CDN: "600", ALLCLEAR_PURGE_URL: "https://purge.example/v1?zone=1" };
const SECRET = "kept-secret";

function problemsOf(env: Record<string, string>, flags: GivenFlags = {}): string[] {
  const loaded = loadConfig(flags, env);
  return "problems" in loaded ? loaded.problems : [];
}

function configOf(env: Record<string, string>) {
  const loaded = loadConfig({}, env);
  if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
  const { cdn, purgeUrl, purgeHeader } = loaded.config;
  return { cdn, purgeUrl, purgeHeader };
}

describe("the options of a CDN", () => {
  test("the CDN mode is off by default", () => {
    expect(configOf({})).toEqual({ cdn: undefined, purgeUrl: undefined, purgeHeader: undefined });
  });

  test("the options of the CDN mode are seconds, an address and a header", async () => {
    expect(configOf({ ALLCLEAR_CDN: "15" }).cdn).toBe(15);
    using folder = temporaryFolder();
    const file = `${folder.path}/header`;
    await Bun.write(file, `Fastly-Key:  ${SECRET} two \n`);
    expect(configOf({ ...PURGE, ALLCLEAR_PURGE_HEADER_FILE: file })).toEqual({
      cdn: 600,
      purgeUrl: "https://purge.example/v1?zone=1",
      purgeHeader: { name: "Fastly-Key", value: `${SECRET} two` },
    });
  });

  test.each(["14", "3601", "", "1e2", "-15", "soon"])("%p seconds are rejected", (seconds) => {
    expect(problemsOf({ ...PURGE, ALLCLEAR_CDN: seconds })).toEqual([
      `ALLCLEAR_CDN must be a whole number from 15 to 3600; it is "${seconds}".`,
    ]);
  });

  test("more than 15 seconds require a purge address, and a purge address requires the mode", () => {
    expect(problemsOf({ ALLCLEAR_CDN: "16" })).toEqual([
      "ALLCLEAR_CDN must be 15 without --purge-url, since changes would appear late.",
    ]);
    expect(problemsOf({}, { cdn: "600" })).toEqual([
      "--cdn must be 15 without --purge-url, since changes would appear late.",
    ]);
    const { ALLCLEAR_PURGE_URL } = PURGE;
    expect(problemsOf({ ALLCLEAR_PURGE_URL })).toEqual(["ALLCLEAR_PURGE_URL requires --cdn."]);
    expect(problemsOf({ ALLCLEAR_CDN: "15", ALLCLEAR_PURGE_HEADER: "A: b" })).toEqual([
      "ALLCLEAR_PURGE_HEADER requires --purge-url.",
    ]);
  });

  test.each([
    `ftp://purge.example/${SECRET}`,
    `purge.example/${SECRET}`,
    `https:purge.example/${SECRET}`,
    `https://user:${SECRET}@purge.example/`,
    `https://${SECRET}@purge.example/`,
    `https://[${SECRET}]/`,
    "",
  ])("the purge address %p is rejected and not repeated", (url) => {
    const [problem, ...more] = problemsOf({ ...PURGE, ALLCLEAR_PURGE_URL: url });
    expect(problem).toStartWith("ALLCLEAR_PURGE_URL must ");
    expect(problem).not.toContain(SECRET);
    expect(more).toEqual([]);
  });

  test.each([
    SECRET,
    `: ${SECRET}`,
    "Fastly-Key:",
    `Fastly Key: ${SECRET}`,
    `Fastly-Key: ${SECRET}\nHost: other`,
    `Fastly-Key: ${SECRET}\u0000`,
    `Fastly-Key: ${SECRET} ü`,
    `Host: ${SECRET}`,
    `content-length: ${SECRET}`,
    `Surrogate-Key: ${SECRET}`,
  ])("the purge header %p is rejected and not repeated", (line) => {
    const [problem, ...more] = problemsOf({ ...PURGE, ALLCLEAR_PURGE_HEADER: line });
    expect(problem).toStartWith("ALLCLEAR_PURGE_HEADER must ");
    expect(problem).not.toContain(SECRET);
    expect(more).toEqual([]);
  });
});
