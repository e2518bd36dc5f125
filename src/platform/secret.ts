import { inspect } from 'node:util'

const REDACTED = '[secret]'

/**
 * A value that must never be printed. Interpolation, JSON, `console.log` and pino show `[secret]`.
 * Only `reveal()` returns the value, so every use can be found by that name.
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
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}
