/** The versions of plantstore and of its platform. */
import manifest from "../../package.json" with { type: "json" };
import { plantStoreInterface } from "../core/contract.ts";
import type { Io } from "./io.ts";

export const packageVersion: string = manifest.version;

export const interfaceName = `${plantStoreInterface.title} ${plantStoreInterface.version}`;

/** All versions in one line; the second word is the version of the package. */
export function toVersionLine(io: Io): string {
  return `plantstore ${packageVersion} (${interfaceName}, Node.js ${io.nodeVersion}, ${toPlatformName(io)})`;
}

/** Such as `linux x64`. */
export function toPlatformName({ platform, architecture }: Io): string {
  return `${platform} ${architecture}`;
}
