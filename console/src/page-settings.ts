/** What the server writes into the page. */
export type Settings = {
  readonly idleMinutes: number
  readonly networks: readonly string[]
  readonly issuers: readonly IssuerSettings[]
  /** The sandbox's clients, whose secrets are public. */
  readonly clients: readonly SandboxClient[]
}

export type IssuerSettings = {
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
  readonly parameters: Readonly<Record<string, string>>
}

export type SandboxClient = {
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
}

const element = document.getElementById('settings')

export const settings: Settings = {
  idleMinutes: 15,
  networks: [],
  issuers: [],
  clients: [],
  ...JSON.parse(element?.textContent ?? '{}'),
}

/** Where the API is. The console may be reached through a proxy that adds a path. */
export const base = new URL('..', location.href.replace(/[?#].*$/, '')).href.replace(/\/$/, '')
