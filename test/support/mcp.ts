/* Calls of tools by the Model Context Protocol. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Scope } from "../../src/features/keys/scopes";
import type { Answer, CallOptions, TestApp } from "./app";

/** Tools by the scope of the operations that answer them. */
export const TOOLS_BY_SCOPE: Readonly<Record<Scope, readonly string[]>> = {
  "read:status": [
    "get_status",
    "list_components",
    "list_incidents",
    "get_incident",
    "list_maintenance",
  ],
  "write:incidents": ["draft_incident"],
  "write:components": [],
  "manage:monitors": ["list_monitors", "get_monitor"],
  "write:maintenance": [],
  "manage:webhooks": [],
  "read:analytics": ["get_uptime", "get_latency"],
};

/** Returns a message with the id 1. */
export function messageOf(method: string, params: object = {}) {
  return { jsonrpc: "2.0", id: 1, method, params };
}

/** Returns the request that sends a message. */
export function sentBy(key: string | undefined, json: unknown): CallOptions {
  return { method: "POST", key, json };
}

/** Returns the request that calls a tool. */
export function callOf(key: string, name: string, given: object = {}): CallOptions {
  return sentBy(key, messageOf("tools/call", { name, arguments: given }));
}

/** The result of a tool. */
export interface ToolResult {
  isError: boolean;
  text: string;
  /** The text, parsed. */
  // Tests read answers without types.
  // oxlint-disable-next-line typescript/no-explicit-any
  answer: any;
  /** Bytes of the whole answer. */
  bytes: number;
}

/** Calls a tool. Throws if the answer is no result. */
export async function callTool(
  call: TestApp["call"],
  key: string,
  name: string,
  given: object = {},
): Promise<ToolResult> {
  return resultOf(await call("/mcp", callOf(key, name, given)));
}

/** Returns the result in an answer. Throws if there is none. */
export function resultOf({ status, text: whole, body }: Answer): ToolResult {
  if (status !== 200 || !body.result) throw new Error(whole);
  const { content, isError = false } = body.result;
  const [{ text }] = content;
  return { isError, text, answer: JSON.parse(text), bytes: Buffer.byteLength(whole) };
}

/** Connects the client of the SDK to a server, with a key. */
export async function connect(origin: string, key: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const headers = { Authorization: `Bearer ${key}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", origin), { requestInit: { headers } }),
  );
  return client;
}
