FROM stand-in/debian
COPY temporal temporal-sql-tool /usr/local/bin/
RUN useradd --uid 1000 --create-home temporal
USER temporal
