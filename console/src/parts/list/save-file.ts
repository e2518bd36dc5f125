/** A file that grows part by part. */
export type GrowingFile = {
  write(text: string): Promise<void>
  close(): Promise<void>
  /** Leaves no file behind. */
  discard(): Promise<void>
}

type Picker = (options: { readonly suggestedName: string }) => Promise<{
  createWritable(): Promise<{
    write(text: string): Promise<void>
    close(): Promise<void>
    abort(): Promise<void>
  }>
}>

/**
 * Opens a file where the person wants it, and streams to it. A browser that cannot do so collects
 * the parts and downloads them at the end. Undefined if the person has chosen no place.
 */
export async function openFile(name: string): Promise<GrowingFile | undefined> {
  const pick = (window as { readonly showSaveFilePicker?: Picker }).showSaveFilePicker
  if (pick === undefined) return openDownload(name)
  try {
    const handle = await pick({ suggestedName: name })
    const stream = await handle.createWritable()
    return {
      write: (text) => stream.write(text),
      close: () => stream.close(),
      discard: () => stream.abort(),
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    return openDownload(name)
  }
}

function openDownload(name: string): GrowingFile {
  const parts: string[] = []
  return {
    write: async (text) => void parts.push(text),
    close: async () => downloadBlob(name, new Blob(parts, { type: 'text/csv' })),
    discard: async () => {},
  }
}

/** Hands a file to the browser, which keeps it among its downloads. */
export function downloadBlob(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
