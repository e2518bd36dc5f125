/**
 * Waits until none is pending any more, so that nothing goes on behind a failure. Throws the
 * failure of the first one in their order.
 */
export async function allOf<T extends readonly unknown[]>(pending: readonly [...T]) {
  await Promise.allSettled(pending)
  return await Promise.all(pending)
}
