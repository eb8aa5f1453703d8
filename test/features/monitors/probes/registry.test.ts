import { describe, expect, test } from "bun:test";
import type { TObject, TSchema } from "@sinclair/typebox";
import { schemaErrors } from "../../../../src/base/validation";
import { declaredSchema, isSecret, secretFields } from "../../../../src/base/secrets";
import { changeSchemaOf } from "../../../../src/features/monitors/wire";
import { declareConfig, desiredConfig } from "../../../../src/features/monitors/declared";
import { type MonitorConfig, probeOf } from "../../../../src/features/monitors/probes";
import { graceSecondsOf } from "../../../../src/features/monitors/probes/push";
import { isPassive, SUPPORTED_TYPES, type SupportedType } from "../../../../src/base/status";
import { isSecretInput } from "../../../../src/features/auth/screens/refused-form";
import { createTestApp } from "../../../support/app";
import { MONITOR_CONFIGS } from "../../../support/monitor-configs";
import { monitorSecrets } from "../../../support/monitor-secrets";
import { usePingProgram } from "../../../support/ping-program";

/** Returns the fields of a configuration that are secrets or have secret parts. */
function secretsIn(type: SupportedType, config: MonitorConfig): MonitorConfig {
  const { secrets, secretParts } = monitorSecrets(type);
  const fields = { ...secrets, ...secretParts };
  return Object.fromEntries(Object.entries(config).filter(([field]) => field in fields));
}

/** Counts the secrets that are marked anywhere in a schema, or that its descriptions call secrets. */
function marksIn(schema: unknown): number {
  if (typeof schema !== "object" || schema === null) return 0;
  const { description = "" } = schema as TSchema;
  const isCalledSecret = / (?:is a secret|are secrets) /.test(description);
  const isMarked = isCalledSecret || isSecret(schema as TSchema);
  return Object.values(schema).reduce((sum, part) => sum + marksIn(part), Number(isMarked));
}

