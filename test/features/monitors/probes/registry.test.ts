import { describe, expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { schemaErrors } from "../../../../src/errors";
import { changeSchemaOf } from "../../../../src/features/monitors";
import {
  declareConfig,
  declaredConfigSchema,
  desiredConfig,
} from "../../../../src/features/monitors/declared";
import {
  graceSecondsOf,
  type MonitorConfig,
  probeOf,
} from "../../../../src/features/monitors/probes";
import { MONITOR_TYPES, type MonitorType } from "../../../../src/domain/monitor-state";
import { createTestApp } from "../../../support/app";
import { usePingProgram } from "../../../support/ping-program";

/** The least that a type needs, and all that it takes. */
const CONFIGS: Record<MonitorType, [least: MonitorConfig, most: MonitorConfig]> = {
  http: [
    { url: "https://shop.example.com/health?token=hidden" },
    {
      url: "https://shop.example.com/health?token=hidden",
      method: "POST",
      headers: { Authorization: "hidden" },
      body: "hidden",
      follow_redirects: false,
      ip_family: "ipv4",
      verify_tls: false,
      certificate_warning_days: 3,
    },
  ],
  tcp: [
    { host: "db.example.com", port: 5432 },
    { host: "2001:db8::1", port: 1 },
  ],
  tls: [{ host: "example.com" }, { host: "example.com", port: 8443, days: 30 }],
  dns: [
    { name: "example.com" },
    { name: "example.com", record_type: "MX", resolver: "192.0.2.1", expected: ["10 mx.test"] },
  ],
  ping: [{ host: "example.com" }, { host: "192.0.2.1" }],
  push: [{}, { grace_seconds: 0 }],
};

/** Returns the secret fields of a configuration. */
function secretsIn({ headers, body }: MonitorConfig): MonitorConfig {
  return { ...(headers !== undefined && { headers }), ...(body !== undefined && { body }) };
}

describe("monitor types", () => {
  for (const type of MONITOR_TYPES) {
    const probe = probeOf(type);
    const [least, most] = CONFIGS[type];

    test(`the configuration of a ${type} monitor accepts minimal and full input and rejects unknown fields`, () => {
      using _ping = usePingProgram("exit 1");
      for (const config of [least, most]) {
        expect(schemaErrors(probe.config, config)).toEqual([]);
        expect(probe.validate(config)).toEqual([]);
      }
      expect(schemaErrors(probe.config, { ...least, nope: 1 })).toEqual([
        { pointer: "#/nope", detail: "is not a known field" },
      ]);
    });

    test(`a shown ${type} configuration matches its schema and contains no secrets`, () => {
      for (const config of [least, most]) {
        const shown = probe.present(config);
        expect(schemaErrors(probe.shown, shown)).toEqual([]);
        const { url: _, ...rest } = shown as { url?: string };
        expect(JSON.stringify(rest)).not.toContain("hidden");
        expect(probe.targetOf(config)).not.toBe("");
        expect(probe.targetOf(config)).not.toContain("hidden");
      }
    });

    test(`a change of a ${type} configuration affects given fields, and null clears only optional ones`, () => {
      expect(probe.merge(most, {})).toEqual(most);
      const { properties, required = [] } = probe.config as TObject;
      for (const name of Object.keys(properties)) {
        const isOptional = !required.includes(name);
        const faults = schemaErrors(changeSchemaOf(type), { [name]: null });
        expect(faults.length, name).toBe(isOptional ? 0 : 1);
        if (isOptional) expect(probe.merge(most, { [name]: null })).not.toHaveProperty(name);
      }
      expect(schemaErrors(changeSchemaOf(type), { nope: 1 })).toHaveLength(1);
    });

    test(`a ${type} configuration exported without secrets can be applied again with them`, () => {
      for (const config of [least, most]) {
        const declared = declareConfig(type, config);
        expect(schemaErrors(declaredConfigSchema(type), declared)).toEqual([]);
        const unchanged = desiredConfig(type, declared, config);
        expect(unchanged.missing).toEqual([]);
        expect(unchanged.desired).toEqual(unchanged.current);
        expect(probe.present(probe.merge(config, unchanged.change))).toEqual(probe.present(config));
        const desired = { ...unchanged.desired, url: undefined };
        expect(JSON.stringify([desired, { ...declared, url: undefined }])).not.toContain("hidden");

        // Elsewhere each of its secrets is missed, and only those.
        const elsewhere = desiredConfig(type, declared);
        expect(elsewhere.missing.length > 0).toBe(JSON.stringify(declared).includes("null"));
        expect(probe.present({ ...elsewhere.creation, ...secretsIn(config) })).toEqual(
          probe.present(config),
        );
      }
    });

    test(`the OpenAPI document contains the schemas of a ${type} monitor`, async () => {
      await using app = await createTestApp();
      const { paths, components } = (await app.call("/openapi.json")).body;
      const { schema } = paths["/api/v1/monitors"].post.requestBody.content["application/json"];
      const shapesOf = (name: string) =>
        components.schemas[name].oneOf.map(
          ({ $ref }: { $ref: string }) => components.schemas[$ref.split("/").at(-1) ?? ""],
        );
      expect(schema.$ref).toEndWith("/CreateMonitor");
      for (const name of ["CreateMonitor", "Monitor", "CreatedMonitor"]) {
        const own = shapesOf(name).filter(
          (shape: TObject) => shape.properties["type"]?.const === type,
        );
        expect(own).toHaveLength(1);
        expect(own[0].properties).toHaveProperty("config");
      }
    });
  }

  test("every monitor type except push has a probe that runs checks", () => {
    const active = MONITOR_TYPES.filter((type) => probeOf(type).run !== undefined);
    expect(active).toEqual(MONITOR_TYPES.filter((type) => type !== "push"));
    expect(graceSecondsOf({})).toBe(60);
    expect(graceSecondsOf({ grace_seconds: 0 })).toBe(0);
  });
});

test("a declared header can be named __proto__ or constructor", () => {
  const url = "https://example.com/";
  const declared = { url, headers: JSON.parse('{"__proto__": "a", "constructor": "b"}') };
  const { creation, change, missing } = desiredConfig("http", declared);
  expect(missing).toEqual([]);
  expect(Object.entries(creation["headers"] ?? {})).toEqual(Object.entries(declared.headers));
  expect(Object.entries(change["headers"] ?? {})).toEqual(Object.entries(declared.headers));
  const kept = { url, headers: JSON.parse('{"__proto__": null, "constructor": null}') };
  expect(desiredConfig("http", kept, declared).missing).toEqual([]);
  expect(desiredConfig("http", kept).missing.map(({ pointer }) => pointer)).toEqual([
    "#/headers/__proto__",
    "#/headers/constructor",
  ]);
});
