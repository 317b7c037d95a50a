declare module "pgpass" {
  /** Looks up a password in the file that PGPASSFILE names, or in ~/.pgpass. */
  export default function readPasswordFile(
    connection: { host: string; port: number; database: string; user: string | undefined },
    done: (password: string | undefined) => void,
  ): void;
}
