/** From the name of a target to the target: `s3://bucket/prefix`, or a folder. */

import { UserError } from "../errors.js";
import { openFolder } from "./folder.js";
import type { Target } from "./target.js";

export interface TargetOptions {
  /** The release, which no folder may lie in. */
  readonly site: string;
  readonly region: string;
  readonly endpoint?: string | undefined;
}

/** Opens a target. Throws UserError `usage` for a name that is neither. */
export async function openTarget(name: string, { site, region, endpoint }: TargetOptions): Promise<Target> {
  const s3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/.exec(name);
  if (s3 !== null) {
    const { openS3 } = await import("./s3.js"); // the SDK is large: only who needs it waits for it
    const prefix = (s3[2] ?? "").replace(/^\/+|\/+$/g, "");
    return openS3({ bucket: s3[1] ?? "", prefix, region, endpoint });
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(name))
    throw new UserError("usage", `${name} is no target: name a folder or s3://bucket/prefix.`);
  return openFolder(name, site);
}
