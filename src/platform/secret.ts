import { inspect } from 'node:util'

const WITHHELD = '[secret]'

/**
 * A value that must never be printed. Interpolation, JSON, `console.log` and pino all show `[secret]`;
 * only `reveal()` gives the value, so that every place that needs it can be found by its name.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return WITHHELD
  }

  toJSON(): string {
    return WITHHELD
  }

  [inspect.custom](): string {
    return WITHHELD
  }
}
