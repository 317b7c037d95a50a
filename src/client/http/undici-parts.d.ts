/**
 * The types of undici's parts, which it gives only for the whole. A command that loads all of undici takes half as long
 * again to start.
 */

declare module "undici/lib/core/connect.js" {
  import { buildConnector } from "undici";
  export default buildConnector;
}

declare module "undici/lib/core/errors.js" {
  import { errors } from "undici";
  export default errors;
}

declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";
  export default Pool;
}
