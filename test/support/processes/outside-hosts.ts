/** Answers HTTP requests at port 80 of all addresses, and prints the body of each message as a line. */
Bun.serve({
  hostname: "0.0.0.0",
  port: 80,
  async fetch(request) {
    if (request.method === "POST") console.log(JSON.stringify(await request.text()));
    return new Response("ok");
  },
});
console.log("ready");
