import type { AppContext } from "../../context";
import { followAllowedNetworks } from "./allowed-networks";
import { followPublicAddress } from "./service";

/** Applies the settings of the dashboard. Called at the start, and when another process may have changed them. */
export function followSettings(ctx: AppContext): void {
  followPublicAddress(ctx);
  followAllowedNetworks(ctx);
}
