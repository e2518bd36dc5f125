import { inspect } from 'node:util'

const REDACTED = '[secret]'

/** A value that JSON, `console.log` and pino show as `[secret]`. Only `reveal()` returns it. */
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

/** The pattern of a master key: 32 bytes in base64. */
export const masterKeyForm = '^[A-Za-z0-9+/]{43}=?$'
