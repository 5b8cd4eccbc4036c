import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import type { SimulatorConfig } from "./config/simulator-config";
import { controlApi } from "./control/control-api";
import { send } from "./http/answering";
import { vcsaAvailability } from "./http/vcsa-availability";
import { nsxApis } from "./nsx/nsx-api";
import { SimulatorContext } from "./state/context";
import { StateFile } from "./state/state-file";
import { upgradeServiceApi, vcsaApi } from "./vcsa/vcsa-api";
import { vim25Api } from "./vim25/vim25-api";
import { localizable } from "./vlcm/vapi-error";
import { vlcmApi } from "./vlcm/vlcm-api";

/** A running simulator. `close` resolves when its port is free and its state is saved. */
export interface RunningSimulator {
  /** Base URL without a path, such as `http://127.0.0.1:8090`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * How to run the simulator. `port` 0 takes a free one. `hostSeconds`, how long a host's remediation takes, may be
 * fractional or 0. Without `stateFile` everything is forgotten at the end. `now` gives epoch
 * milliseconds, by which all goes on that takes time.
 */
export interface SimulatorOptions {
  readonly host: string;
  readonly port: number;
  readonly config: SimulatorConfig;
  readonly stateFile?: string;
  readonly hostSeconds: number;
  readonly log: (fields: object, message: string) => void;
  readonly now?: () => number;
}

/**
 * Starts the component manager simulator: an HTTP server that answers the lifecycle manager's REST API under `/api`,
 * the management interface under `/sdk` and its own control API under `/simulator` (docs/simulator.md). Rejects where the port is taken.
 */
export async function startSimulator(options: SimulatorOptions): Promise<RunningSimulator> {
  const { host, port, config, hostSeconds, log, stateFile, now = Date.now } = options;
  const context = await SimulatorContext.open({
    config,
    hostSeconds,
    now,
    log,
    ...(stateFile !== undefined && { file: new StateFile(stateFile) }),
  });

  const app = new Koa();
  app.silent = true;
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      log({ err: error, method: ctx.method, path: ctx.path }, "simulator call failed");
      const messages = [localizable("internal_error", "The simulator itself failed; its log says why.")];
      send(ctx, { status: 500, body: { error_type: "ERROR", messages } });
    }
  });
  app.use(vcsaAvailability(context));
  // The lifecycle manager's router answers what no router before it knows.
  for (const api of [
    ...nsxApis(context),
    vcsaApi(context),
    upgradeServiceApi(context),
    vlcmApi(context),
    vim25Api(context),
    controlApi(context, host),
  ])
    app.use(api.routes());

  const handle = app.callback();
  const server = createServer((request, response) => {
    response.setHeader("Date", new Date(now()).toUTCString());
    void handle(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${actualPort}`,
    close: async () => {
      await new Promise<void>((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      });
      await context.close();
    },
  };
}
