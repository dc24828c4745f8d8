# syntax=docker/dockerfile:1
#
# ct-agent from its packed tarball: npm pack && docker build -t ct-agent .
#
# Nothing secret goes into the image: keys are made in the volume at the first start, tickets and tokens are given at run time.
FROM node:24-slim

ARG TARBALL=ct-agent-*.tgz

# The program is one folder without install scripts; what comes with it is in the tarball's own list of dependencies.
COPY ${TARBALL} /tmp/package/
RUN npm install --global --omit=dev --ignore-scripts --no-audit --no-fund /tmp/package/*.tgz \
  && rm -rf /tmp/package /root/.npm \
  && mkdir -p /state \
  && chown node:node /state \
  && chmod 700 /state

ENV CT_AGENT_STATE_DIR=/state
VOLUME ["/state"]
USER node
WORKDIR /state
STOPSIGNAL SIGTERM

ENTRYPOINT ["ct-agent"]
CMD ["--help"]
