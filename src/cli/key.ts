import { CLI_ACTOR } from "../base/actor";
import { optionNames } from "../base/config/options";
import { validate } from "../base/validation";
import {
  createKey,
  type RevealedKey,
  revokeKey,
  rotateKey,
  updateKey,
  validateNewKey,
} from "../features/keys/keys";
import { listAllKeys } from "../features/keys/records";
import { describeExpiry, type Overlap, OVERLAPS, stateOfKey } from "../features/keys/rules";
import { SCOPE_NAMES } from "../features/keys/scopes";
import { type CreateKeyBody, type KeyResource, UpdateKeyBody } from "../features/keys/wire";
import type { Installation } from "../installation";
import {
  type Command,
  type ExitCode,
  type Invocation,
  JSON_FLAG,
  type Output,
  UsageError,
} from "./command";
import { printJson, printTable } from "./print";
import { examineFlags, type FlagsOfFields, withInstallation } from "./with-installation";

const OVERLAP_NAMES = Object.keys(OVERLAPS) as Overlap[];

const NAME_FLAG = { name: "name", placeholder: "N", help: "Purpose of the key." };
const RATE_LIMIT_FLAG = {
  name: "rate-limit",
  placeholder: "N",
  help: "Requests per minute, 1 to 1000000; default 1000.",
};

const createCommand: Command = {
  name: "key create",
  summary: "Create an API key and print its value, which is shown only once.",
  flags: [
    { ...NAME_FLAG, isRequired: true },
    {
      name: "scope",
      placeholder: "S",
      isRequired: true,
      isRepeatable: true,
      help: `Scope of the key; can be repeated: ${SCOPE_NAMES.join(", ")}.`,
    },
    RATE_LIMIT_FLAG,
    {
      name: "expires",
      placeholder: "DATE",
      help: "Last day (UTC) on which the key works, such as 2027-01-31; default: never expires.",
    },
    { ...JSON_FLAG, help: "Print the key as JSON, with its value in `value`." },
  ],
  options: optionNames("key"),
  async run(invocation) {
    const rateLimit = readRateLimit(invocation);
    const expires = invocation.value("expires");
    const input: CreateKeyBody = {
      name: invocation.value("name") ?? "",
      // Validated together with the other fields.
      scopes: scopesOf(invocation) as never,
      ...(rateLimit === undefined ? {} : { rate_limit: rateLimit }),
      ...(expires === undefined ? {} : { expires }),
    };
    // Checked before the data directory is opened, which may create it.
    const body = examineFlags(flagsOf(invocation), () => validateNewKey(input, Date.now()));
    const access = { canCreate: true, fields: flagsOf(invocation) };
    return withInstallation(createCommand, invocation, access, async ({ ctx }) => {
      reveal(invocation, await ctx.db.write((tx) => createKey(ctx, tx, body, CLI_ACTOR)));
    });
  },
};

const listCommand: Command = {
  name: "key list",
  summary: "List all API keys, including revoked and expired ones.",
  flags: [JSON_FLAG],
  options: optionNames("key"),
  run: (invocation) =>
    withExisting(listCommand, invocation, async ({ ctx }) => {
      const keys = listAllKeys(ctx.db);
      if (invocation.isSet("json")) printJson(invocation.output, keys);
      else printKeys(invocation.output, keys, ctx.clock.now());
    }),
};

const updateCommand: Command = {
  name: "key update",
  summary: "Change a key's name or its rate limit.",
  positionals: ["ID"],
  flags: [NAME_FLAG, RATE_LIMIT_FLAG, JSON_FLAG],
  options: optionNames("key"),
  async run(invocation) {
    const name = invocation.value("name");
    const rateLimit = readRateLimit(invocation);
    if (name === undefined && rateLimit === undefined) {
      throw new UsageError(["--name or --rate-limit is required."]);
    }
    const input = {
      ...(name === undefined ? {} : { name }),
      ...(rateLimit === undefined ? {} : { rate_limit: rateLimit }),
    };
    return withExisting(updateCommand, invocation, async ({ ctx }) => {
      const key = await ctx.db.write((tx) =>
        updateKey(ctx, tx, idOf(invocation), validate(UpdateKeyBody, input), CLI_ACTOR),
      );
      confirm(invocation, key, `Changed ${key.id} (${key.name}).`);
    });
  },
};

