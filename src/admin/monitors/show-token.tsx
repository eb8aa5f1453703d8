import type { MonitorRecord } from "../../features/monitors";
import type { AdminDependencies } from "../dependencies";
import type { ScreenRequest } from "../render";
import type { Reveal } from "../reveals";
import { RevealedToken, ShownBefore } from "./token";

/** A push monitor with the token that it has just got. */
export interface WithToken {
  record: MonitorRecord;
  token: string;
}

/** Shows the token of a push monitor, or the word that it was shown before. */
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
