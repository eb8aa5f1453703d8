import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Config } from "../../../src/base/config/options";
import { loadConfig } from "../../../src/base/config/load";
import { temporaryFolder } from "../../support/temporary-folder";

const STORE = { ALLCLEAR_FLEET_STORE: "s3://bucket/fleet" };
const SECRET = "x".repeat(32);

/** Secrets of a fleet: variable, value, and the value in the configuration. */
const SECRETS: [name: string, value: string, read: (config: Config) => unknown][] = [
  ["ALLCLEAR_FLEET_SECRET", "s3cret".repeat(6), (config) => config.fleetSecret],
  ["ALLCLEAR_FLEET_STORE_KEY_ID", "AKIAs3cret", (config) => config.fleetStoreKeyId],
  ["ALLCLEAR_FLEET_STORE_SECRET", "s3cret+/=", (config) => config.fleetStoreSecret],
  ["ALLCLEAR_VALKEY_URL", "valkey://:s3cret@valkey:6379", (config) => config.valkey],
];

/** Returns the other variables that a configuration with this one needs. */
function besides(name: string): Record<string, string> {
  const all = {
    ...STORE,
    ALLCLEAR_FLEET_SECRET: SECRET,
    ALLCLEAR_FLEET_STORE_KEY_ID: "key",
    ALLCLEAR_FLEET_STORE_SECRET: "secret",
  };
  return Object.fromEntries(Object.entries(all).filter(([other]) => other !== name));
}

function load(env: Record<string, string>): { config?: Config; problems?: string[] } {
  return loadConfig({}, env);
}

describe.each(SECRETS)("%s_FILE", (name, value, read) => {
  const others = besides(name);

  test.each(["", "\n", "\r\n"])("gives the content of its file without a last %j", async (end) => {
    using folder = temporaryFolder();
    const file = join(folder.path, "secret");
    await Bun.write(file, value + end);
    const { config, problems } = load({ ...others, [`${name}_FILE`]: file });
    expect(problems).toBeUndefined();
    const expected = load({ ...others, [name]: value }).config;
    if (!config || !expected) throw new Error("the configuration was refused");
    expect(read(config)).toEqual(read(expected));
    expect(JSON.stringify(read(config))).toContain("s3cret");
  });

  test("is refused beside the variable, and without a file, and its value is not repeated", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "secret");
    await Bun.write(file, value);
    expect(load({ ...others, [name]: value, [`${name}_FILE`]: file }).problems).toContain(
      `${name} and ${name}_FILE must not both be set.`,
    );
    const { problems = [] } = load({ ...others, [`${name}_FILE`]: value });
    expect(problems).toContain(`${name}_FILE must name a file that can be read (ENOENT).`);
    expect(problems.join()).not.toContain("s3cret");
  });
});

test("a secret in a file that breaks a rule is refused by the name of the file's variable", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "secret");
  await Bun.write(file, "s3cret");
  expect(load({ ...besides("ALLCLEAR_FLEET_SECRET"), ALLCLEAR_FLEET_SECRET_FILE: file })).toEqual({
    problems: ["ALLCLEAR_FLEET_SECRET_FILE must have at least 32 characters."],
  });
  const valkey = load({ ...besides(""), ALLCLEAR_VALKEY_URL_FILE: file }).problems ?? [];
  expect(valkey).toEqual([expect.stringMatching(/^ALLCLEAR_VALKEY_URL_FILE must be /)]);
  expect(valkey.join()).not.toContain("s3cret");
});
