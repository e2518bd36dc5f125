/** A UUID of 32 hexadecimal digits, with its hyphens. */
export const uuidText = (hex: string): string =>
  hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
