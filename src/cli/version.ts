/** Which plantstore this is, and what it runs on. */
import manifest from "../../package.json" with { type: "json" };
import { plantStoreInterface } from "../core/interface.ts";
import type { Io } from "./io.ts";

/** The version of the package. */
export const packageVersion: string = manifest.version;

/** The interface that it implements, with its version. */
export const interfaceName = `${plantStoreInterface.title} ${plantStoreInterface.version}`;

/** All of it in one line, the version as its second word. */
export function toVersionLine(io: Io): string {
  return `plantstore ${packageVersion} (${interfaceName}, Node.js ${io.nodeVersion}, ${toPlatformName(io)})`;
}

/** The platform, as `linux x64`. */
export function toPlatformName({ platform, architecture }: Io): string {
  return `${platform} ${architecture}`;
}
