import { expect, test } from "bun:test";
import { join } from "node:path";
import { createSessions } from "../../../src/features/auth/sessions";
import { findLink, issueLink } from "../../../src/features/auth/links";
import { sha256 } from "../../../src/base/hash";
import { openAuthInstallation } from "../../support/auth-installation";
import { bytesIn, temporaryFolder } from "../../support/temporary-folder";

test("the database files contain hashes of session and link tokens and never the tokens", async () => {
  using folder = temporaryFolder();
  const tokens: string[] = [];
  const check = () => {
    const bytes = bytesIn(folder.path);
    expect(tokens.filter((token) => bytes.includes(sha256(token)))).toEqual(tokens);
    expect(tokens.filter((token) => bytes.includes(token))).toEqual([]);
  };
  {
    await using installation = openAuthInstallation(join(folder.path, "allclear.db"));
    await installation.addUser("usr_ada");
    tokens.push(await installation.start("usr_ada"));
    const link = { purpose: "reset", userId: "usr_ada", lastsMs: 60_000 } as const;
    tokens.push(
      await installation.ctx.db.write((tx) => issueLink(installation.ctx, tx, link).token),
    );
    const [session = "", reset = ""] = tokens;
    const sessions = createSessions(installation.ctx);
    const found = sessions.find(session, installation.clock.now());
    expect(found?.user.id).toBe("usr_ada");
    expect(findLink(installation.ctx.db, reset, installation.clock.now())?.purpose).toBe("reset");
    await installation.clock.advance(60_000);
    sessions.touch(found!, installation.clock.now(), "203.0.113.7");
    await installation.clock.advance(0);
    check();
    const logged = JSON.stringify(installation.logged);
    expect(tokens.filter((token) => logged.includes(token))).toEqual([]);
  }
  check();
});
