/** Text that can be read on any colour: contrast as WCAG 2.2 defines it. */

export type Color = string

/** Relative luminance of `#RRGGBB`, from 0 (black) to 1 (white). */
export function luminance(color: Color): number {
  const [red, green, blue] = [1, 3, 5].map((at) => linear(parseInt(color.slice(at, at + 2), 16) / 255))
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

/** Contrast of two colours, from 1 to 21. */
export function contrast(one: Color, other: Color): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light! + 0.05) / (dark! + 0.05)
}

/** Black or white, whichever contrasts more: 4.58 at least, over the 4.5 that WCAG asks for. */
export function textOn(color: Color): Color {
  return contrast(color, "#000000") >= contrast(color, "#ffffff") ? "#000000" : "#ffffff"
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
}
