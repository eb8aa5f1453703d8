import { findProgram, giveAway, runCommand, startServer, withoutRights } from "./server-process";

/** Starts an OpenSSH server, which nobody can sign in to. */
export function startSshd() {
  return startServer({
    ready: /Server listening on/,
    async command({ folder, port }) {
      await runCommand(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", `${folder}/key`]);
      await Bun.write(`${folder}/config`, `HostKey ${folder}/key\nPidFile none\nUsePAM no\n`);
      await giveAway(folder);
      const options = ["-D", "-e", "-f", `${folder}/config`];
      const listen = ["-o", `ListenAddress=127.0.0.1:${port}`];
      return withoutRights([findProgram("sshd") ?? "", ...options, ...listen]);
    },
  });
}
