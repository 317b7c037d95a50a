/** The part of Bun that bun.ts uses. Bun's own types would be a dependency. */

declare module "bun" {
  interface Server {
    readonly port: number;
    stop(closeConnections: boolean): Promise<void>;
  }
  export function serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly fetch: (request: Request) => Promise<Response> | Response;
  }): Server;
}

declare module "bun:sqlite" {
  interface Statement {
    run(...values: unknown[]): { readonly changes: number };
    get(...values: unknown[]): unknown;
  }
  export class Database {
    constructor(path: string);
    run(sql: string): void;
    prepare(sql: string): Statement;
    close(): void;
  }
}
