import { loadConfig } from "../../src/base/config/load";
import { createPasswords } from "../../src/features/auth/passwords";
import { createUser } from "../../src/features/users/users";
import { openForCommand } from "../../src/installation";
import { CLI_ACTOR } from "../../src/base/actor";

/** The credentials of the owner that `addOwner` creates. */
export const OWNER = { email: "ada@acme.example", password: "what nobody guesses" };

/** Creates the owner of an installation that no server uses. */
export async function addOwner(dataDir: string): Promise<void> {
  const loaded = loadConfig({ dataDir, logLevel: "warn" }, {});
  if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
  const { ctx, close } = openForCommand(loaded.config, "bench", { canCreate: false });
  try {
    const passwordHash = await createPasswords().hash(OWNER.password);
    const user = { email: OWNER.email, name: "Ada", role: "owner" as const, passwordHash };
    await ctx.db.write((tx) => createUser(ctx, tx, user, CLI_ACTOR));
  } finally {
    close();
  }
}
