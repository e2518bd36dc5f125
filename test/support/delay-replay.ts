/** Has a standby show each change so long after its commit, as one that lags does. */
export async function delayReplay(
  ask: (sql: string) => Promise<unknown>,
  delay: '1h' | '0',
): Promise<void> {
  await ask(`alter system set recovery_min_apply_delay = '${delay}'`)
  await ask('select pg_reload_conf()')
}
