import { keepSession } from './keep-session.ts'
import type { Servers } from './servers.ts'

/**
 * Listens to a channel of the current primary. Calls `heard` for each notification, and without one
 * after each `listen`, because some may have been missed.
 */
export const listen = (
  servers: Servers,
  channel: string,
  heard: (payload: string | undefined) => void,
): (() => void) =>
  keepSession(servers, {
    begin: `listen ${channel}`,
    begun: () => heard(undefined),
    onNotification: heard,
  })
