FROM stand-in/debian
COPY temporal-server /usr/local/bin/
RUN useradd --uid 1000 --create-home temporal
WORKDIR /etc/temporal
USER temporal
