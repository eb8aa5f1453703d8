import type { Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import {
  checkedCertificate,
  CLOSED_IN_HANDSHAKE,
  describeTls,
  tlsFault,
  tlsOptions,
  type TlsOptions,
} from "./connect";
import { Fault, timedOut } from "./fault";
import type { Certificate } from "./model";
import type { StepRecorder } from "./steps";

/** Begins TLS on an open socket and checks the certificate. The socket is destroyed if that fails. */
export function secureSocket(
  socket: Socket,
  tls: TlsOptions,
  {
    secureContext,
    signal,
    steps,
  }: {
    secureContext: SecureContext | undefined;
    signal: AbortSignal;
    steps?: StepRecorder | undefined;
  },
): Promise<{ socket: Socket; certificate: Certificate | null } | Fault> {
  return new Promise((resolve) => {
    steps?.begin("tls");
    if (signal.aborted) {
      socket.destroy();
      return resolve(timedOut("in the TLS handshake"));
    }
    const secured = connectTls({ socket, ...tlsOptions(tls, secureContext) });
    let isSettled = false;
    const settle = (outcome: { socket: Socket; certificate: Certificate | null } | Fault) => {
      if (isSettled) return;
      isSettled = true;
      signal.removeEventListener("abort", onAbort);
      if (outcome instanceof Fault) {
        secured.destroy();
        socket.destroy();
      }
      resolve(outcome);
    };
    const onAbort = () => settle(timedOut("in the TLS handshake"));
    signal.addEventListener("abort", onAbort);
    // Never removed: an error without a listener would end the process.
    secured.on("error", (error) => settle(tlsFault(error, tls.protocols)));
    const onClose = () => settle(CLOSED_IN_HANDSHAKE);
    secured.once("close", onClose);
    socket.once("close", onClose);
    secured.once("secureConnect", () => {
      const certificate = checkedCertificate(secured, tls, secureContext);
      if (!(certificate instanceof Fault)) steps?.end(describeTls(secured, certificate));
      settle(certificate instanceof Fault ? certificate : { socket: secured, certificate });
    });
  });
}
