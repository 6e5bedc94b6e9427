export async function measureGrowth(_work: string, _say: (text: string) => void): Promise<void> {}
