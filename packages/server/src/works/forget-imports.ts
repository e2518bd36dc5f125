import type { Background, Config, Logger } from '@bursar/base'
import type { Imports } from '@bursar/records'

type ForgetDeps = {
  readonly imports: Pick<Imports, 'forget'>
  readonly config: Pick<Config, 'importRetentionDays'>
  readonly log: Logger
  readonly background: Background
}

/** Empties old idempotency keys and deletes old rows of imports. Returns what stops it. */
export function startForgetImports({ imports, config, log, background }: ForgetDeps): () => void {
  const forget = async () => {
    try {
      await imports.forget(config.importRetentionDays)
      return {}
    } catch (error) {
      log.warn({ err: error }, 'old imports cannot be forgotten')
      return { isFailed: true }
    }
  }
  return background.start('forget-imports', forget).stop
}
