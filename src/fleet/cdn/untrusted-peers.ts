import type { Alarms } from "../../features/alarms/alarms";
import type { ClientAddresses } from "../../http/client-address";
import type { Clock, Timer } from "../../base/clock";
import { MINUTE_MS, SECOND_MS } from "../../base/time";

const POLL_MS = 5 * SECOND_MS;
/** Time without such a request after which the alarm ends. */
const QUIET_MS = 10 * MINUTE_MS;

/** Raises an alarm while peers that are not trusted send forwarding headers: `--trusted-proxies` probably lacks a proxy. */
export function watchUntrustedPeers(
  clock: Clock,
  addresses: Pick<ClientAddresses, "newestUntrusted">,
  alarms: Alarms,
): Timer {
  return clock.every(POLL_MS, () => {
    const newest = addresses.newestUntrusted();
    if (newest && clock.monotonic() - newest.at < QUIET_MS) {
      alarms.raise(
        "untrusted_proxy",
        `The forwarding header of requests from ${newest.ip} is ignored. If this address is one of the CDN or of a proxy, add its network to ALLCLEAR_TRUSTED_PROXIES: until then, all visitors behind it share one rate limit. If not, let only the CDN reach this server.`,
      );
    } else {
      alarms.clear("untrusted_proxy");
    }
  });
}
