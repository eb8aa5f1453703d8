/**
 * Runs the command of its arguments with its own standard input and output, and prints the most memory that the command
 * had, in bytes, to standard error. The system counts the memory of the process that starts another as memory of that
 * one too: here it is small, while tests that share a process may have used much.
 */
const child = Bun.spawn(process.argv.slice(2), {
  stdio: ["inherit", "inherit", "ignore"],
  env: process.env,
});
await child.exited;
console.error(child.resourceUsage()?.maxRSS ?? Infinity);
export {};
