import { describe, expect, test } from "bun:test";
import { CLI_ACTOR, userActor } from "../../../src/base/actor";
import * as authStore from "../../../src/features/auth/store";
import { createSecret } from "../../../src/features/auth/totp";
import * as store from "../../../src/features/users/second-factor-store";
import { resetSecondFactor } from "../../../src/features/users/recovery";
import { readSecondFactor, turnOnSecondFactor } from "../../../src/features/users/second-factors";
import { disableUser } from "../../../src/features/users/users";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";
import { codeAt, wrongCode } from "../../support/second-factors";
import { openPeopleInstallation, type PeopleInstallation } from "../../support/user-installation";

async function withAda() {
  const installation = openPeopleInstallation();
  const ada = await installation.user("Ada");
  const secret = createSecret(installation.ctx.random);
  return {
    installation,
    ada,
    secret,
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

function turnOn({ ctx }: PeopleInstallation, userId: string, secret: string, code: string) {
  return (tx: Parameters<typeof turnOnSecondFactor>[1]) =>
    turnOnSecondFactor(ctx, tx, { userId, secret, code }, CLI_ACTOR, -1);
}

describe("a second factor", () => {
  test("that is on is a conflict for another one, and stays as it is", async () => {
    await using at = await withAda();
    const { installation, ada, secret } = at;
    const code = codeAt(secret, installation.clock.now());
    await installation.write(turnOn(installation, ada.id, secret, code));
    const other = createSecret(installation.ctx.random);
    const again = turnOn(installation, ada.id, other, codeAt(other, installation.clock.now()));
    expect((await installation.rejectionFrom(again)).code).toBe("conflict");
    expect(readSecondFactor(installation.ctx.db, ada.id)).toEqual({
      since: installation.clock.now(),
      recoveryCodes: 10,
    });
  });

  test.each([
    ["a wrong code", (secret: string, now: number) => [secret, wrongCode(secret, now)]],
    [
      "a code of another secret",
      (secret: string, now: number) => ["A".repeat(32), codeAt(secret, now)],
    ],
    [
      "a secret of another shape",
      (secret: string, now: number) => [secret.slice(1), codeAt(secret, now)],
    ],
  ] as const)("is not turned on with %s", async (_name, of) => {
    await using at = await withAda();
    const { installation, ada } = at;
    const [secret = "", code = ""] = of(at.secret, installation.clock.now());
    const before = installation.audit();
    const outcome = await installation.write(turnOn(installation, ada.id, secret, code));
    expect(outcome).toEqual({ rejection: "wrong" });
    expect(readSecondFactor(installation.ctx.db, ada.id)).toBeUndefined();
    expect(installation.audit()).toEqual(before);
  });

  test("of a disabled user is neither turned on nor reset", async () => {
    await using at = await withAda();
    const { installation, secret } = at;
    const { ctx, clock } = installation;
    const bob = await installation.user("Bob");
    await installation.write(turnOn(installation, bob.id, secret, codeAt(secret, clock.now())));
    await installation.write((tx) => disableUser(ctx, tx, bob.id, CLI_ACTOR));
    const reset = await installation.rejectionFrom((tx) =>
      resetSecondFactor(ctx, tx, bob.id, CLI_ACTOR),
    );
    expect(reset.code).toBe("conflict");
    const on = turnOn(installation, bob.id, secret, codeAt(secret, clock.now()));
    expect((await installation.rejectionFrom(on)).code).toBe("conflict");
    expect(readSecondFactor(ctx.db, bob.id)?.recoveryCodes).toBe(10);
  });

  test("is not reset by its own user, nor for an unknown one", async () => {
    await using at = await withAda();
    const { installation, ada } = at;
    const { ctx } = installation;
    const own = await installation.rejectionFrom((tx) =>
      resetSecondFactor(ctx, tx, ada.id, userActor(ada)),
    );
    expect(own.code).toBe("conflict");
    const unknown = await installation.rejectionFrom((tx) =>
      resetSecondFactor(ctx, tx, "usr_nobody", CLI_ACTOR),
    );
    expect(unknown.code).toBe("not_found");
  });
});

test("statements about second factors and sign-ins use indexes and do not sort", async () => {
  using opened = openMonitorStore();
  const hash = Buffer.alloc(32);
  const statements = await opened.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      authStore.findSessionRow(tx, { hash });
      authStore.findStepRow(tx, { hash });
      authStore.setTries(tx, { hash, tries: 1 });
      authStore.deleteStep(tx, { hash });
      authStore.deleteStepsOfUser(tx, { userId: "usr_1" });
      authStore.deleteOldestSteps(tx, { userId: "usr_1", kept: 1 });
      store.findSecondFactor(tx, { userId: "usr_1" });
      store.setLastPeriod(tx, { userId: "usr_1", lastPeriod: 1 });
      store.deleteRecoveryCode(tx, { userId: "usr_1", hash });
      store.deleteRecoveryCodes(tx, { userId: "usr_1" });
      store.countRecoveryCodes(tx, { userId: "usr_1" });
      store.deleteSecondFactor(tx, { userId: "usr_1" });
    }),
  );
  expect(statements).toHaveLength(12);
  for (const sql of statements) {
    const large = planOf(opened, sql).filter((step) => /^SCAN (?!CONSTANT)|TEMP B-TREE/.test(step));
    expect(large, sql).toEqual([]);
  }
});
