import { useEffect, useState } from 'react'
import { requestJson } from '../api/send-request.ts'
import { useSession } from '../session/console-session.ts'
import { wordOf } from '../values/labels.ts'

type Verdict = { readonly valid: boolean; readonly detail?: string }

/** What the server says of the address, a moment after the last key. It may be for an asset. */
export function useAddressVerdict(network: string, address: string, asset = '') {
  const session = useSession()
  const [verdict, setVerdict] = useState({ isFault: false, text: '' })
  useEffect(() => {
    const abort = new AbortController()
    setVerdict({ isFault: false, text: '' })
    if (address === '') return undefined
    const check = async () => {
      const body = {
        crypto_network: network,
        destination_address: address,
        ...(asset !== '' && { asset }),
      }
      const options = { signal: abort.signal, body }
      const { valid, detail = '' } = await requestJson<Verdict>(
        session,
        '/console/check-address',
        options,
      )
      const text = valid ? `✓ A valid address on ${wordOf(network)}.` : `✗ ${detail}`
      setVerdict({ isFault: !valid, text })
    }
    // The quote itself reports what a failed check would have.
    const timer = setTimeout(() => void check().catch(() => {}), 250)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [network, address, asset, session])
  return verdict
}
