import { expect, test } from "bun:test";
import { loadConfig } from "../../../../src/base/config/load";

const load = (targets: string) => loadConfig({}, { ALLCLEAR_REFERENCE_TARGETS: targets });

test("reference targets are hosts with ports, separated by commas or spaces", () => {
  expect(load("1.1.1.1:443, [2620:fe::fe]:53 dns.example.com:853")).toMatchObject({
    config: {
      referenceTargets: [
        { host: "1.1.1.1", port: 443 },
        { host: "2620:fe::fe", port: 53 },
        { host: "dns.example.com", port: 853 },
      ],
    },
  });
  expect(load("")).toMatchObject({ config: { referenceTargets: [] } });
});

test("an invalid reference target stops the start and is named", () => {
  for (const wrong of ["1.1.1.1", "1.1.1.1:0", "1.1.1.1:65536", ":443", "2620:fe::fe:53"]) {
    const loaded = load(`9.9.9.9:443,${wrong}`);
    expect(loaded).toHaveProperty("problems");
    expect(JSON.stringify(loaded)).toContain(`${wrong} is not one`);
  }
});
