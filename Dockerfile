# One image for every role: docker run IMAGE api | worker | simulator
FROM node:20.19.5-bookworm-slim AS build
# Certificates (PEM) of a proxy or a registry of your own. HTTPS_PROXY and NO_PROXY are arguments of every build.
ARG BUILD_CA_CERTS
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN if [ -n "$BUILD_CA_CERTS" ]; then \
      printf '%s\n' "$BUILD_CA_CERTS" > /tmp/build-ca.crt && export NODE_EXTRA_CA_CERTS=/tmp/build-ca.crt; \
    fi; \
    npm ci --no-audit --no-fund && rm -rf /root/.npm
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY workflows workflows
COPY activities activities
COPY src src
COPY config config
COPY README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md ./
COPY docs docs
RUN node scripts/build.mjs
# What only the build needs goes, and so do native libraries of other platforms. Whoever cloned with umask 077 has files
# that only root could read here.
RUN npm prune --omit=dev --no-audit --no-fund --offline && \
    find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
      ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + && \
    chmod -R a+rX package.json config dist

FROM node:20.19.5-bookworm-slim
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
# Whichever user runs it: the only folder that is written to. What is to last there needs a volume.
RUN install -d -o node -g node -m 1777 /data
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/config config
COPY --from=build /app/package.json ./
USER 1000:1000
ENTRYPOINT ["node", "dist/src/main.js"]
CMD ["api"]
