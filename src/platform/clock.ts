/** Microseconds since 1970-01-01T00:00:00Z. Injected, so that tests can set it. */
export type Clock = () => bigint

export const systemClock: Clock = () => BigInt(Date.now()) * 1000n
