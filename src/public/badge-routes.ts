import { Type } from "@sinclair/typebox";
import type { Ctx } from "../context";
import { notFound } from "../base/errors";
import { resolveComponentId } from "../features/components/references";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import { operation } from "../http/operation";
import { Representation, representOnce } from "../http/representation";
import { declareRoutes } from "../http/elysia";
import { WIDGET_CACHE } from "../http/cdn";
import {
  createFileServer,
  document,
  MOVED,
  moved,
  PUBLIC_JSON,
  publicJson,
  readPublic,
  represent,
} from "./site";
import { type Badge, componentBadge, endpointBadge, pageBadge, renderBadge } from "./badges";
import { renderWidget } from "./embed";

const SVG = "image/svg+xml";

type PageComponent = Snapshot["document"]["components"][number];

const EndpointBadge = Type.Object(
  {
    schemaVersion: Type.Literal(1),
    label: Type.String({ examples: ["Acme"] }),
    message: Type.String({ examples: ["All Systems Operational"] }),
    color: Type.String({ examples: ["1a7f4b"] }),
  },
  { title: "EndpointBadge" },
);

/** Routes of pictures and scripts of public pages for other sites. */
export function badgeRoutes(ctx: Ctx, snapshots: Snapshots) {
  const serve = createFileServer(snapshots);
  const badgeOf = representOnce((snapshot: Snapshot) => picture(pageBadge(snapshot.document)));
  const endpointOf = publicJson((snapshot) => endpointBadge(pageBadge(snapshot.document)));
  const widgetOf = representOnce(
    ({ document: page, openIncidentCount }: Snapshot) =>
      new Representation(renderWidget(page, openIncidentCount), {
        mediaType: "text/javascript;charset=utf-8",
        cacheControl: WIDGET_CACHE,
        isCrossOrigin: true,
      }),
  );
  const componentBadgeOf = representOnce((component: PageComponent) =>
    picture(componentBadge(component)),
  );

  return declareRoutes()
    .get(
      "/status/:slug/badge.svg",
      serve("badge.svg", badgeOf),
      document("getBadge", "Read the badge of a page", SVG, "Name and headline of the page."),
    )
    .get(
      "/status/:slug/badge.json",
      serve("badge.json", endpointOf),
      operation({
        ...PUBLIC_JSON,
        id: "getEndpointBadge",
        summary: "Read the badge of a page for shields.io",
        description: "In the format of shields.io's endpoint badge.",
        answers: { 200: { description: "The badge.", schema: EndpointBadge }, 308: MOVED },
      }),
    )
    .get(
      "/status/:slug/widget.js",
      serve("widget.js", widgetOf),
      document(
        "getWidget",
        "Read the script that shows a page's state on other sites",
        "text/javascript",
        "For a script element. It contains the state, and may be 5 minutes old.",
      ),
    )
    .get(
      "/status/:slug/badge/:id.svg",
      ({ params, request, requestContext }) =>
        snapshots.whenReady(params.slug, requestContext.now, () => {
          const snapshot = readPublic(snapshots, params.slug, requestContext);
          const { page, components } = snapshot.document;
          // The parameter is the whole segment, including its ending.
          const [, reference = ""] = /^(.+)\.svg$/.exec(params["id.svg"]) ?? [];
          const componentId = resolveComponentId(ctx.db, reference);
          const component = components.find(({ id }) => id === componentId);
          if (!component) throw notFound("component");
          return page.slug === params.slug
            ? componentBadgeOf(component).respond(request, requestContext)
            : moved(page.slug, `badge/${component.id}.svg`);
        }),
      document(
        "getComponentBadge",
        "Read the badge of a component",
        SVG,
        "Name and status of the component.",
      ),
    );
}

/** Returns a badge, with a policy because browsers open SVG as a document. */
function picture(badge: Badge): Representation {
  const headers = { "Content-Security-Policy": "default-src 'none'" };
  return represent(renderBadge(badge), SVG, { headers });
}
