import { createEgress } from "../../src/egress/egress";
import {
  type DockerLabels,
  type LabelReport,
  startDockerLabels,
} from "../../src/features/docker-labels/docker-labels";
import { createTestApp, type TestApp } from "./app";
import { until } from "./until";

/** Time before the first read of the containers, and between two reads. */
const FIRST_MS = 2_000;
const POLL_MS = 15_000;

interface LabelSite extends TestApp {
  labels: DockerLabels;
  /** Advances the clock until the containers were read `times` times, and returns the last report. */
  read(times?: number): Promise<LabelReport>;
  /** Returns the details of the problems of the last report. */
  problems(): string[];
  /** Returns the monitor with a ref as the API answers it; undefined without one. */
  // oxlint-disable-next-line typescript/no-explicit-any
  monitor(ref: string): Promise<any>;
  refs(): Promise<string[]>;
}

/** Starts an application that reads the labels of Docker hosts, by name their socket files. */
export async function startLabelSite(
  hosts: Record<string, string>,
  env: Record<string, string> = {},
): Promise<LabelSite> {
  const list = Object.entries(hosts).map(([name, path]) => `${name}=unix://${path}`);
  let labels: DockerLabels | undefined;
  const app = await createTestApp({
    env: { ALLCLEAR_DOCKER_HOSTS: list.join(","), ...env },
    labels(ctx) {
      const started = startDockerLabels(ctx, createEgress(ctx));
      labels = started;
      return () => started.report();
    },
  });
  const key = await app.keyWith("manage:monitors", "read:status");
  if (!labels) throw new Error("no labels are read");
  return siteOf(app, key, labels);
}

function siteOf(app: TestApp, key: string, labels: DockerLabels): LabelSite {
  return {
    ...app,
    labels,
    async read(times = 1) {
      for (let count = 0; count < times; count += 1) {
        // Exactly to the begin of the read, since a host must answer before the clock goes on.
        await app.clock.advance(labels.report().readAt === undefined ? FIRST_MS : POLL_MS);
        await until(() => labels.report().readAt === app.clock.now());
      }
      return labels.report();
    },
    problems: () => labels.report().problems.map(({ detail }) => detail),
    async monitor(ref) {
      const { status, body } = await app.call(`/api/v1/monitors/${ref}`, { key });
      return status === 404 ? undefined : body;
    },
    async refs() {
      const { body } = await app.call("/api/v1/monitors?limit=100", { key });
      return body.data.map(({ ref }: { ref: string }) => ref).sort();
    },
    async [Symbol.asyncDispose]() {
      labels.cancel();
      await app[Symbol.asyncDispose]();
    },
  };
}