describe("monitor types", () => {
  for (const type of SUPPORTED_TYPES) {
    const probe = probeOf(type);
    const [least, most] = MONITOR_CONFIGS[type];

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
        expect(JSON.stringify(rest)).not.toContain("PRIVATE KEY");
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
        expect(schemaErrors(declaredSchema(probe.config), declared)).toEqual([]);
        const unchanged = desiredConfig(type, declared, config);
        expect(unchanged.missing).toEqual([]);
        expect(unchanged.desired).toEqual(unchanged.current);
        expect(probe.present(probe.merge(config, unchanged.change))).toEqual(probe.present(config));
        const desired = { ...unchanged.desired, url: undefined };
        expect(JSON.stringify([desired, { ...declared, url: undefined }])).not.toContain("hidden");

        // Elsewhere each of its secrets is missed, and only those.
        const elsewhere = desiredConfig(type, declared);
        expect(elsewhere.missing.length > 0).toBe(JSON.stringify(declared).includes("null"));
        expect(probe.present({ ...elsewhere.creation, ...secretsIn(type, config) })).toEqual(
          probe.present(config),
        );
      }
    });

    test(`the OpenAPI document contains the schemas of a ${type} monitor`, async () => {
      await using app = await createTestApp();
      const { paths, components } = (await app.call("/openapi.json")).body;
      const { schema } = paths["/api/v1/monitors"].post.requestBody.content["application/json"];
      const schemaOf = ({ $ref }: { $ref: string }) =>
        components.schemas[$ref.split("/").at(-1) ?? ""];
      const shapesOf = (name: string) => components.schemas[name].oneOf.map(schemaOf);
      expect(schema.$ref).toEndWith("/CreateMonitor");
      for (const name of ["CreateMonitor", "Monitor", "CreatedMonitor"]) {
        const own = shapesOf(name).filter(({ properties }: { properties: never }) =>
          Bun.deepEquals(schemaOf(properties["type"]).enum, [type]),
        );
        expect(own).toHaveLength(1);
        expect(own[0].properties).toHaveProperty("config");
      }
    });
  }

  test("every secret of a configuration is marked in its schema", () => {
    for (const type of SUPPORTED_TYPES) {
      const { secrets, secretParts } = monitorSecrets(type);
      const marked = secretFields(probeOf(type).config).map(({ field, kind, parts }) => [
        field,
        kind === "parts" ? parts : kind,
      ]);
      expect(Object.fromEntries(marked)).toEqual({ ...secrets, ...secretParts });
      const paths = [...Object.keys(secrets), ...Object.values(secretParts).flat()];
      expect(marksIn(probeOf(type).config)).toBe(paths.length);
    }
  });

  test("a shown configuration tells which secrets are stored, and a form's input for each is secret", () => {
    for (const type of SUPPORTED_TYPES) {
      const { present } = probeOf(type);
      const { secrets, secretParts } = monitorSecrets(type);
      const [least, most] = withDigest(type);
      for (const [field, kind] of Object.entries(secrets)) {
        const fact = kind === "text" ? `has_${field}` : `${field.replace(/s$/, "")}_names`;
        const shown = (config: MonitorConfig) => (present(config) as Record<string, unknown>)[fact];
        expect(shown(least)).toEqual(kind === "text" ? false : []);
        expect(shown(most)).toEqual(kind === "text" ? true : Object.keys(most[field] as object));
        expect(isSecretInput(kind === "text" ? `config_${field}` : "header_0_value")).toBe(true);
      }
      for (const [field, names] of Object.entries(secretParts)) {
        const shown = (present(most) as Record<string, object>)[field];
        for (const name of names) {
          expect(shown).toHaveProperty(`has_${name}`, true);
          expect(isSecretInput(`config_${field}_${name}`)).toBe(true);
        }
      }
    }
  });

  test("a change of the server drops secrets unless the change gives them again", () => {
    for (const type of SUPPORTED_TYPES) {
      const { merge, validateChange = () => [] } = probeOf(type);
      const { secrets, secretParts } = monitorSecrets(type);
      const parts = Object.entries(secretParts).flatMap(([field, names]) =>
        names.map((name) => [field, name]),
      );
      const dropped = [...Object.keys(secrets).map((field) => [field]), ...parts];
      const fields = [...Object.keys(secrets), ...Object.keys(secretParts)];
      const [, most] = withDigest(type);
      const move = "host" in most ? { host: "other.example.com" } : { url: "wss://other.test/" };
      if (fields.length === 0) continue;
      const pointers = (change: MonitorConfig) =>
        validateChange(most, change).map(({ pointer }) => pointer);
      expect(pointers(move)).toEqual(dropped.map((path) => `#/${path.join("/")}`));
      for (const path of dropped) expect(merge(most, move)).not.toHaveProperty(path);
      const given = Object.fromEntries(fields.map((field) => [field, most[field]]));
      expect(pointers({ ...move, ...given })).toEqual([]);
      expect(merge(most, { ...move, ...given })).toEqual({ ...most, ...move });
      expect(pointers({ certificate_warning_days: 5 })).toEqual([]);
      if ("tls" in most) expect(pointers({ tls: "off" })).toHaveLength(fields.length);
      if ("port" in most) expect(pointers({ port: null })).toHaveLength(fields.length);
    }
  });

  test("every monitor type that does not wait for reports has a probe that runs checks", () => {
    const active = SUPPORTED_TYPES.filter((type) => probeOf(type).run !== undefined);
    expect(active).toEqual(SUPPORTED_TYPES.filter((type) => !isPassive(type)));
    expect(graceSecondsOf({})).toBe(60);
    expect(graceSecondsOf({ grace_seconds: 0 })).toBe(0);
  });
});

/** Returns the configs of a type, with the sign-in that excludes OAuth 2.0. */
function withDigest(type: SupportedType): [least: MonitorConfig, most: MonitorConfig] {
  const [least, most] = MONITOR_CONFIGS[type];
  const digest = { username: "monitor", password: "hidden" };
  return [least, type === "http" ? { ...most, digest } : most];
}

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
