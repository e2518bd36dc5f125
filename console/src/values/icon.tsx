/** The drawings of the console, in a square of 16 by 16: lines, and what is filled. */
const drawings = {
  back: ['M10 3L5 8l5 5'],
  bad: ['M8 2l6.4 11.4H1.6zM8 6.4v3.2M8 11.5v.1'],
  bank: ['M2 6l6-3.5L14 6zM3.5 6.5v5M6.5 6.5v5M9.5 6.5v5M12.5 6.5v5M2 13.5h12'],
  chev: ['M5 6.5l3 3 3-3'],
  clock: ['M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0zM8 4.8V8l2.3 1.5'],
  code: ['M5 4.5L1.5 8 5 11.5M11 4.5L14.5 8 11 11.5'],
  copy: ['M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3'],
  cut: [
    'M2 2l12 12M4.2 9.2A5.5 5.5 0 0 1 6.4 8M9.7 8a5.5 5.5 0 0 1 2.1 1.2M1.8 6.6A9 9 0 0 1 4 5.1M7 4.1a9 9 0 0 1 7.2 2.5M8 12.5h.01',
  ],
  doc: ['M4 1.8h5.5L12.5 5v9.2H4zM9.3 2v3.2h3M6 8h4.5M6 10.8h4.5'],
  down: ['M8 3v10M4.5 9.5L8 13l3.5-3.5'],
  edit: ['M3 13l.7-3L10.6 3 13 5.4 6 12.3z'],
  eye: [
    'M1.5 8C3 5.2 5.3 3.8 8 3.8S13 5.2 14.5 8C13 10.8 10.7 12.2 8 12.2S3 10.8 1.5 8zM6.1 8a1.9 1.9 0 1 0 3.8 0a1.9 1.9 0 1 0 -3.8 0z',
  ],
  fee: ['M2.5 2.5h5l6 6-5 5-6-6zM4.4 5.3a0.9 0.9 0 1 0 1.8 0a0.9 0.9 0 1 0 -1.8 0z'],
  home: ['M2.5 7L8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z'],
  inbox: ['M8 2v6.5M5.3 6L8 8.7 10.7 6M2.5 9.5v4h11v-4'],
  info: [
    'M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z',
    'M6.4 8a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0 -3.2 0z',
  ],
  lock: ['M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5'],
  menu: ['M2.5 4.5h11M2.5 8h11M2.5 11.5h11'],
  more: ['M3.5 8h.01M8 8h.01M12.5 8h.01'],
  off: ['M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0zM3.9 12.1l8.2-8.2'],
  ok: ['M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0zM5.4 8.2l1.8 1.8 3.4-3.8'],
  open: ['M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z'],
  plus: ['M8 3v10M3 8h10'],
  print: ['M4.5 6V2.5h7V6M4.5 11h-2V6h11v5h-2M4.5 9.5h7v4h-7z'],
  pulse: ['M1.5 8.5h3l1.7-5 3 9 1.8-4h3.5'],
  qr: [
    'M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h1.6v1.6M13.5 9.5v1M9.5 13.5h1M12.5 13.5h1v-1',
  ],
  save: ['M8 2.5v8M5 7.8l3 3 3-3M2.5 13.5h11'],
  search: ['M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0zM10.5 10.5L14 14'],
  sliders: [
    'M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M8.5 5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0 -3 0zM4.5 11a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0 -3 0z',
  ],
  swap: ['M3 5.5h10M10.5 3L13 5.5 10.5 8M13 10.5H3M5.5 8L3 10.5 5.5 13'],
  users: [
    'M3.5 5.5a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0zM1.5 13.5c.3-2.6 2.1-4 4.5-4s4.2 1.4 4.5 4M11 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.5.5 2.3 1.8 2.5 3.7',
  ],
  wait: ['M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z', 'M8 2a6 6 0 0 1 0 12z'],
  x: ['M4 4l8 8M12 4l-8 8'],
} as const satisfies Readonly<Record<string, readonly [string, string?]>>

export type IconName = keyof typeof drawings

/** A drawing beside a word, so nobody needs to see it. */
export function Icon(props: { readonly name: IconName; readonly className?: string }) {
  const [lines, solid]: readonly [string, string?] = drawings[props.name]
  const dashes = props.name === 'open' ? { strokeDasharray: '2.6 2.1' } : {}
  return (
    <svg
      className={props.className === undefined ? 'icon' : `icon ${props.className}`}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={lines} {...dashes} />
      {solid !== undefined && <path d={solid} className="solid" />}
    </svg>
  )
}

/** The mark of the product. */
export function Brand() {
  return (
    <svg className="icon" viewBox="0 0 22 22" aria-hidden="true">
      <rect width="22" height="22" rx="6" className="brand-fill" />
      <path d="M6 6.2h10M6 15.8h10M6 11h4.2" className="brand-line" />
      <path d="M12.4 11H16" className="brand-line pale" />
    </svg>
  )
}
