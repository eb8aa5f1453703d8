import { type Figure } from "../support/figure";
import type { Workshop } from "../support/workshop";
export async function measureManyResults(_: Workshop): Promise<Figure[]> { return []; }
