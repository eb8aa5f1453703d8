import { describe, expect, test } from "bun:test";
import { type CommandLine, installedCommandLine, jsonOf } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

const VALUE = /^allclear_[0-9A-Za-z]{49}$/;

interface Key {
  id: string;
  name: string;
  start: string;
  scopes: string[];
  rate_limit: number;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  created_by: { kind: string };
  values: { start: string; ends_at: string | null }[];
  value?: string;
}

const create = ["key", "create", "--name", "CI bot", "--scope", "read:status"];

async function listKeys(run: CommandLine): Promise<Key[]> {
  return jsonOf(await run(["key", "list", "--json"]));
}

describe("allclear key create", () => {
  test("key create prints only the value on standard output", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const { exitCode, out, err } = await run(create);
    expect(exitCode).toBe(0);
    expect(out).toEqual([expect.stringMatching(VALUE)]);
    expect(err.join("\n")).toContain("CI bot");
    expect(err.join("\n")).not.toContain(out[0] ?? "");
  });

  test("key create --json prints the resource with the value", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const outcome = await run([
      ...create,
      ..."--scope write:components --rate-limit 60 --expires 2199-01-31 --json".split(" "),
    ]);
    const key = jsonOf<Key>(outcome);
    expect(outcome.err).toEqual([]);
    expect(key).toMatchObject({
      name: "CI bot",
      scopes: ["read:status", "write:components"],
      rate_limit: 60,
      expires_at: "2199-02-01T00:00:00.000Z",
      revoked_at: null,
      last_used_at: null,
      created_by: { kind: "cli" },
    });
    expect(key.value).toMatch(VALUE);
    expect(key.value).toStartWith(key.start);

    const [listed] = await listKeys(run);
    const { value: _, ...rest } = key;
    expect(listed as unknown).toEqual(rest);
  });

  test("key create uses a limit of 1000 and no expiry by default and accepts scopes with commas", async () => {
    using folder = temporaryFolder();
    const key = jsonOf<Key>(
      await installedCommandLine(folder.path)([
        ...create.slice(0, 4),
        "--scope=read:status,read:analytics",
        "--json",
      ]),
    );
    expect(key).toMatchObject({
      scopes: ["read:status", "read:analytics"],
      rate_limit: 1000,
      expires_at: null,
    });
  });

  test("key create reports every invalid value, exits with 2 and creates no key", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const { exitCode, out, err } = await run([
      ..."key create --name= --scope read:status --scope read:all --scope write".split(" "),
      ..."--rate-limit 1000001 --expires 2020-01-01".split(" "),
    ]);
    expect([exitCode, out]).toEqual([2, []]);
    expect(err).toEqual([
      expect.stringMatching(/^--name /),
      expect.stringMatching(/^--scope read:all must be one of /),
      expect.stringMatching(/^--scope write must be one of /),
      expect.stringMatching(/^--rate-limit must be a whole number from 1 to 1,000,000/),
      expect.stringMatching(/^--expires is in the past/),
      "allclear key create --help lists its options.",
    ]);
    expect(await listKeys(run)).toEqual([]);
  });

  test.each([
    ["--rate-limit", "0"],
    ["--rate-limit", "1.5"],
    ["--rate-limit", "-1"],
    ["--rate-limit", "1e3"],
    ["--rate-limit", "many"],
    ["--expires", "2199-02-31"],
    ["--expires", "tomorrow"],
    ["--scope", "read:status"],
    ["--name", "two"],
  ])(
    "key create rejects %s %s, names the flag, exits with 2 and creates no key",
    async (flag, value) => {
      using folder = temporaryFolder();
      const run = installedCommandLine(folder.path);
      const { exitCode, err } = await run([...create, flag, value]);
      expect(exitCode).toBe(2);
      expect(err[0]).toStartWith(flag);
      expect(err).toHaveLength(2);
      expect(await listKeys(run)).toEqual([]);
      expect((await run(create)).exitCode).toBe(0);
    },
  );
});

describe("allclear key list", () => {
  test("key list shows all keys with their state, newest first, and no values", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const first = jsonOf<Key>(await run([...create, "--json"]));
    const second = jsonOf<Key>(await run([...create, "--expires", "2199-01-31", "--json"]));
    await run(["key", "revoke", first.id]);

    const { out } = await run(["key", "list"]);
    expect(out).toHaveLength(3);
    expect(out[0]).toMatch(/^ID +NAME +VALUE +SCOPES +LIMIT +STATE +LAST USED$/);
    expect(out[1]).toMatch(new RegExp(`^${second.id} .* until 2199-01-31 +never used$`));
    expect(out[2]).toMatch(new RegExp(`^${first.id} .* revoked +never used$`));
    const shown = [...out, JSON.stringify(await listKeys(run))].join("\n");
    for (const { value } of [first, second]) expect(shown).not.toContain(value ?? "no value");
  });
});

describe("allclear key update, rotate and revoke", () => {
  test("key update changes name and limit, and prints the key with --json", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const { id } = jsonOf<Key>(await run([...create, "--json"]));
    const changed = await run([
      "key",
      "update",
      id,
      "--name",
      "Deploys",
      "--rate-limit",
      "7",
      "--json",
    ]);
    expect(jsonOf<Key>(changed)).toMatchObject({ id, name: "Deploys", rate_limit: 7 });
    const rejected = await run(["key", "update", id, "--rate-limit", "0"]);
    expect(rejected.exitCode).toBe(2);
    expect(await listKeys(run)).toMatchObject([{ id, name: "Deploys", rate_limit: 7 }]);
  });

  test("key rotate prints only the new value and keeps the old one for the overlap", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const { id, value } = jsonOf<Key>(await run([...create, "--json"]));
    const { out } = await run(["key", "rotate", id, "--overlap", "1h"]);
    expect(out).toEqual([expect.stringMatching(VALUE)]);
    expect(out[0]).not.toBe(value);
    const [key] = await listKeys(run);
    expect(key?.values).toHaveLength(2);
    expect(key?.values[0]).toMatchObject({ start: out[0]?.slice(0, 13), ends_at: null });
    expect(key?.values[1]).toMatchObject({ start: value?.slice(0, 13) });
    expect(key?.values[1]?.ends_at).not.toBeNull();
  });

  test("key revoke is final, and a second one is no failure", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const { id } = jsonOf<Key>(await run([...create, "--json"]));
    const revoked = jsonOf<Key>(await run(["key", "revoke", id, "--json"]));
    expect(revoked.revoked_at).not.toBeNull();
    const again = jsonOf<Key>(await run(["key", "revoke", id, "--json"]));
    expect(again.revoked_at).toBe(revoked.revoked_at);
    const rotated = await run(["key", "rotate", id]);
    expect([rotated.exitCode, rotated.out]).toEqual([1, []]);
    expect(rotated.err[0]).toContain("revoked");
  });
});
