import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { routesOf } from "../../src/http/elysia";
import { operation } from "../../src/http/operation";
import { createRouteTable } from "../../src/http/route-table";
import { createTestApp } from "../support/app";

const DECLARED = operation({
  summary: "Read it",
  tag: "Status",
  access: { kind: "public" },
  answers: { 200: { description: "It." } },
});
const handler = () => new Response("it");

test("a route with an option or a hook that would have no effect is rejected when it is added", () => {
  const options = { ...DECLARED, params: Type.Object({ id: Type.String() }) };
  expect(() => routesOf(new Elysia().get("/:id", handler, options))).toThrow(
    "the route GET /:id declares params, which has no effect",
  );
  const hooked = new Elysia().onBeforeHandle(() => {}).get("/it", handler, DECLARED);
  expect(() => routesOf(hooked)).toThrow("declares beforeHandle");
});

test("a body with a schema that nothing reads is rejected when its route is added", () => {
  const options = { ...DECLARED, body: Type.Object({}) };
  expect(() => routesOf(new Elysia().post("/it", handler, options))).toThrow("declare bodies by");
});

test("a route without an operation is rejected when it is added", () => {
  const added = routesOf(new Elysia().get("/it", handler));
  expect(() => createRouteTable().add(added)).toThrow("GET /it declares no operation");
});

test("a body that the route does not declare is not read", async () => {
  await using app = await createTestApp();
  const path = "/ping/00000000-0000-4000-8000-000000000000";
  const headers = { "content-type": "application/json" };
  const answer = await app.call(path, { method: "DELETE", headers, raw: "{not JSON" });
  expect(answer.status).toBe((await app.call(path, { method: "DELETE" })).status);
  expect(answer.status).toBe(404);
});
