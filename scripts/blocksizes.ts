export async function compareBlockSizes(
  _w: string,
  _s: readonly number[],
  _say: (text: string) => void,
): Promise<void> {}
