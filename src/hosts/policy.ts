/** What the map page may load and ask: the same words in the page itself, in the server's headers and in a host's. */

/** A public topographic map that a visitor may switch on; the only other host that the page may ever ask. */
export const TOPOGRAPHIC_HOST = "https://tile.opentopomap.org";

/** No inline script or style, nothing from another host but that one layer. A map draws from blobs and data addresses. */
export const PAGE_POLICY =
  `default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; manifest-src 'self'; ` +
  `img-src 'self' data: blob: ${TOPOGRAPHIC_HOST}; connect-src 'self' ${TOPOGRAPHIC_HOST}; ` +
  `object-src 'none'; base-uri 'none'; form-action 'none'`;

/** The same as a header, where it may also say that no other page frames this one. */
export const PAGE_HEADER_POLICY = `${PAGE_POLICY}; frame-ancestors 'none'`;
