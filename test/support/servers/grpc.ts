import {
  Server,
  ServerCredentials,
  status as Codes,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { certificateText } from "../raw-server";
import type { CertificateName } from "./server-process";

/** A gRPC server with the health service. */
interface GrpcServer extends AsyncDisposable {
  port: number;
  /** Name of the service and metadata `authorization` of each call. */
  calls: { service: string; authorization: string | undefined }[];
}

/** Number of a serving status, or code of an error, by the name of the service. */
type HealthAnswers = Readonly<Record<string, number | { code: number }>>;

/** Starts a server that answers for each service; others are not found. */
export async function startGrpc(
  answers: HealthAnswers,
  certificate?: CertificateName,
): Promise<GrpcServer> {
  const calls: GrpcServer["calls"] = [];
  const server = new Server();
  const asIs = (bytes: Buffer) => bytes;
  const check = {
    path: "/grpc.health.v1.Health/Check",
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  } as const;
  const implementation: UntypedServiceImplementation = {
    Check: ((call, done) => {
      // Field 1 with a length of one byte.
      const service = call.request.toString("utf8", 2);
      const [authorization] = call.metadata.get("authorization");
      calls.push({ service, authorization: authorization?.toString() });
      const answer = answers[service] ?? { code: Codes.NOT_FOUND };
      if (typeof answer === "number") done(null, Buffer.from(answer === 0 ? [] : [0x08, answer]));
      else done({ code: answer.code, details: "s3cret" });
    }) as UnaryHandler,
  };
  server.addService({ Check: check }, implementation);
  const pem = certificate && Buffer.from(await certificateText(certificate));
  const credentials = pem
    ? ServerCredentials.createSsl(null, [{ private_key: pem, cert_chain: pem }])
    : ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { port, calls, [Symbol.asyncDispose]: async () => server.forceShutdown() };
}

type UnaryHandler = import("@grpc/grpc-js").handleUnaryCall<Buffer, Buffer>;