const rotateCommand: Command = {
  name: "key rotate",
  summary: "Give a key a new value and print it. It is shown only once.",
  positionals: ["ID"],
  flags: [
    {
      name: "overlap",
      placeholder: "TIME",
      choices: OVERLAP_NAMES,
      help: `Time until the old value ends: ${OVERLAP_NAMES.join(", ")}; default 24h.`,
    },
    { ...JSON_FLAG, help: "Print the key as JSON, with the new value in `value`." },
  ],
  options: optionNames("key"),
  async run(invocation) {
    const overlap = (invocation.value("overlap") ?? "24h") as Overlap;
    return withExisting(rotateCommand, invocation, async ({ ctx }) => {
      const revealed = await ctx.db.write((tx) =>
        rotateKey(ctx, tx, idOf(invocation), overlap, CLI_ACTOR),
      );
      reveal(invocation, revealed);
    });
  },
};

const revokeCommand: Command = {
  name: "key revoke",
  summary: "Revoke a key at once. This cannot be undone.",
  positionals: ["ID"],
  flags: [JSON_FLAG],
  options: optionNames("key"),
  run: (invocation) =>
    withExisting(revokeCommand, invocation, async ({ ctx }) => {
      const key = await ctx.db.write((tx) => revokeKey(ctx, tx, idOf(invocation), CLI_ACTOR));
      confirm(invocation, key, `Revoked ${key.id} (${key.name}).`);
    }),
};

export const keyCommands = [
  createCommand,
  listCommand,
  updateCommand,
  rotateCommand,
  revokeCommand,
];

/** Returns the flags for the fields of a key. */
function flagsOf(invocation: Invocation): FlagsOfFields {
  const flags = {
    name: "--name",
    scopes: "--scope",
    rate_limit: "--rate-limit",
    expires: "--expires",
  };
  return { flags, listed: { scopes: scopesOf(invocation) } };
}

function withExisting(
  command: Command,
  invocation: Invocation,
  work: (installation: Installation) => Promise<void>,
): Promise<ExitCode> {
  const access = { canCreate: false, fields: flagsOf(invocation) };
  return withInstallation(command, invocation, access, work);
}

function scopesOf(invocation: Invocation): string[] {
  return invocation.values("scope").flatMap((value) => value.split(","));
}

function idOf(invocation: Invocation): string {
  return invocation.positionals[0] ?? "";
}

/** Returns the number, or NaN for other text, which the service rejects with the allowed range. */
function readRateLimit(invocation: Invocation): number | undefined {
  const text = invocation.value("rate-limit");
  if (text === undefined) return undefined;
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

function reveal(invocation: Invocation, { key, value }: RevealedKey): void {
  const { output } = invocation;
  if (invocation.isSet("json")) {
    printJson(output, { ...key, value });
    return;
  }
  output.err(
    `${key.id} (${key.name}): ${key.scopes.join(", ")}; ${key.rate_limit} requests per minute.`,
  );
  output.err("Value of the key, which is shown only once:");
  output.out(value);
}

function confirm(invocation: Invocation, key: KeyResource, sentence: string): void {
  if (invocation.isSet("json")) printJson(invocation.output, key);
  else invocation.output.err(sentence);
}

function printKeys(output: Output, keys: readonly KeyResource[], now: number): void {
  const titles = ["ID", "NAME", "VALUE", "SCOPES", "LIMIT", "STATE", "LAST USED"];
  const rows = keys.map((key) => [
    key.id,
    key.name,
    `${key.start}…`,
    key.scopes.join(","),
    `${key.rate_limit}/min`,
    stateOf(key, now),
    key.last_used_at ? `used ${key.last_used_at}` : "never used",
  ]);
  printTable(output, titles, rows);
}

function stateOf(key: KeyResource, now: number): string {
  const msOf = (at: string | null) => (at === null ? null : Date.parse(at));
  const { expires_at, revoked_at } = key;
  const state = stateOfKey({ expiresAt: msOf(expires_at), revokedAt: msOf(revoked_at) }, now);
  if (state === "revoked" || expires_at === null) return state;
  const text = describeExpiry(expires_at);
  return state === "expired" ? `expired ${text}` : `until ${text}`;
}
