# One image for every process. Its argument is cmd/<ingest|worker|console|controller>/main.ts, or
# cmd/admin/main.ts and a command of an operator: `runledger-admin` in a pod that runs.
# `make commands`, then `--target exec`, builds the image of the command `runledger`
# (deploy/examples/cronjob.yaml).
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

# The command alone, as `make commands` builds it. `runledger install FOLDER` copies it into a
# volume, `COPY --from` into another image. It trusts the certificates of the image it runs in, or
# of RUNLEDGER_CA_FILE.
FROM scratch AS exec
ARG TARGETARCH
COPY LICENSE /
COPY .cache/runledger/linux-${TARGETARCH} /usr/local/bin/runledger
ARG VERSION=development
LABEL org.opencontainers.image.title="Runledger exec" \
      org.opencontainers.image.description="The command runledger: reports the runs of jobs, and reads the record." \
      org.opencontainers.image.source="https://github.com/runledger/runledger" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
USER 10001:10001
ENTRYPOINT ["/usr/local/bin/runledger"]

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Installs production packages without install scripts. Deletes type declarations, source maps,
# documents and other systems' binaries; keeps licences.
RUN npm ci --omit=dev --ignore-scripts \
    && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \
                                    -o -path '*/prebuilds/darwin-*' -o -path '*/prebuilds/win32-*' \
                                    -o -name '*.md' -not -iname 'licen*' -not -iname 'notice*' \) -delete

FROM ${NODE_IMAGE}
# Remove npm and yarn: less to patch.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn*
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY internal internal
COPY cmd cmd
RUN ln -s /app/cmd/admin/main.ts /usr/local/bin/runledger-admin
ARG VERSION=development
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Runledger" \
      org.opencontainers.image.description="Execution event tracking: automations report their runs, Runledger keeps the record and counts the outcome." \
      org.opencontainers.image.source="https://github.com/runledger/runledger" \
      org.opencontainers.image.url="https://github.com/runledger/runledger" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production
# The compile cache saves each start a TypeScript compiler of 20 MB. One run of each command fills
# it; a run ends at once, because its settings are missing. So files that are loaded only with a
# setting run too. The cache is valid only for the same options: those of the ENTRYPOINT, and of the
# controller its own too (deploy/compose/compose.yaml). --predictable is no part of that; it makes
# the same bytes each time.
ENV NODE_COMPILE_CACHE=/app/.compile-cache
# One layer: a change of the owner in another one would store the cache twice.
RUN mkdir .compile-cache && chown 10001:10001 .compile-cache \
    && setpriv --reuid=10001 --regid=10001 --clear-groups sh -c ' \
    tracing=internal/kit/telemetry/open-telemetry.ts; \
    for file in cmd/ingest/main.ts cmd/worker/main.ts cmd/console/main.ts cmd/admin/main.ts \
        cmd/admin/*/run.ts cmd/admin/token/*.ts \
        internal/record/archive/s3.ts internal/record/archive/locked-s3.ts $tracing; do \
      node --predictable --max-semi-space-size=16 --expose-gc $file >/dev/null 2>&1 || true; \
    done; \
    for file in cmd/controller/*.ts $tracing; do \
      node --predictable --max-semi-space-size=16 --expose-gc --max-semi-space-size=2 --max-old-space-size=256 \
        --liftoff-only $file >/dev/null 2>&1 || true; \
    done' \
    && chown -R 0:0 .compile-cache && chmod -R a+rX .compile-cache
# Two arenas of the allocator for all threads: ingest uses up to 48 MB less under load than with one
# arena per thread.
ENV MALLOC_ARENA_MAX=2
# Numeric, so that Kubernetes can verify that the user is not root. The user can write no file of
# the image.
USER 10001:10001
EXPOSE 8080 8443 9090
# No shell and no npm between the runtime and the process: signals reach it, and its exit code
# counts. --max-semi-space-size: V8 would shrink the young generation in a small container.
# --expose-gc: a process frees the memory of its start. test/bench/README.md has both gains.
ENTRYPOINT ["node", "--max-semi-space-size=16", "--expose-gc"]
CMD ["cmd/ingest/main.ts"]
