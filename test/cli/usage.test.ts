import { describe, expect, test } from "bun:test";
import { commandLine, installedCommandLine } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

describe("a command that is called wrongly", () => {
  test.each([
    [["keys"], "allclear has no command keys."],
    [["key"], "allclear key needs one of: create, list, update, rotate, revoke."],
    [["key", "mint"], "allclear key needs one of: create, list, update, rotate, revoke."],
    [["key", "list", "--loud"], "--loud is not an option of allclear key list."],
    [["key", "list", "-x"], "-x is not an option of allclear key list."],
    [["key", "list", "-xy"], "-xy is not an option of allclear key list."],
    [["key", "list", "--loud=yes"], "--loud is not an option of allclear key list."],
    [["--json"], "--json is not an option of allclear serve."],
    [
      ["key", "list", "--public-rate-limit", "5"],
      "--public-rate-limit is not an option of allclear key list.",
    ],
    [["key", "list", "extra"], "Unexpected: extra"],
    [["key", "list", "-"], "Unexpected: -"],
    [["key", "list", "--", "--json"], "Unexpected: --json"],
    [["key", "list", "--json=yes"], "--json takes no value."],
    [["key", "list", "--data-dir"], "--data-dir needs a value."],
    [["key", "list", "--data-dir="], '--data-dir is empty; it is "".'],
    [
      ["key", "list", "--log-level", "info", "--log-level", "warn"],
      "--log-level is given more than once.",
    ],
    [["key", "revoke"], "ID is missing."],
    [["key", "revoke", "one", "two"], "Unexpected: two"],
    [["key", "update", "key_x"], "--name or --rate-limit is required."],
    [["key", "rotate", "key_x", "--overlap", "9h"], "--overlap must be one of now, 1h, 24h, 7d."],
    [["serve", "--eligible"], "--fleet-store is required with --eligible."],
    [["serve", "--rejoin"], "--fleet-store is required with --rejoin."],
    [["completion", "tcsh"], "SHELL must be one of bash, zsh, fish."],
    [["status", "one", "two"], "Unexpected: two"],
    [["component"], "allclear component needs one of: set."],
    [["backup"], "FILE is missing."],
    [["restore"], "FILE is missing."],
    [["apply"], "FILE is missing."],
  ])("the wrong call %p exits with 2 and prints the reason", async (args, error) => {
    using folder = temporaryFolder();
    const { exitCode, out, err } = await installedCommandLine(folder.path)(args);
    expect([exitCode, out]).toEqual([2, []]);
    expect(err[0]).toBe(error);
    expect(err.at(-1)).toMatch(/^allclear .*--help lists /);
  });

  test("all mistakes of a call are reported together: flags, arguments and settings", async () => {
    using folder = temporaryFolder();
    const { exitCode, err } = await installedCommandLine(folder.path)(
      ["key", "create", "--loud", "extra", "--base-url", "ftp://x"],
      { ALLCLEAR_LOG_LEVEL: "shout", ALLCLEAR_TRUSTED_PROXIES: "10.0.0.0/8, somewhere" },
    );
    expect(exitCode).toBe(2);
    expect(err).toEqual([
      "--loud is not an option of allclear key create.",
      "Unexpected: extra",
      "--name is missing.",
      "--scope is missing.",
      expect.stringMatching(/^ALLCLEAR_LOG_LEVEL must be one of .*; it is "shout"\.$/),
      '--base-url must begin with http:// or https://; it is "ftp://x".',
      expect.stringMatching(/^ALLCLEAR_TRUSTED_PROXIES .* somewhere is not one; it is /),
      "allclear key create --help lists its options.",
    ]);
  });

  test.each([
    ["--mirror-secret", "ALLCLEAR_MIRROR_SECRET"],
    ["--purge-header", "ALLCLEAR_PURGE_HEADER"],
    ["--smtp-password", "ALLCLEAR_SMTP_PASSWORD"],
  ])("the secret after %s is not repeated, and its variable is named", async (flag, variable) => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const error = `${flag} is not an option, since other processes can read arguments. Set ${variable}.`;
    const hint = "allclear serve --help lists its options.";
    for (const args of [[flag, "s3cret"], [`${flag}=s3cret`], [flag]]) {
      const { exitCode, out, err } = await run(["serve", ...args]);
      expect([exitCode, out, err]).toEqual([2, [], [error, hint]]);
    }
    const { err } = await run(["serve", flag, "--loud"]);
    expect(err).toEqual([error, "--loud is not an option of allclear serve.", hint]);
  });

  test("a missing value does not consume the next flag", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const scope = ["--scope", "read:status"];
    const wrong = await run(["key", "create", ...scope, "--name", "--json"]);
    expect([wrong.exitCode, wrong.out]).toEqual([2, []]);
    expect(wrong.err[0]).toBe("--name needs a value; if --json is meant, write --name=--json.");
    expect((await run(["key", "list", "--json"])).out.join("")).toBe("[]");

    const meant = await run(["key", "create", ...scope, "--name=--json"]);
    expect(meant.exitCode).toBe(0);
    expect(meant.out).toHaveLength(1);
  });
});

describe("errors that the operator can correct", () => {
  test.each([
    [["key", "revoke", "key_nope"], "There is no such key as key_nope."],
    [["key", "rotate", "key_nope"], "There is no such key as key_nope."],
    [["key", "update", "key_nope", "--name", "n"], "There is no such key as key_nope."],
    [["restore", "/nonexistent.db"], "There is no file /nonexistent.db."],
    [["apply", "/nonexistent.yaml"], "There is no file /nonexistent.yaml."],
    [["apply", "/"], "/ is a directory; apply needs a file."],
  ])("the failing call %p exits with 1 and a sentence without a stack", async (args, sentence) => {
    using folder = temporaryFolder();
    const { exitCode, out, err } = await installedCommandLine(folder.path)(args);
    expect([exitCode, out]).toEqual([1, []]);
    expect(err).toHaveLength(1);
    expect(err[0]).toStartWith(sentence);
  });

  test("a command whose data directory is a file exits with 1 and prints the reason", async () => {
    using folder = temporaryFolder();
    const file = `${folder.path}/file`;
    await Bun.write(file, "not a directory");
    const { exitCode, err } = await commandLine(file)(["key", "list"]);
    expect([exitCode, err]).toEqual([1, [`${file} is not a directory.`]]);
  });
});
