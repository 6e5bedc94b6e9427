/** Ed25519 signatures of a manifest (RFC 8032): who has the public key can tell whose release a copy is of, whoever carried it. */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCode, UserError } from "../errors.js";
import { readManifest, SIGNATURE } from "../release/manifest.js";

export { SIGNATURE };

/** Writes a new pair of keys: `path` (private, PKCS #8, readable by its owner only) and `path.pub`. Never writes over a file. */
export function createKeys(path: string): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const paths = { privateKey: path, publicKey: `${path}.pub` };
  try {
    writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }), { flag: "wx", mode: 0o600 });
    writeFileSync(paths.publicKey, publicKey.export({ type: "spki", format: "pem" }), { flag: "wx" });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    throw new UserError("usage", `${path} or ${paths.publicKey} exists already: name a new file.`, [], {
      cause: error,
    });
  }
  return paths;
}

/** Signs the release in `site` with the private key in a PEM file; gives its generation. */
export function signRelease(
  site: string,
  keyPath: string,
): { readonly generation: string; readonly signature: string } {
  const key = readKey(keyPath, createPrivateKey);
  const { manifest, bytes } = readManifest(site);
  const path = join(site, SIGNATURE);
  const signature = sign(null, bytes, key).toString("base64");
  writeFileSync(`${path}.new`, `${signature}\n`);
  renameSync(`${path}.new`, path);
  return { generation: manifest.generation, signature: path };
}

/** Whether the signature is of these bytes by the owner of the public key in a PEM file. */
export function isSignedBy(keyPath: string, bytes: Buffer, signature: Buffer | null): boolean {
  const key = readKey(keyPath, createPublicKey);
  return signature !== null && verify(null, bytes, key, Buffer.from(signature.toString("latin1"), "base64"));
}

/** What is wrong with the signature of the release in `site`; null when it is of its manifest by the owner of the key. */
export function signatureFault(site: string, keyPath: string): string | null {
  const path = join(site, SIGNATURE);
  const signature = existsSync(path) ? readFileSync(path) : null;
  if (isSignedBy(keyPath, readManifest(site).bytes, signature)) return null;
  return `${SIGNATURE}: ${signature === null ? "missing" : "it is not of this manifest by this key"}`;
}

/** Throws UserError `usage` when the file is no Ed25519 key. */
function readKey(path: string, parse: (text: Buffer) => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = parse(readFileSync(path));
  } catch (error) {
    throw new UserError("usage", `${path} is not a key that can be read (PEM).`, [], { cause: error });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new UserError("usage", `${path} is a key of type ${key.asymmetricKeyType}, not ed25519.`);
}
