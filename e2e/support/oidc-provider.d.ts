/** Types of the part of `oidc-provider` that the tests use, because the package has no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

  interface Account {
    readonly accountId: string;
    claims(): Promise<Record<string, unknown>>;
  }

  interface Interaction {
    readonly prompt: { readonly name: string };
    readonly session?: { readonly accountId: string };
    readonly params: { readonly client_id: string; readonly scope: string };
  }

  export interface Context {
    readonly path: string;
    readonly body: unknown;
    readonly response: { get(header: string): string | undefined };
    set(header: string, value: string): void;
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
    callback(): RequestListener;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
    readonly Grant: new (options: { accountId: string; clientId: string }) => {
      addOIDCScope(scope: string): void;
      save(): Promise<string>;
    };
    on(event: string, listener: (...values: readonly unknown[]) => void): void;
  }
}
