# Two images: the program, for an instance, for the load test and for what compose needs besides; and the proxy before it.
# No base image is of one architecture, and nothing below asks for one.
#
# What the source does not know of itself is said by who builds: its commit, and when that was (from BuildKit 0.11 on):
#
#   docker build --label org.opencontainers.image.revision=$(git rev-parse HEAD) \
#     --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) .
ARG REGISTRY_PREFIX=
ARG VERSION=0.1.0

# Modes are set here: those of a checkout are its owner's umask.
FROM ${REGISTRY_PREFIX:-}debian:bookworm-slim AS sources
COPY . /src
RUN chmod -R u=rwX,go=rX /src && chmod 755 /src/docker/*

FROM ${REGISTRY_PREFIX:-}rust:1.95-slim-bookworm AS build
ARG TARGETARCH
WORKDIR /src
# What others wrote is a layer that the manifests decide. Of our own crates nothing is kept: cargo goes by the times of files,
# and would take what another checkout made of them for fresh.
COPY --from=sources /src/Cargo.toml /src/Cargo.lock ./
COPY --from=sources /src/app/Cargo.toml app/
COPY --from=sources /src/baton/Cargo.toml baton/
COPY --from=sources /src/bench/Cargo.toml bench/
COPY --from=sources /src/loadtest/Cargo.toml loadtest/
COPY --from=sources /src/oversell/Cargo.toml oversell/
COPY --from=sources /src/stack/Cargo.toml stack/
RUN --mount=type=cache,id=oversell-crates-$TARGETARCH,target=/usr/local/cargo/registry,sharing=locked \
    mkdir app/src baton/src bench/src loadtest/src oversell/src stack/src \
    && touch app/src/lib.rs baton/src/lib.rs bench/src/lib.rs loadtest/src/lib.rs stack/src/lib.rs \
    && for main in oversell/src/main stack/build; do echo 'fn main() {}' > $main.rs; done \
    && cargo build --release --locked \
    && cargo clean --release --package app --package baton --package bench --package loadtest \
        --package oversell --package stack \
    && rm -r app/src baton/src bench/src loadtest/src oversell/src stack/src
COPY --from=sources /src .
RUN --mount=type=cache,id=oversell-crates-$TARGETARCH,target=/usr/local/cargo/registry,sharing=locked \
    cargo build --release --locked && install -D -s -m 755 -t /out target/release/oversell

FROM ${REGISTRY_PREFIX:-}nginx:1.28 AS proxy
ARG VERSION
LABEL org.opencontainers.image.title="Oversell proxy" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.licenses="MIT"
# Nobody in here becomes anybody else by a file, nor in the image below.
RUN find / -xdev -perm /6000 -type f -exec chmod a-s {} +
COPY --from=sources /src/nginx /etc/oversell

FROM ${REGISTRY_PREFIX:-}debian:bookworm-slim
ARG VERSION
LABEL org.opencontainers.image.title="Oversell" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.licenses="MIT"
RUN find / -xdev -perm /6000 -type f -exec chmod a-s {} +
# The HTTP client wants to know whom to trust, also where it speaks plain HTTP only.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=sources /src/docker /usr/local/bin
COPY --from=build /out /usr/local/bin
# A volume that is mounted here for the first time belongs to whom this belongs to.
RUN install -d -o 10001 -g 10001 /srv/results
USER 10001:10001
ENTRYPOINT ["oversell"]
