import { expect } from "bun:test";
import type { TestApp } from "./app";
import { type ReadFamily, readExposition } from "./exposition";

interface Scrape {
  text: string;
  families: Map<string, ReadFamily>;
  /** Returns the value of the sample with these labels; 0 without such a sample. */
  value(name: string, labels?: Record<string, string>): number;
}

/** Reads the metrics with this key and checks them against the exposition format. */
export async function scrape(app: TestApp, key: string): Promise<Scrape> {
  const answer = await app.call("/metrics", { key });
  expect(answer.status).toBe(200);
  const families = readExposition(answer.text);
  return {
    text: answer.text,
    families,
    value(name, labels = {}) {
      const family = families.get(name);
      if (!family) throw new Error(`there is no ${name}`);
      const found = family.samples.filter((sample) =>
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      expect(found.length).toBeLessThanOrEqual(1);
      return found[0]?.value ?? 0;
    },
  };
}
