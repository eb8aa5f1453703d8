import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { stringify } from "yaml";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { listStoredMonitors } from "../../../src/features/monitors/declared";
import { type MonitorConfig, probeOf } from "../../../src/features/monitors/probes";
import { isTimed, type MonitorType, SUPPORTED_TYPES } from "../../../src/base/status";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, linesOf } from "../../support/apply";
import { MONITOR_CONFIGS } from "../../support/monitor-configs";
import { monitorSecrets } from "../../support/monitor-secrets";
import { usePingProgram } from "../../support/ping-program";

let ping: ReturnType<typeof usePingProgram>;
beforeAll(() => void (ping = usePingProgram("exit 0")));
afterAll(() => ping[Symbol.dispose]());

/** Settings that differ from the defaults of all types. */
const SETTINGS = {
  timeout_ms: 5_000,
  failure_threshold: 5,
  success_threshold: 2,
  retry_interval_seconds: 9,
  degraded_after_ms: 700,
  on_down: "major_outage",
  open_incident: "draft",
  inverted: true,
  reminder_seconds: 3_600,
  group: "Data centre 2, “north”",
  tags: ["production", "a, b", "🦊"],
  notes: "Ask Ann.\n# Then Ben: ${NOT_A_VARIABLE}",
  paused: true,
};

/** Returns the settings that a type can have. */
function settingsOf(type: MonitorType): object {
  const fixed = [
    ...(isTimed(type) ? [] : ["degraded_after_ms"]),
    ...(probeOf(type).isReported ? ["failure_threshold", "success_threshold", "inverted"] : []),
  ];
  return Object.fromEntries(Object.entries(SETTINGS).filter(([name]) => !fixed.includes(name)));
}

/** Errors of files that leave out a field of the configuration with all fields, or that remove a secret. */
const NEEDED: Partial<Record<MonitorType, Record<string, string>>> = {
  http: {
    method: "config.body cannot be sent with GET",
    "config.client_certificate.key": "is required",
  },
  mqtt: {
    topic: "config.assertions need a topic",
    user: "config.user is missing for the password",
    tls: "config.password needs TLS with a verified certificate",
  },
  redis: {
    tls: "config.password needs TLS with a verified certificate",
  },
  alert: {
    mapping: "config.mapping is needed for the format json",
  },
  push: {
    schedule: "config.time_zone needs a schedule",
  },
  smtp: {
    tls: "config.user needs STARTTLS or TLS with a verified certificate",
    user: "config.user is missing for the password",
  },
};

/** Returns a file with one monitor. */
const fileOf = (type: MonitorType, config: MonitorConfig, settings: object = {}) =>
  stringify({ pages: [], monitors: [{ name: "Shop", type, ...settings, config }] });

/** Applies a file. Returns its changes, or the error. */
async function outcomeOf(app: TestApp, text: string): Promise<string[] | string> {
  try {
    return linesOf(await apply(app, text, true));
  } catch (error) {
    return (error as Error).message;
  }
}

const storedIn = ({ ctx }: TestApp) => listStoredMonitors(ctx.db)[0]?.row.config;

const exported = ({ ctx }: TestApp) => ctx.db.write((tx) => writeApplyFile(exportFile(tx), []));

/** Returns the paths of the secrets in a config. */
function secretsOf(type: MonitorType, config: MonitorConfig): string[][] {
  const { secrets, secretParts } = monitorSecrets(type);
  const fields = Object.entries(secrets).filter(([field]) => field in config);
  const parts = Object.entries(secretParts).filter(([field]) => field in config);
  return [
    ...fields.flatMap(([field, kind]) =>
      kind === "text" ? [[field]] : Object.keys(config[field] ?? {}).map((name) => [field, name]),
    ),
    ...parts.flatMap(([field, names]) => names.map((name) => [field, name])),
  ];
}

const valueAt = (config: MonitorConfig, path: readonly string[]) =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], config);

/** Returns a config with another value at a path of one or two names. */
function withValue(config: MonitorConfig, path: readonly string[], value: unknown): MonitorConfig {
  const [field = "", name] = path;
  return {
    ...config,
    [field]: name === undefined ? value : { ...(config[field] as object), [name]: value },
  };
}

/** Returns a config whose secrets are variables, and the values of these. */
function withVariables(type: MonitorType, config: MonitorConfig) {
  const env: Record<string, string> = {};
  const variables = secretsOf(type, config).reduce((changed, path, index) => {
    env[`SECRET_${index}`] = String(valueAt(config, path));
    return withValue(changed, path, `\${SECRET_${index}}`);
  }, config);
  return { config: variables, env };
}

describe.each([...SUPPORTED_TYPES])("a %s monitor in a file", (type) => {
  const [least, most] = MONITOR_CONFIGS[type];
  const secrets = secretsOf(type, most);

  test("is created with every field, changes nothing the second time, and equals its export", async () => {
    await using app = await createTestApp();
    const { config, env } = withVariables(type, most);
    const file = fileOf(type, config, settingsOf(type));
    await apply(app, file, true, env);
    expect(storedIn(app)).toEqual(most);
    const audited = app.audit().length;
    expect(linesOf(await apply(app, file, true, env))).toEqual([]);
    const text = await exported(app);
    for (const secret of Object.values(env)) {
      expect(text.replaceAll("token=hidden", "")).not.toContain(secret);
    }
    expect(linesOf(await apply(app, text, true))).toEqual([]);
    expect(app.audit()).toHaveLength(audited);
    expect(storedIn(app)).toEqual(most);

    await using other = await createTestApp();
    await apply(other, file, true, env);
    expect(await exported(other)).toBe(text);
  });

  test("gets the default of each field that the file leaves out, except secrets, which stay", async () => {
    await using app = await createTestApp();
    for (const field of Object.keys(most)) {
      if (field in least) continue;
      const { [field]: _, ...rest } = most;
      const without = fileOf(type, rest);
      /* oxlint-disable no-await-in-loop */
      await apply(app, fileOf(type, most), true);
      const found = await outcomeOf(app, without);
      if (field in monitorSecrets(type).secrets) expect(found, field).toEqual([]);
      else if (NEEDED[type]?.[field]) expect(found).toContain(NEEDED[type]?.[field]);
      else {
        expect(found, field).toEqual([expect.stringContaining(`~ monitor shop: config.${field} `)]);
        expect(await outcomeOf(app, without), field).toEqual([]);
      }
      /* oxlint-enable no-await-in-loop */
    }
  });

  test("loses each secret that is empty in the file, and keeps none that is not stored", async () => {
    await using app = await createTestApp();
    for (const path of secrets) {
      const name = `config.${path.join(".")}`;
      const empty = fileOf(type, withValue(most, path, ""));
      const kept = fileOf(type, withValue(most, path, null));
      /* oxlint-disable no-await-in-loop */
      await apply(app, fileOf(type, most), true);
      expect(await outcomeOf(app, kept)).toEqual([]);
      const found = await outcomeOf(app, empty);
      if (NEEDED[type]?.[name]) {
        expect(found).toContain(`${name} ${NEEDED[type]?.[name]}`);
        continue;
      }
      expect(found).toEqual([`~ monitor shop: ${name} "a secret" → none`]);
      expect(await outcomeOf(app, empty)).toEqual([]);
      expect(await outcomeOf(app, kept)).toContain(
        `${name} is a secret that is not known here yet`,
      );
      expect(await outcomeOf(app, fileOf(type, most))).toEqual([
        `~ monitor shop: ${name} none → "a secret"`,
      ]);
      /* oxlint-enable no-await-in-loop */
    }
  });
});
