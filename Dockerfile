# Two images: the program, for instances, the load test and the helpers of Compose; and the proxy before it.
# All base images exist for several architectures, and nothing below depends on one.
#
# No file holds the time of the build. The builder names the commit and its time:
#
#   docker build --label org.opencontainers.image.revision=$(git rev-parse HEAD) \
#     --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) .
ARG REGISTRY_PREFIX=
ARG VERSION=0.1.0
ARG SOURCE_DATE_EPOCH=0

# Sets modes and times: those of a checkout depend on its owner's umask and on the moment of the checkout. What is not compiled lies
# apart: a changed script is no reason to compile.
FROM ${REGISTRY_PREFIX:-}debian:bookworm-slim AS sources
ARG SOURCE_DATE_EPOCH
COPY . /src
RUN chmod -R u=rwX,go=rX /src && chmod 755 /src/docker/* && find /src -exec touch -hd @$SOURCE_DATE_EPOCH {} + \
    && mkdir -p /scripts/proxy && mv /src/docker /scripts/program && mv /src/nginx/hello /src/nginx/start /scripts/proxy

FROM ${REGISTRY_PREFIX:-}rust:1.95-slim-bookworm AS build
ARG TARGETARCH
# C compilers use it where a library asks for the time of its compilation.
ENV SOURCE_DATE_EPOCH=0
WORKDIR /src
# The dependencies are a layer that depends on the manifests alone. Nothing of our own crates is kept: cargo compares the times
# of files, and would take the build of another checkout for fresh.
COPY --from=sources /src/Cargo.toml /src/Cargo.lock ./
COPY --from=sources /src/app/Cargo.toml app/
COPY --from=sources /src/baton/Cargo.toml baton/
COPY --from=sources /src/bench/Cargo.toml bench/
COPY --from=sources /src/explore/Cargo.toml explore/
COPY --from=sources /src/loadtest/Cargo.toml loadtest/
COPY --from=sources /src/oversell/Cargo.toml oversell/
COPY --from=sources /src/race/Cargo.toml race/
COPY --from=sources /src/stack/Cargo.toml stack/
COPY --from=sources /src/workshop/Cargo.toml workshop/
RUN --mount=type=cache,id=oversell-crates-$TARGETARCH,target=/usr/local/cargo/registry,sharing=locked \
    mkdir app/src baton/src bench/src explore/src loadtest/src oversell/src race/src stack/src workshop/src \
    && touch app/src/lib.rs baton/src/lib.rs bench/src/lib.rs explore/src/lib.rs loadtest/src/lib.rs race/src/lib.rs \
        stack/src/lib.rs workshop/src/lib.rs \
    && for main in oversell/src/main stack/build; do echo 'fn main() {}' > $main.rs; done \
    && cargo build --release --locked \
    && cargo clean --release --package app --package baton --package bench --package explore \
        --package loadtest --package oversell --package race --package stack --package workshop \
    && rm -r app/src baton/src bench/src explore/src loadtest/src oversell/src race/src stack/src workshop/src
COPY --from=sources /src .
RUN --mount=type=cache,id=oversell-crates-$TARGETARCH,target=/usr/local/cargo/registry,sharing=locked \
    cargo build --release --locked && install -D -s -m 755 -t /program/bin target/release/oversell \
    && install -D -m 644 -t /program/lib target/release/build/stack-*/out/*.so

# A stage of its own prepares all files that an image adds to its base, for one layer: a command in the image itself would leave the
# time at which it ran. The setuid bits are removed.
FROM ${REGISTRY_PREFIX:-}nginx:1.28 AS proxy-files
ARG SOURCE_DATE_EPOCH
COPY --from=sources /src/nginx /scripts/proxy /out/etc/oversell/
RUN find / -xdev -path /out -prune -o -type f -perm /6000 -exec cp -a --parents -t /out {} + \
    && find /out -perm /6000 -exec chmod a-s {} + && find /out -exec touch -hd @$SOURCE_DATE_EPOCH {} +

FROM ${REGISTRY_PREFIX:-}nginx:1.28 AS proxy
ARG VERSION
LABEL org.opencontainers.image.title="Oversell proxy" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.licenses="MIT"
COPY --from=proxy-files /out /

FROM ${REGISTRY_PREFIX:-}debian:bookworm-slim AS program-files
ARG SOURCE_DATE_EPOCH
COPY --from=sources /scripts/program /out/usr/local/bin
COPY --from=build /program /out/usr/local
# The HTTP client requires the certificates even for plain HTTP.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/
# A new volume at the folder for results gets the owner of this folder.
RUN install -d -o 10001 -g 10001 /out/srv/results \
    && find / -xdev -path /out -prune -o -type f -perm /6000 -exec cp -a --parents -t /out {} + \
    && find /out -perm /6000 -exec chmod a-s {} + && find /out -exec touch -hd @$SOURCE_DATE_EPOCH {} +

FROM ${REGISTRY_PREFIX:-}debian:bookworm-slim
ARG VERSION
LABEL org.opencontainers.image.title="Oversell" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.licenses="MIT"
COPY --from=program-files /out /
WORKDIR /srv
USER 10001:10001
ENTRYPOINT ["oversell"]
