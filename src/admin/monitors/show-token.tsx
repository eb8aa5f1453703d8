import type { MonitorRecord } from "../../features/monitors";
import type { AdminDependencies } from "../dependencies";
import type { ScreenRequest } from "../render";
import type { Reveal } from "../reveals";
import { RevealedToken, ShownBefore } from "./token";

/** Push monitor with its new token. */
export interface WithToken {
  record: MonitorRecord;
  token: string;
}

/** Returns a function that shows the token of a push monitor, or says that it was already shown. */
export function createTokenReveal({ ctx, render }: Pick<AdminDependencies, "ctx" | "render">) {
  return (at: ScreenRequest, reveal: Reveal<WithToken>, title: string): Promise<Response> => {
    if ("shownBefore" in reveal) {
      const page = { title: "This address was already shown", monitorId: reveal.shownBefore };
      return render.screen(at, { title: page.title, children: <ShownBefore {...page} /> });
    }
    const page = { title, ...reveal.revealed, baseUrl: ctx.baseUrl };
    return render.screen(at, { title, isSecret: true, children: <RevealedToken {...page} /> });
  };
}
