# syntax=docker/dockerfile:1

FROM oven/bun:1.4.5 AS build
WORKDIR /src
COPY package.json bun.lock bunfig.toml tsconfig.json ./
COPY deploy/empty-package deploy/empty-package
RUN bun install --frozen-lockfile --production
COPY migrations migrations
COPY src src
COPY deploy/*.ts deploy/
RUN bun deploy/build.ts --outfile /out/allclear && mkdir /out/data

# The executable brings everything but libc, libm, libdl and libpthread.
FROM gcr.io/distroless/base-nossl-debian12:nonroot AS server
COPY --from=build /out/allclear /allclear
COPY --from=build --chown=65532:65532 /out/data /data
# SQLite's temporary files need a place when the root file system is read-only. Passwords are verified
# and names looked up in threads of which there are by default as many as cores: with four, neither
# waits for the other. The last two would turn the executable into a plain Bun, or slip it options;
# empty is unset.
ENV ALLCLEAR_LISTEN=0.0.0.0:8080 \
    ALLCLEAR_DATA_DIR=/data \
    SQLITE_TMPDIR=/data \
    UV_THREADPOOL_SIZE=4 \
    BUN_BE_BUN= \
    BUN_OPTIONS=
USER 65532:65532
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/allclear", "healthcheck"]
ENTRYPOINT ["/allclear"]
CMD ["serve"]

# A node of a fleet: docker build --target fleet -t allclear-fleet .
FROM litestream/litestream:0.5.18 AS litestream
FROM server AS fleet
COPY --from=litestream /usr/local/bin/litestream /usr/local/bin/litestream
ENV ALLCLEAR_LITESTREAM=/usr/local/bin/litestream

# Without a target.
FROM server
