/** What a database of places holds, read while it is open. */

import { openStore, type Store } from "../../src/store/store.js";

/** Opens the database for `read`, and closes it again. */
export function stored<Result>(database: string, read: (store: Store) => Result): Result {
  const store = openStore(database);
  try {
    return read(store);
  } finally {
    store.close();
  }
}

/** Hash of every place: two databases that hold the same places have the same. */
export function contentHash(database: string): string {
  return stored(database, (store) => store.contentHash());
}
