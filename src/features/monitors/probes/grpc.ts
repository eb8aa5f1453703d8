import { type Static, Type } from "@sinclair/typebox";
import { headerError } from "../../../egress/http-headers";
import { type FieldError, pointer } from "../../../base/errors";
import { LineText } from "../../../base/texts";
import { SecretValues, shownSchema, withoutSecrets } from "../../../base/secrets";
import type { Probe } from "../monitoring";
import {
  HostText,
  PortNumber,
  serverTarget,
  TLS_FIELDS,
  TlsField,
  validateHostField,
  WarningDays,
  withServerDefaults,
} from "./fields";
import { secretRules, usesByFields } from "./secret-uses";

/** Used where a port is required, so that it never applies. */
const NO_PORT = 0;

const GrpcConfig = Type.Object(
  {
    host: HostText,
    port: PortNumber,
    tls: TlsField,
    service: Type.Optional(
      LineText({
        minLength: 1,
        maxLength: 255,
        description: "Name of the service. Default: the server as a whole.",
        examples: ["acme.orders.v1.Orders"],
      }),
    ),
    metadata: Type.Optional(SecretValues({ description: "Metadata of each call, by name." })),
    ...TLS_FIELDS,
    certificate_warning_days: Type.Optional(WarningDays),
  },
  { additionalProperties: false, examples: [{ host: "orders.example.com", port: 50051 }] },
);
type GrpcConfig = Static<typeof GrpcConfig>;

const completed = (config: GrpcConfig) => withServerDefaults(config, NO_PORT);

export type CompletedGrpcConfig = ReturnType<typeof completed>;

const RULES = secretRules<GrpcConfig>(
  GrpcConfig,
  usesByFields(GrpcConfig, ["metadata", "certificate_warning_days"], completed),
);

/** Checks that a service is `SERVING`, by the health protocol of gRPC. */
export const grpcProbe = {
  type: "grpc",
  label: "gRPC service",
  config: GrpcConfig,
  shown: shownSchema(GrpcConfig),
  validate: (config) => [...validateHostField(config), ...validateMetadata(config.metadata ?? {})],
  validateChange: RULES.validateChange,
  present: (config) => withoutSecrets(GrpcConfig, completed(config)),
  merge: RULES.merge,
  targetOf: ({ service, ...config }) =>
    [serverTarget(config, NO_PORT), ...(service === undefined ? [] : [service])].join(" "),
  run: async (config, context) =>
    (await import("./checks/grpc")).checkGrpc(completed(config), context),
} satisfies Probe<"grpc", GrpcConfig>;

/** Returns errors of metadata. Names of the protocol itself cannot be set. */
function validateMetadata(metadata: Readonly<Record<string, string | null>>): FieldError[] {
  return Object.entries(metadata).flatMap(([name, value]) => {
    const isOwn = /^(?:grpc-|content-type$)/i.test(name);
    const problem = isOwn ? "is set by Allclear itself" : headerError(name, value ?? "");
    return problem === undefined ? [] : [{ pointer: pointer("metadata", name), detail: problem }];
  });
}
