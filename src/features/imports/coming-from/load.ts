import type { Block } from "./blocks";

/** Returns the documentation for people who come from another product. The code of importers is loaded here. */
export async function readComingFrom(): Promise<Block[]> {
  const { comingFrom } = await import("./blocks");
  return comingFrom();
}
