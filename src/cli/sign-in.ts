import { systemClock } from "../base/clock";
import { PROXY_OPTION_NAMES } from "../base/config/network";
import { type Config, optionNames } from "../base/config/options";
import { listenUrl } from "../base/config/parse";
import type { Ctx } from "../context";
import { hasInstallation } from "../db/data-directory";
import { createEgress } from "../egress/egress";
import { createProvider } from "../features/auth/provider";
import { followSettings } from "../features/settings/settings";
import type { Command, ExitCode, Invocation } from "./command";
import { withInstallation } from "./with-installation";

/** Examines the provider as a sign-in would use it. The exit code is 1 if a part fails, or there is no provider. */
const checkCommand: Command = {
  name: "sign-in check",
  summary: "Examine the OpenID Connect provider: its metadata, its keys and its clock.",
  options: [...optionNames("sign-in"), ...PROXY_OPTION_NAMES],
  run(invocation) {
    // Before the first start, all is known but a public address of the settings.
    if (!hasInstallation(invocation.config.dataDir)) {
      return check(invocation, withoutInstallation(invocation.config));
    }
    const access = { canCreate: false };
    return withInstallation(checkCommand, invocation, access, async ({ ctx }) => {
      followSettings(ctx);
      return check(invocation, ctx);
    });
  },
};

type CheckContext = Pick<Ctx, "baseUrl" | "clock" | "config" | "allowedNetworks">;

function withoutInstallation(config: Config): CheckContext {
  const baseUrl = config.baseUrl ?? listenUrl(config.listen);
  return { baseUrl, clock: systemClock(), config, allowedNetworks: config.outboundAllow ?? [] };
}

async function check({ output }: Invocation, ctx: CheckContext): Promise<ExitCode> {
  const provider = createProvider(ctx, createEgress(ctx));
  if (!provider) {
    output.err("No provider is set up: ALLCLEAR_OIDC_ISSUER is not set.");
    return 1;
  }
  const findings = await provider.check();
  for (const { part, isOk, text } of findings) {
    output.out(`${isOk ? "ok    " : "failed"}  ${part.padEnd(PART_WIDTH)}  ${text}`);
  }
  if (provider.issuer.startsWith("http:")) {
    output.err("The provider is reached without HTTPS. Use it only within a private network.");
  }
  output.err(`Redirect URI for the provider: ${provider.redirectUri()}`);
  return findings.every(({ isOk }) => isOk) ? 0 : 1;
}

/** Width of the longest name of a part, in characters. */
const PART_WIDTH = 8;

export const signInCommands = [checkCommand];
