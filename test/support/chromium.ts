import { existsSync } from 'node:fs'

/** Debian's Chromium, which playwright-core starts. Tests of pages are skipped without it. */
export const chromiumPath = process.env.BURSAR_CHROMIUM ?? '/usr/bin/chromium'

export const isChromiumMissing = !existsSync(chromiumPath)
if (isChromiumMissing && process.env.CI === 'true') {
  throw new Error(`${chromiumPath} is missing; CI must not skip the tests of pages`)
}

export const chromiumFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
