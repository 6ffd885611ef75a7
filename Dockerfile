# syntax=docker/dockerfile:1
# The image of reelsplice, compiled from this checkout: "docker build -t reelsplice .". It has only the program and
# the certificates of public authorities. scripts/packaging/image.sh makes the same image from an existing program.
ARG GO_IMAGE=docker.io/library/golang:1.26-bookworm

FROM ${GO_IMAGE} AS compile
ARG GOPROXY
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    scripts/packaging/rootfs.sh /rootfs

FROM scratch
# A number, so that Kubernetes can verify that it is not root.
COPY --from=compile /rootfs/root/ /
# The only folder that the process may write to.
COPY --from=compile --chown=65532:65532 /rootfs/data/ /data/
USER 65532:65532
# HOME holds the local copy of a catalogue in a bucket. "up" and "serve" listen on reachable addresses, and "health"
# requests the same ones.
ENV PATH=/ HOME=/data REELSPLICE_ADDR=:8080 REELSPLICE_ADMIN_ADDR=127.0.0.1:8079
EXPOSE 8080
VOLUME /data
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["/reelsplice", "health"]
ENTRYPOINT ["/reelsplice"]
CMD ["up", "--dir=/data"]
