/** A public document: bytes at a path, the same for every caller. */
export type PublicDocument = {
  readonly path: string
  /** The name in the log. */
  readonly operation: string
  readonly contentType: string
  readonly cacheControl: string
  readonly headers?: Readonly<Record<string, string>>
  /** Called at the first request, since some documents name the URL that listening has set. */
  readonly body: () => string | Promise<Uint8Array<ArrayBuffer>>
  /** Calls `body` for each request, and compresses it again only if the text has changed. */
  readonly changes?: true
}
