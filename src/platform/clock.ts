/** The time as whole microseconds since 1970-01-01T00:00:00Z. Injected, so that tests can set it. */
export type Clock = () => bigint

export const systemClock: Clock = () => BigInt(Date.now()) * 1000n

/** Whole seconds since 1970, rounded down, as JWT claims count time (RFC 7519 section 2). */
export const epochSeconds = (clock: Clock): number => Number(clock() / 1_000_000n)
