import { type Figure, memoryFigure } from "../support/figure";
import { privateBytes, residentBytes } from "../support/memory";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import { runWrk } from "../support/wrk";
import type { Workspace } from "../support/workspace";

const UNUSED_REACH_BYTES = 55e6;
const IDLE_REACH_BYTES = 70e6;
const GROWTH_REACH_BYTES = 50e6;
const PRIVATE_IDLE_REACH_BYTES = 18e6;
const PRIVATE_REACH_BYTES = 38e6;
/** Requests and addresses: first each address once within a minute, then more than fit. */
const MINUTE = { requests: 150_000, addresses: 150_000 };
const FLOOD = { requests: 1_000_000, addresses: 200_000 };
const CONNECTIONS = 32;
const SECONDS = 1;
/** Pause before a measurement, in milliseconds, in which an idle server frees garbage. */
const SETTLE_MS = 3_000;
/** Time after the start, in milliseconds, in which all code is loaded that no request needs. */
const IDLE_MS = 60_000;

/**
 * Each request comes from the next address, as a trusted proxy tells it. The counting goes on where
 * the run before ended, so that all addresses have their turn.
 */
const SCRIPT = `
local count = 0
local addresses = 0
function init(args)
  count = tonumber(args[1])
  addresses = tonumber(args[2])
end
function request()
  local n = count % addresses
  count = count + 1
  local address = "100." .. math.floor(n / 65536) .. "." .. (math.floor(n / 256) % 256) .. "." .. (n % 256)
  return wrk.format("GET", nil, { ["X-Forwarded-For"] = address })
end
`;

/**
 * Resident and private memory a minute after the start, without and with one answered request, after one request
 * each from more addresses than fit, and after many.
 */
export async function measureResidentMemory(workspace: Workspace): Promise<Figure[]> {
  const { dataDir, slug, keys } = await seed(workspace.path("data"), { keys: 1 });
  const script = workspace.path("addresses.lua");
  await Bun.write(script, SCRIPT);
  const server = await startAllclear(workspace, dataDir, {
    env: { ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1/32" },
  });
  try {
    await Bun.sleep(IDLE_MS);
    const unused = residentBytes(server.pid);
    const unusedPrivate = privateBytes(server.pid);
    const headers = { Authorization: `Bearer ${keys[0]}` };
    const response = await fetch(`${server.url}/api/v1/status/${slug}`, { headers });
    if (response.status !== 200) throw new Error(`the status read answered ${response.status}`);
    await response.bytes();
    await Bun.sleep(SETTLE_MS);
    const idle = residentBytes(server.pid);

    /** Sends at least so many requests in turn from the addresses. Returns the number. */
    const send = async ({ requests, addresses }: typeof FLOOD): Promise<number> => {
      let sent = 0;
      while (sent < requests) {
        const answered = await runWrk(`${server.url}/status/${slug}`, {
          connections: CONNECTIONS,
          seconds: SECONDS,
          script,
          args: [String(sent), String(addresses)],
          // Addresses beyond the limiter's room share counters, some of which several of them use up.
          allowsRejections: true,
        });
        sent += answered.requests;
      }
      return sent;
    };
    const since = performance.now();
    await send(MINUTE);
    const seconds = Math.ceil((performance.now() - since) / 1_000);
    await Bun.sleep(SETTLE_MS);
    const afterMinute = privateBytes(server.pid);
    const sent = await send(FLOOD);
    await Bun.sleep(SETTLE_MS);
    const growth = residentBytes(server.pid) - idle;
    return [
      memoryFigure(
        "resident memory a minute after the start, without a request",
        unused,
        UNUSED_REACH_BYTES,
      ),
      memoryFigure("resident memory, idle, after one status document", idle, IDLE_REACH_BYTES),
      memoryFigure(
        "private memory a minute after the start, without a request",
        unusedPrivate,
        PRIVATE_IDLE_REACH_BYTES,
      ),
      memoryFigure(
        `private memory after requests from ${MINUTE.addresses.toLocaleString("en-US")} addresses in ${seconds} s`,
        afterMinute,
        PRIVATE_REACH_BYTES,
      ),
      memoryFigure(
        `more resident memory after ${(sent / 1e6).toFixed(1)} million requests from ${FLOOD.addresses.toLocaleString("en-US")} addresses`,
        growth,
        GROWTH_REACH_BYTES,
      ),
    ];
  } finally {
    await server.stop();
  }
}
