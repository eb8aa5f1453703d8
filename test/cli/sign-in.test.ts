import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { commandLine, installedCommandLine } from "../support/command-line";
import { startFakeProvider } from "../support/oidc";
import { temporaryFolder } from "../support/temporary-folder";

test("sign-in check prints each step, and the redirect URI", async () => {
  using folder = temporaryFolder();
  await using provider = await startFakeProvider(Date.now);
  const run = installedCommandLine(folder.path);
  const env = { ...provider.env, ALLCLEAR_BASE_URL: "https://status.example.com" };
  const { exitCode, out, err } = await run(["sign-in", "check"], env);
  expect(exitCode).toBe(0);
  expect(out.map((line) => line.slice(0, 18).trimEnd())).toEqual([
    "ok      metadata",
    "ok      keys",
    "ok      clock",
    "ok      PKCE",
    "ok      scopes",
  ]);
  expect(err).toEqual([
    "The provider is reached without HTTPS. Use it only within a private network.",
    "Redirect URI for the provider: https://status.example.com/admin/sign-in/callback",
  ]);
});

test("sign-in check works before the first start, and creates no data directory", async () => {
  using folder = temporaryFolder();
  await using provider = await startFakeProvider(Date.now);
  const run = commandLine(folder.path);
  const { exitCode, err } = await run(["sign-in", "check"], provider.env);
  expect([exitCode, err.at(-1)]).toEqual([
    0,
    "Redirect URI for the provider: http://127.0.0.1:8080/admin/sign-in/callback",
  ]);
  expect(readdirSync(folder.path)).toEqual([]);
});

test("sign-in check fails without a provider, and for one that cannot be used", async () => {
  using folder = temporaryFolder();
  await using provider = await startFakeProvider(Date.now);
  const run = installedCommandLine(folder.path);
  const without = await run(["sign-in", "check"]);
  expect([without.exitCode, without.err]).toEqual([
    1,
    ["No provider is set up: ALLCLEAR_OIDC_ISSUER is not set."],
  ]);
  provider.metadata = (own) => ({ ...own, issuer: "https://evil.example" });
  const wrong = await run(["sign-in", "check"], provider.env);
  expect(wrong.exitCode).toBe(1);
  expect(wrong.out).toEqual([
    expect.stringMatching(/^failed {2}metadata {2}The provider names itself/),
  ]);
});
