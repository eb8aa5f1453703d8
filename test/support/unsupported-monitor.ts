import { type UnsupportedMonitor } from "../../src/features/monitors/imported";
import { CLI_ACTOR } from "../../src/base/actor";
import type { TestApp } from "./app";
import { createUnsupportedMonitor } from "./examined";

/** Creates a monitor that this version cannot check, as an import does, and returns its id. */
export function importUnsupported(
  { ctx }: Pick<TestApp, "ctx">,
  more: Partial<UnsupportedMonitor> = {},
): Promise<string> {
  const monitor = {
    name: "Orders",
    config: {
      source: "uptime-kuma",
      type: "mongodb",
      target: "db.example.com:27017",
      settings: { connection: "mongodb://app:let-me-in@db.example.com:27017", timeout: 48 },
    },
    ...more,
  };
  return ctx.db.write((tx) => createUnsupportedMonitor(ctx, tx, monitor, CLI_ACTOR).row.id);
}
