# One image for an instance, for the load test and for what compose needs besides.
ARG REGISTRY_PREFIX=

FROM ${REGISTRY_PREFIX:-}rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
# The ids keep these caches apart from those of other projects, which would pass for fresh.
RUN --mount=type=cache,id=oversell-bookworm-registry,target=/usr/local/cargo/registry \
    --mount=type=cache,id=oversell-bookworm-target,target=/src/target,sharing=locked \
    cargo build --release --locked && cp target/release/oversell /usr/local/bin/oversell

FROM ${REGISTRY_PREFIX:-}debian:bookworm-slim
# The HTTP client wants to know whom to trust, also where it speaks plain HTTP only.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY docker/with-keys docker/instance /usr/local/bin/
COPY --from=build /usr/local/bin/oversell /usr/local/bin/oversell
USER 10001:10001
ENTRYPOINT ["oversell"]
