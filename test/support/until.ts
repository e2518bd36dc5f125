/** Asks again until it is so, at most for `withinMs`. Answers how many milliseconds it took. */
export async function until(isSo: () => boolean | Promise<boolean>, withinMs = 10_000) {
  const began = performance.now()
  while (!(await isSo())) {
    if (performance.now() - began > withinMs) throw new Error(`not so within ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return performance.now() - began
}
