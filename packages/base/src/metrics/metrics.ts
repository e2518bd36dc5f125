import type { FamilyOf, LabelsOf } from './families.ts'

/** One value of a gauge. */
export type Reading<F extends FamilyOf<'gauge'>> = readonly [labels: LabelsOf<F>, value: number]

/**
 * What the program says about itself in numbers, injected like the clock. Each call names a family
 * of `families.ts`, with labels of their declared values.
 */
export type Metrics = {
  /** Adds to a counter. */
  count<F extends FamilyOf<'counter'>>(family: F, labels: LabelsOf<F>, more?: number): void
  /** Adds a value to a histogram. */
  observe<F extends FamilyOf<'histogram'>>(family: F, labels: LabelsOf<F>, value: number): void
  /**
   * Has a gauge read whenever the metrics are. It must answer at once. Where several readers give
   * the same labels, their values are added. Returns the function that ends this.
   */
  gauge<F extends FamilyOf<'gauge'>>(family: F, read: () => readonly Reading<F>[]): () => void
}

/** For a process whose metrics nobody can read. */
export const noMetrics: Metrics = {
  count: () => {},
  observe: () => {},
  gauge: () => () => {},
}
