import { expect, test } from "bun:test";
import { createTestApp } from "../../../support/app";
import { TEST_START } from "../../../support/clock";
import { readHtml } from "../../../support/html";
import { alarmOf, createTestFleet } from "../../../support/test-fleet";

test("the overview says to all roles that the network may be lost, and shows other alarms to admins", async () => {
  const fleet = createTestFleet();
  await using app = await createTestApp({ fleet: () => fleet });
  const lost = "This server may have lost its network since 14:02 UTC; 33 checks are held.";
  fleet.raised = [
    alarmOf("network_lost", lost, TEST_START),
    alarmOf("lease_renewal", "The store does not answer.", TEST_START),
  ];
  const notices = async (role: "viewer" | "admin") => {
    const session = await app.signedIn(role);
    return readHtml((await app.call("/admin", { session })).text).texts("#alarms .notice");
  };
  expect(await notices("viewer")).toEqual([`Network lost${lost}`]);
  expect((await notices("admin")).toSorted()).toEqual([
    "Lease not renewedThe store does not answer. Since just now. See Fleet.",
    `Network lost${lost}`,
  ]);
});
