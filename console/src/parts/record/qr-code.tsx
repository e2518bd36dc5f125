import { correction, generate } from 'lean-qr'
import { useEffect, useRef } from 'react'

/** A QR code with dark modules on white in both themes, since scanners need the contrast. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    if (canvas.current === null) return
    generate(text, { minCorrectionLevel: correction.M }).toCanvas(canvas.current, {
      on: [0, 0, 0, 255],
      off: [255, 255, 255, 255],
    })
  }, [text])
  return <canvas ref={canvas} className="qr" role="img" aria-label={label} />
}
