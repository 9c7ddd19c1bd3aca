import { startTelegramSimulator } from '../src/platforms/telegram/simulator.ts';
import type { TelegramSimulator } from '../src/platforms/telegram/simulator.ts';
import { newHome, startGateway } from './gateway-process.ts';
import type { GatewayProcess, Home } from './gateway-process.ts';
import { echo, startModelServer } from './model-server.ts';
import type { ModelServer } from './model-server.ts';

/** A Telegram and an instant model in this process. What is measured runs in another one: two cores, two processes. */
export interface World extends AsyncDisposable {
  readonly telegram: TelegramSimulator;
  readonly model: ModelServer;
}

export const newWorld = async (): Promise<World> => {
  const telegram = await startTelegramSimulator();
  const model = await startModelServer(echo);
  return {
    telegram,
    model,
    async [Symbol.asyncDispose]() {
      await telegram[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
};

export const newWorldHome = (world: World, http: { readonly port: number } = { port: 0 }): Promise<Home> =>
  newHome({
    model: { provider: 'openai', default: 'bench', base_url: world.model.baseUrl, api_key: 'sk-bench' },
    auxiliary: { title_generation: { enabled: false } },
    platforms: { telegram: { ...world.telegram.options, allow_all_users: true } },
    http,
  });

export interface RunningGateway extends AsyncDisposable {
  readonly process: GatewayProcess;
}

/** A gateway in that world, ready to be spoken to. */
export const gatewayIn = async (world: World): Promise<RunningGateway> => {
  const home = await newWorldHome(world);
  const gateway = await startGateway(home.folder);
  return {
    process: gateway,
    async [Symbol.asyncDispose]() {
      await gateway.end('SIGTERM');
      await home[Symbol.asyncDispose]();
    },
  };
};
