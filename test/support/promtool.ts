import { spawnSync } from 'node:child_process'

/** Debian's, from the package `prometheus`. */
export const promtool = 'promtool'

const isMissing = spawnSync(promtool, ['--version']).error !== undefined

/** Why a test with it cannot run here. In CI, `.ci/run` installs it. */
export const promtoolIsMissing =
  isMissing && process.env.CI !== 'true' && 'promtool is missing: apt-get install prometheus'
