import { describe, expect, test } from "bun:test";
import { type GivenFlags, loadConfig } from "../../../src/base/config/load";

function problemsOf(env: Record<string, string>, flags: GivenFlags = {}): string[] {
  const loaded = loadConfig(flags, env);
  return "problems" in loaded ? loaded.problems : [];
}

describe("the proxy of outgoing requests", () => {
  test.each([
    ["http://proxy.test:3128", { url: "http://proxy.test:3128", username: "", password: "" }],
    ["https://10.0.0.7", { url: "https://10.0.0.7", username: "", password: "" }],
    ["http://u:p%40:ss@[::1]:1/", { url: "http://[::1]:1", username: "u", password: "p@:ss" }],
  ])("is %s", (given, outboundProxy) => {
    const loaded = loadConfig({}, { ALLCLEAR_OUTBOUND_PROXY: given });
    expect(loaded).toMatchObject({ config: { outboundProxy } });
  });

  test.each([
    "proxy.test:3128",
    "socks5://u:s3cret@proxy.test",
    "http://u:s3cret@proxy.test/path",
    "http://u:s3cret@proxy.test/?a",
    "http://:s3cret@proxy.test",
    "http://u%3Av:s3cret@proxy.test",
    "http://u:s3cret%@proxy.test",
  ])("is refused as %s, and never repeated", (given) => {
    const [problem = ""] = problemsOf({ ALLCLEAR_OUTBOUND_PROXY: given });
    expect(problem).toStartWith("ALLCLEAR_OUTBOUND_PROXY must ");
    expect(problem).not.toContain("s3cret");
  });

  test("has no password as a flag", () => {
    expect(problemsOf({}, { outboundProxy: "http://u:s3cret@proxy.test" })).toEqual([
      "--outbound-proxy must not have a password, since other processes can read it. Set ALLCLEAR_OUTBOUND_PROXY.",
    ]);
    expect(problemsOf({}, { outboundProxy: "http://u@proxy.test" })).toEqual([]);
  });
});

describe("hosts that are reached without the proxy", () => {
  test.each<[given: string, noProxy: string[]]>([
    ["", []],
    ["*", ["*"]],
    ["Example.com, .intern.test *.lan.", ["example.com", "intern.test", "lan"]],
    ["10.0.0.0/8,192.0.2.1,[::1],fd00::/8", ["10.0.0.0/8", "192.0.2.1", "::1", "fd00::/8"]],
    ["bücher.example", ["xn--bcher-kva.example"]],
  ])("are read from %p", (given, noProxy) => {
    expect(loadConfig({}, { ALLCLEAR_NO_PROXY: given })).toMatchObject({ config: { noProxy } });
  });

  test.each(["10.0.0.0/99", "a b/c", "example.com:80", "a;b"])("are not %p", (given) => {
    expect(problemsOf({ ALLCLEAR_NO_PROXY: given })).toEqual([
      expect.stringMatching(/^ALLCLEAR_NO_PROXY must /),
    ]);
  });
});
