/** A bad line: a TCP proxy that cuts, stalls, corrupts, throttles and delays what comes back, and counts every byte. */

import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { randomOf } from "./madeplaces.js";

export interface Faults {
  /** Each connection ends after this many bytes of answers. */
  readonly cutEvery?: number;
  /** One connection in so many never sends anything back. */
  readonly stallOneIn?: number;
  /** A bit is flipped after this many bytes of answers, over all connections. */
  readonly flipEvery?: number;
  /** Bytes a second of each connection. */
  readonly rate?: number;
  /** Each piece of an answer is held back up to this many ms, so that answers overtake one another. */
  readonly delay?: number;
}

export interface BadLine {
  readonly address: string;
  /** Bytes that went by, in both directions. */
  readonly bytes: () => number;
  readonly connections: () => number;
  readonly reset: () => void;
  /** From now on. */
  become(faults: Faults): void;
  close(): Promise<void>;
}

/** A line to a server at `target`. */
export async function startProxy(target: string, faults: Faults = {}, seed = 1): Promise<BadLine> {
  const { hostname, port } = new URL(target);
  const state = { faults, bytes: 0, connections: 0, sinceFlip: 0, random: randomOf(seed) };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    state.connections++;
    const isStalled =
      state.faults.stallOneIn !== undefined && state.connections % state.faults.stallOneIn === 0;
    const upstream = connect({ host: hostname, port: Number(port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("close", () => upstream.destroy()); // the other way round only when everything was passed on
    client.on("data", (chunk) => {
      state.bytes += chunk.length;
      upstream.write(chunk);
    });
    void passBack(upstream, client, state, isStalled);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => state.bytes,
    connections: () => state.connections,
    reset: () => {
      state.bytes = 0;
      state.connections = 0;
    },
    become: (next) => {
      state.faults = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

interface State {
  faults: Faults;
  bytes: number;
  sinceFlip: number;
  readonly random: () => number;
}

const PIECE = 4096; // bytes passed on at a time

async function passBack(upstream: Socket, client: Socket, state: State, isStalled: boolean): Promise<void> {
  let passed = 0;
  try {
    for await (const chunk of upstream as AsyncIterable<Buffer>) {
      if (isStalled) continue;
      for (let at = 0; at < chunk.length; at += PIECE) {
        const { cutEvery = Number.POSITIVE_INFINITY, rate, delay } = state.faults;
        const piece = Buffer.from(chunk.subarray(at, Math.min(at + PIECE, at + cutEvery - passed)));
        if (delay !== undefined) await wait(delay * state.random());
        if (rate !== undefined) await wait((piece.length / rate) * 1000);
        flip(piece, state);
        passed += piece.length;
        state.bytes += piece.length;
        if (!client.write(piece)) await drained(client);
        if (passed >= cutEvery) {
          client.end();
          upstream.destroy();
          return;
        }
      }
    }
    client.end();
  } catch {
    client.destroy(); // the other end went away: so does this one
  }
}

function flip(piece: Buffer, state: State): void {
  const { flipEvery } = state.faults;
  if (flipEvery === undefined) return;
  state.sinceFlip += piece.length;
  if (state.sinceFlip < flipEvery) return;
  state.sinceFlip = 0;
  const at = Math.floor(state.random() * piece.length);
  piece[at] = (piece[at] ?? 0) ^ (1 << Math.floor(state.random() * 8));
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("drain", resolve);
    socket.once("close", () => resolve());
  });
}
