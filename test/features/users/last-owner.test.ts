import { describe, expect, test } from "bun:test";
import type { Tx } from "../../../src/db";
import { disableUser, enableUser, getUser, inviteUser, setRole } from "../../../src/features/users";
import { CLI_ACTOR } from "../../../src/kernel/actor";
import { openPeopleHouse, type PeopleHouse } from "../../support/people";

const WAYS_OUT = {
  disabled: (house: PeopleHouse, id: string) => (tx: Tx) =>
    disableUser(house.ctx, tx, id, CLI_ACTOR),
  demoted: (house: PeopleHouse, id: string) => (tx: Tx) =>
    setRole(house.ctx, tx, id, "admin", CLI_ACTOR),
};
const ways = Object.keys(WAYS_OUT) as (keyof typeof WAYS_OUT)[];

describe.each(ways)("%s", (way) => {
  const out = WAYS_OUT[way];

  test("the only owner cannot be, whoever else there is", async () => {
    await using house = openPeopleHouse();
    const ada = await house.user("Ada");
    await house.user("Bob", { role: "admin" });
    const rejection = await house.refused(out(house, ada.id));
    expect(rejection.code).toBe("conflict");
    expect(rejection.message).toStartWith("“Ada” is the last owner and cannot be ");
    expect(getUser(house.ctx.db, ada.id)).toEqual(ada);
  });

  test("of two owners the one can be, and then not the other", async () => {
    await using house = openPeopleHouse();
    const ada = await house.user("Ada");
    const bob = await house.user("Bob", { role: "owner" });
    const left = await house.write(out(house, ada.id));
    expect(way === "disabled" ? left.disabled_at : left.role).toBe(
      way === "disabled" ? "2026-03-10T12:00:00.000Z" : "admin",
    );
    expect((await house.refused(out(house, bob.id))).code).toBe("conflict");
  });

  test("of two owners in the same turn only one is", async () => {
    await using house = openPeopleHouse();
    const ids = [(await house.user("Ada")).id, (await house.user("Bob", { role: "owner" })).id];
    const outcomes = await Promise.allSettled(ids.map((id) => house.write(out(house, id))));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  test("an owner cannot be while the only other one is disabled, and can once they are enabled", async () => {
    await using house = openPeopleHouse();
    const ada = await house.user("Ada");
    const bob = await house.user("Bob", { role: "owner" });
    await house.write((tx) => disableUser(house.ctx, tx, bob.id, CLI_ACTOR));
    expect((await house.refused(out(house, ada.id))).code).toBe("conflict");
    await house.write((tx) => enableUser(house.ctx, tx, bob.id, CLI_ACTOR));
    await house.write(out(house, ada.id));
    expect((await house.refused(out(house, bob.id))).code).toBe("conflict");
  });

  test("an owner cannot be while the only other one has not chosen a password yet, who can", async () => {
    await using house = openPeopleHouse();
    const ada = await house.user("Ada");
    const bob = { email: "bob@acme.test", name: "Bob", role: "owner" } as const;
    const { user } = await house.write((tx) => inviteUser(house.ctx, tx, bob, CLI_ACTOR));
    expect((await house.refused(out(house, ada.id))).code).toBe("conflict");
    await house.write(out(house, user.id));
  });

  test("of two owners without a password the one can be, and then not the other", async () => {
    await using house = openPeopleHouse();
    const invite = (name: string) =>
      house.write((tx) => {
        const input = { email: `${name}@acme.test`, name, role: "owner" } as const;
        return inviteUser(house.ctx, tx, input, CLI_ACTOR).user.id;
      });
    const [ada, bob] = [await invite("ada"), await invite("bob")];
    await house.write(out(house, ada));
    expect((await house.refused(out(house, bob))).code).toBe("conflict");
  });

  test("a disabled owner and users who are none can be", async () => {
    await using house = openPeopleHouse();
    await house.user("Ada");
    const bob = await house.user("Bob", { role: "owner" });
    const eve = await house.user("Eve");
    await house.write((tx) => disableUser(house.ctx, tx, bob.id, CLI_ACTOR));
    await house.write(out(house, bob.id));
    await house.write(out(house, eve.id));
    const found = getUser(house.ctx.db, eve.id);
    expect(way === "disabled" ? found.disabled_at !== null : found.role === "admin").toBe(true);
  });
});
