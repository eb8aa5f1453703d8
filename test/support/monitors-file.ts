import type { TestApp } from "./app";

/** A configuration file with all kinds of monitors: below a component, for several and for none. */
export const MONITORS_FILE = `
pages:
  - slug: acme
    name: Acme
    components:
      - name: API
        monitors:
          - name: API health
            type: http
            interval_seconds: 30
            degraded_after_ms: 800
            config:
              url: https://api.acme.example/health
              assertions:
                - { source: status, op: eq, value: 204 }
          - { name: Nightly backup, type: push, interval_seconds: 86400 }
    groups:
      - name: Shop
        components:
          - name: Storefront
            monitors:
              - name: Database
                type: tcp
                ref: db
                on_down: major_outage
                components: [acme/api, other/mail]
                config: { host: db.acme.example, port: 5432 }
  - { slug: other, name: Other, components: [{ name: Mail }] }
monitors:
  - { name: Certificate, type: tls, paused: true, config: { host: acme.example } }
`;

/** Reads the monitors from the API, oldest first. */
export async function readMonitors(app: TestApp) {
  const key = await app.keyWith("manage:monitors");
  const { body } = await app.call("/api/v1/monitors", { key });
  return body.data.toReversed();
}
